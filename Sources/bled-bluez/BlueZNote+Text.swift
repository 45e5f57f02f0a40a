import BLE
import BLEBlueZ
import BLEHost

extension BlueZNote {
    /// The cause, and the remedy, if one is known.
    var text: String {
        switch self {
        case .manyPairingsFailed: return "many pairings fail; for a minute no more of them are noted"
        case .pairingFailed(let device, let failure):
            let address = device.addressText
            let removing =
                "if you know that it has lost its keys, remove it (bluetoothctl remove \(address)), and pair again"
            let reason =
                switch failure {
                case .wouldReplaceBond: "the device claims to be a bonded one without proof; " + removing
                case .keyMissingAtPeer: "the device has lost the keys of the bond; " + removing
                case .refusedByPeer(.keyRejected), .refusedByPeer(.repeatedAttempts):
                    "\(failure); it may have an old bond with this adapter: remove that there, and pair again"
                default: "\(failure)"
                }
            return "the pairing with \(address) failed: \(reason)"
        }
    }
}
