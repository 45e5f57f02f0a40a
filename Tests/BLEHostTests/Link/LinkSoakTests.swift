import BLEPackets
import BLESimulator
import Foundation
import TestSupport
import Testing

@testable import BLEHost

/// Many links, one after the other, on virtual time: nothing may be left of them.
///
/// `JELLING_SOAK` says how many; `JELLING_SOAK=100000 swift test --filter LinkSoakTests` takes about an hour, and a
/// minute with `-c release -Xswiftc -enable-testing`. `Tools/benchmark soak` does the same over btvirt.
@Suite("Many links")
struct LinkSoakTests {
    private static let count = ProcessInfo.processInfo.environment["JELLING_SOAK"].flatMap { Int($0) } ?? 200
    /// How often the two pair anew; in between, their bond encrypts the link.
    private static let pairingEvery = 100

    private static let service = GATTServiceDefinition(
        uuid: BluetoothUUID(0x180D as UInt16),
        characteristics: [
            .init(uuid: BluetoothUUID(0x2A37 as UInt16), properties: .notify, permissions: []),
            .init(
                uuid: BluetoothUUID(0x2A39 as UInt16), properties: .write, permissions: [.writeEncryption]),
        ])

    /// In octets; 0 where the system does not say.
    private static var residentMemory: Int {
        let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (pages.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * 4096
    }

    @Test("links with pairing, discovery, writes and notifications leave nothing behind")
    func soak() throws {
        let world = World(
            hosts: 2,
            configuration: { _ in
                var configuration = HostConfiguration(hasCryptoProvider: true)
                configuration.timing.connectionInterval = .milliseconds(7.5)...ConnectionInterval.milliseconds(7.5)
                return configuration
            })
        let (central, peripheral) = (world.central, world.peripheral)
        peripheral.react = { event in
            if case .server(.write(let request)) = event, request.needsAnswer {
                return .server(.respond(request.id, .success))
            }
            return nil
        }
        let published = try #require(peripheral.publish(Self.service))
        let (notified, written) = (published.characteristics[0], published.characteristics[1])
        peripheral.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Soak", serviceUUIDs: [])))))
        var memory: [Int] = []
        for number in 0..<Self.count {
            let isPairing = number.isMultiple(of: Self.pairingEvery)
            if isPairing, number > 0 {
                for (host, other) in [(central, peripheral), (peripheral, central)] {
                    #expect(host.result(of: .security(.removeBond(other.address))) == .success(.accepted(true)))
                }
                for host in [central, peripheral] { host.forget() }
            }
            let open = try #require(central.connect(peripheral.address), "connection \(number)")
            if isPairing, case .success(.paired)? = central.result(of: .security(.pair(open, nil))) {
            } else if isPairing {
                Issue.record("pairing \(number)")
                return
            }
            guard case .services(let services)? = central.gatt(open, .discoverServices(uuids: [])) else {
                Issue.record("discovery \(number)")
                return
            }
            #expect(services.count == 3)
            guard
                central.gatt(
                    open,
                    .subscribe(
                        notified.valueHandle, configuration: notified.configuration,
                        mode: .notifications)) != nil,
                central.gatt(open, .write(written.valueHandle, value: [UInt8(truncatingIfNeeded: number)])) != nil
            else {
                Issue.record("subscription or write \(number)")
                return
            }
            peripheral.submit(.server(.updateValue(notified.valueHandle, value: [1, 2], links: nil)))
            #expect(
                world.run(for: .seconds(5)) {
                    central.events.contains { if case .gatt(open, .notification) = $0 { true } else { false } }
                }, "notification \(number)")
            #expect(central.result(of: .link(open, .disconnect)) == .success(.done))
            world.run(for: .seconds(1))
            for host in [central, peripheral] { host.forget() }
            if number.isMultiple(of: max(1, Self.count / 10)) { memory.append(Self.residentMemory) }
        }
        let kibibytes = memory.map { "\($0 / 1024)" }.joined(separator: " ")
        print("soak: \(Self.count) links; resident memory in KiB: \(kibibytes)")
        for (name, host) in [("central", central), ("peripheral", peripheral)] {
            let counters = Mirror(reflecting: host.counters).children.filter { ($0.value as? UInt64 ?? 0) > 0 }
            print("soak: \(name):", counters.map { "\($0.label ?? "") \($0.value)" }.joined(separator: ", "))
            host.withHost { host in #expect(host.rooms.links.isEmpty) }
        }
        // After the first tenths, caches are full: from there on it stays. Only a test that runs alone knows its
        // memory.
        guard ProcessInfo.processInfo.environment["JELLING_SOAK"] != nil, memory.count > 5,
            let first = memory[2..<6].min(), let last = memory[6...].min()
        else { return }
        #expect(last - first < 2 << 20, "\(memory)")
    }
}
