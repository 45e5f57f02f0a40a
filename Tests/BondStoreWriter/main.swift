import BLEHost
import BLEPackets
import BLESecurity

/// Changes the bonds of a folder without end, until it is killed: bond-store-writer FOLDER SEED
let arguments = CommandLine.arguments
guard arguments.count == 3, let seed = UInt64(arguments[2]) else { fatalError("bond-store-writer FOLDER SEED") }
let store = FileBondStore(path: arguments[1]) { damage in fatalError("\(damage)") }
print("ready")
for round in UInt64(0)... {
    let number = (seed &+ round) % 8
    let identity = DeviceAddress(value: 0xC000_0000_0000 | number, kind: .random)
    if round % 5 == 4 {
        try store.remove(identity)
        continue
    }
    // Both keys tell the same number: a bond of two writings would show.
    let key = Key128(rawValue: UInt128(seed) << 64 | UInt128(round))
    try store.save(
        Bond(
            identity: identity, identityResolvingKey: key, isSecureConnections: true,
            localKey: LongTermKey(key: key), peerKey: LongTermKey(key: key)))
}
