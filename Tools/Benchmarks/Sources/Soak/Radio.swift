import BLE
import BLESecurity
import BLETestKit
import BenchmarkService

/// Both ends of the links in one process, on a radio whose time passes as fast as they keep up with it.
///
/// The other end is this stack too, so what is left of a link there counts as well.
struct Radio {
    let central: Adapter
    let peer: DeviceAddress
    private let peripheral: Adapter
    private let tasks: [Task<Void, Never>]

    /// Opens two adapters; one has the service and advertises.
    static func open() async throws -> Radio {
        let radio = try TestRadio()
        let peer = DeviceAddress(value: 0xC0DE_0000_5041, kind: .random)
        let peripheral = try await radio.openAdapter {
            $0.cryptoProvider = SwiftCryptoProvider()
            $0.ownAddress = .random(peer)
        }
        let central = try await radio.openAdapter { $0.cryptoProvider = SwiftCryptoProvider() }
        let events = await peripheral.serverEvents()
        let published = try await peripheral.publish(
            GATTServiceDefinition(
                uuid: BenchmarkService.service,
                characteristics: [
                    GATTCharacteristicDefinition(
                        uuid: BenchmarkService.control, properties: .write, permissions: .writeable),
                    GATTCharacteristicDefinition(uuid: BenchmarkService.stream, properties: .notify, permissions: []),
                ]))
        let stream = published.characteristics[1].valueHandle
        let serving = Task {
            await attempt {
                for try await case .gatt(.write(let request)) in events where request.needsAnswer {
                    await peripheral.respond(to: request.id, with: .success)
                    _ = await peripheral.updateValue([UInt8](repeating: 0, count: 20), of: stream)
                }
            }
        }
        let advertising = Task {
            await attempt {
                try await peripheral.advertise(AdvertiseRequest(.packed(localName: "Soak", serviceUUIDs: [])))
            }
        }
        let time = Task {
            await radio.clock.stop()
            while !Task.isCancelled {
                await radio.clock.advance(by: .milliseconds(100))
                // Whoever has to answer may wait for a processor: 30 s must not pass before it has one.
                try? await Task.sleep(for: .microseconds(500))
            }
            await radio.clock.start()
        }
        return Radio(central: central, peer: peer, peripheral: peripheral, tasks: [serving, advertising, time])
    }

    /// The counters of the other end.
    var counters: HostCounters { get async { await peripheral.counters } }

    /// The peer forgets its bonds, too: it would not let a stranger replace one.
    func forget() async throws {
        for bond in await peripheral.bonds { _ = try await peripheral.removeBond(bond.identity) }
    }

    func close() async {
        for task in tasks { task.cancel() }
        await central.close()
        await peripheral.close()
    }

    private static func attempt(_ body: () async throws -> Void) async {
        do { try await body() } catch {
            if !(error is CancellationError) { Process.say("{\"event\":\"failed\",\"error\":\"\(error)\"}") }
        }
    }
}
