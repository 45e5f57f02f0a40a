import BLE
import BLESecurity
import BenchmarkService

/// Links, one after the other, from one process that stays: nothing may be left of them.
///
///     Soak ADAPTER ADDRESS[/random] COUNT [PAIR-EVERY]
///     Soak radio COUNT [PAIR-EVERY]
///
/// With `radio` the peer is in this process, on the simulator, where time passes as fast as both ends keep up with it.
///
/// Each link discovers everything, writes a value, and has a value notified, then it ends. Every PAIR-EVERY-th link
/// (100) the bond is removed and the two pair; the links in between are encrypted with the bond. Prints a line of JSON
/// for each fiftieth part with the memory of this process, and a last one with the counters of the engine that are not
/// zero.
@main
struct Soak {
    static func main() async {
        let arguments = CommandLine.arguments
        let isOnRadio = arguments.count > 1 && arguments[1] == "radio"
        let numbers = arguments.dropFirst(isOnRadio ? 2 : 3).compactMap { Int($0) }
        guard let count = numbers.first, count > 0 else {
            return print("usage: Soak ADAPTER ADDRESS[/random] COUNT [PAIR-EVERY], or Soak radio COUNT [PAIR-EVERY]")
        }
        let pairingEvery = numbers.count > 1 ? max(1, numbers[1]) : 100
        do {
            if isOnRadio {
                let radio = try await Radio.open()
                let failures = await run(
                    radio.central, radio.peer, count: count, pairingEvery: pairingEvery, forgetting: radio.forget)
                Process.say("{\"event\":\"peer\",\"counters\":{\(nonZero(await radio.counters))}}")
                await tell(failures, of: radio.central)
                await radio.close()
            } else if let peer = DeviceAddress(arguments[2]) {
                var configuration = AdapterConfiguration()
                configuration.cryptoProvider = SwiftCryptoProvider()
                let adapter = try await Adapter.open(arguments[1], configuration: configuration)
                let failures = await run(adapter, peer, count: count, pairingEvery: pairingEvery)
                await tell(failures, of: adapter)
                await adapter.close()
            }
        } catch {
            Process.say("{\"event\":\"failed\",\"error\":\"\(error)\"}")
        }
    }

    /// Returns how many links failed; it stops after 20.
    private static func run(
        _ adapter: Adapter, _ peer: DeviceAddress, count: Int, pairingEvery: Int,
        forgetting: () async throws -> Void = {}
    ) async -> Int {
        var failures = 0
        for number in 0..<count {
            do {
                if number.isMultiple(of: pairingEvery) { try await forgetting() }
                try await use(adapter, peer, number: number, pairs: number.isMultiple(of: pairingEvery))
            } catch {
                failures += 1
                Process.say("{\"event\":\"failed\",\"link\":\(number),\"error\":\"\(error)\"}")
                if failures > 20 { break }
            }
            if number.isMultiple(of: max(1, count / 50)) || number == count - 1 {
                Process.say(
                    "{\"event\":\"progress\",\"links\":\(number + 1),\"residentKiB\":\(Process.residentMemory)}")
            }
        }
        return failures
    }

    private static func tell(_ failures: Int, of adapter: Adapter) async {
        Process.say(
            "{\"event\":\"done\",\"failures\":\(failures),\"counters\":{\(nonZero(await adapter.counters))}}")
    }

    private static func nonZero(_ counters: HostCounters) -> String {
        Mirror(reflecting: counters).children.compactMap { counter -> String? in
            guard let label = counter.label, let value = counter.value as? UInt64, value > 0 else { return nil }
            return "\"\(label)\":\(value)"
        }.joined(separator: ",")
    }

    private static func use(_ adapter: Adapter, _ peer: DeviceAddress, number: Int, pairs: Bool) async throws {
        if pairs {
            for bond in await adapter.bonds { _ = try await adapter.removeBond(bond.identity) }
        }
        let hasBond = await !adapter.bonds.isEmpty
        // btvirt refuses a connection to a device that does not advertise at that moment; a bonded one is looked for
        // anyway.
        if !hasBond { for try await _ in adapter.scan(ScanRequest(address: peer)) { break } }
        let peripheral = try await adapter.connect(to: peer)
        if !hasBond { _ = try await peripheral.pair() } else { try await peripheral.encrypt() }
        let contents = try await peripheral.discoverContents()
        let characteristics = contents.flatMap { $0.characteristics.map(\.characteristic) }
        func find(_ uuid: BluetoothUUID) throws -> Characteristic {
            guard let found = characteristics.first(where: { $0.uuid == uuid }) else { throw Missing(uuid: uuid) }
            return found
        }
        let notifications = try await peripheral.notifications(of: try find(BenchmarkService.stream))
        var iterator = notifications.makeAsyncIterator()
        // One value of 20 octets.
        try await peripheral.write([1, 20, 0, 0, 0, 20, 0], to: try find(BenchmarkService.control))
        guard let value = try await iterator.next(), value.bytes.count == 20 else {
            throw Missing(uuid: BenchmarkService.stream)
        }
        try await peripheral.disconnect()
    }

    private struct Missing: Error {
        let uuid: BluetoothUUID
    }
}
