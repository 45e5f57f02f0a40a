import BLE
import BLECapture
import BLEPackets
import BLESimulator
import Foundation
import Synchronization
import Testing

@testable import BLEVirtualTransports

@Suite("A device that a capture plays")
struct PlayedDeviceTests {
    private typealias Exchange = PlayedSession.Exchange

    /// A device with a heart rate service, its value 0x0003 with a configuration at 0x0004, and a battery at 0x0012.
    private static let discovered: [Exchange] = [
        Exchange(request: [0x02, 0xF7, 0], response: [0x03, 0xB9, 0], time: 0),
        Exchange(
            request: [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28],
            response: [0x11, 6, 1, 0, 8, 0, 0x0D, 0x18, 0x10, 0, 0x20, 0, 0x0F, 0x18],
            time: 1),
        Exchange(
            request: [0x08, 1, 0, 8, 0, 3, 0x28], response: [0x09, 7, 2, 0, 0x10, 3, 0, 0x37, 0x2A], time: 2),
        Exchange(request: [0x04, 4, 0, 8, 0], response: [0x05, 1, 4, 0, 2, 0x29], time: 3),
        Exchange(
            request: [0x08, 0x10, 0, 0x20, 0, 3, 0x28], response: [0x09, 7, 0x11, 0, 0x12, 0x12, 0, 0x19, 0x2A], time: 4
        ),
        Exchange(request: [0x0A, 0x12, 0], response: [0x0B, 0x57], time: 5),
        Exchange(request: [0x0A, 0x12, 0], response: [0x0B, 0x56], time: 6),
        Exchange(
            request: [0x12, 4, 0, 1, 0], response: [0x13],
            later: [(500_000, [0x1B, 3, 0, 6, 64]), (1_500_000, [0x1B, 3, 0, 6, 66])], time: 1_000_000),
    ]

    private func adapter(
        _ session: PlayedSession, rate: Double = 100, tell: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> Adapter {
        var configuration = AdapterConfiguration()
        configuration.makeVirtualTransport = { address in
            let air = SimulatedAir()
            let controller = air.addController()
            session.join(air, PlayedPace(rate: rate), report: tell)
            return SimulatedTransport(air: air, controller: controller, address: address)
        }
        return try await Adapter.open("sim", configuration: configuration)
    }

    private static let peer = DeviceAddress(value: 0xC0DE_0000_0077, kind: .random)

    @Test("it is discovered, read and subscribed to by any client, and sends what it sent")
    func whole() async throws {
        let told = Mutex<[String]>([])
        let adapter = try await adapter(PlayedSession(peer: Self.peer, exchanges: Self.discovered)) { text in
            told.withLock { $0.append(text) }
        }
        let peer = try await adapter.connect(to: Self.peer)
        let contents = try await peer.discoverContents()
        #expect(contents.map(\.service.uuid) == [BluetoothUUID(0x180D as UInt16), BluetoothUUID(0x180F as UInt16)])
        #expect(contents[0].characteristics.map(\.characteristic.uuid) == [BluetoothUUID(0x2A37 as UInt16)])
        #expect(contents[0].characteristics[0].descriptors.map(\.uuid) == [BluetoothUUID(0x2902 as UInt16)])
        // Its declaration says that it notifies, so it has a configuration that was not recorded.
        #expect(contents[1].characteristics[0].descriptors.map(\.handle.rawValue) == [0x13])
        let battery = try await peer.findCharacteristic(BluetoothUUID(0x2A19 as UInt16))
        var values: [[UInt8]] = []
        for _ in 0..<3 { values.append(try await peer.read(battery)) }
        #expect(values == [[0x57], [0x56], [0x56]])
        let rate = try await peer.findCharacteristic(BluetoothUUID(0x2A37 as UInt16))
        var sent: [[UInt8]] = []
        for try await value in try await peer.notifications(of: rate) {
            sent.append(value.bytes)
            if sent.count == 2 { break }
        }
        #expect(sent == [[6, 64], [6, 66]])
        // Nothing else tells those who wait for more.
        #expect(told.withLock { $0 } == ["the capture ends: it has no more notifications of \(Self.peer)"])
        await adapter.close()
    }

    @Test("a service whose discovery was not recorded is reported when it is asked for")
    func undiscoveredService() async throws {
        let told = Mutex<[String]>([])
        let recorded = Array(Self.discovered[..<4])
        let adapter = try await adapter(PlayedSession(peer: Self.peer, exchanges: recorded)) { text in
            told.withLock { $0.append(text) }
        }
        let peer = try await adapter.connect(to: Self.peer)
        _ = try await peer.findCharacteristic(BluetoothUUID(0x2A37 as UInt16))
        #expect(told.withLock { $0 } == [])
        await #expect(throws: BLEError.notFound(BluetoothUUID(0x2A19 as UInt16))) {
            _ = try await peer.findCharacteristic(BluetoothUUID(0x2A19 as UInt16))
        }
        #expect(told.withLock { $0 } == ["the capture has no discovery of the service at 0x0010 of \(Self.peer)"])
        await adapter.close()
    }

    @Test("attributes used without discovery get a place, and are reported")
    func gaps() async throws {
        let told = Mutex<[String]>([])
        let session = PlayedSession(
            peer: Self.peer,
            exchanges: [
                Exchange(request: [0x12, 0x25, 0, 1, 0], response: [0x13], time: 0),
                Exchange(request: [0x52, 0x21, 0, 9, 9], later: [(1000, [0x1B, 0x24, 0, 1, 2, 3])], time: 1000),
                Exchange(request: [0x0A, 0x28, 0], response: [0x0B, 5], time: 2000),
            ])
        let adapter = try await adapter(session) { text in told.withLock { $0.append(text) } }
        #expect(told.withLock { $0.contains { $0.contains("0x0021, 0x0024, 0x0028") } })
        #expect(told.withLock { $0.contains { $0.contains("discovery of services") } })
        let peer = try await adapter.connect(to: Self.peer)
        let found = try await peer.discoverContents().flatMap(\.characteristics)
        #expect(found.map(\.characteristic.valueHandle.rawValue) == [0x21, 0x24, 0x28])
        #expect(found[0].characteristic.properties == .writeWithoutResponse)
        #expect(found[1].characteristic.properties == .notify)
        #expect(found[1].characteristic.uuid == PlayedDatabase.placeholder(0x24))
        #expect(found[2].characteristic.properties == .read)
        #expect(try await peer.read(found[2].characteristic) == [5])
        // The recorded write is answered as it was.
        let values = try await peer.notifications(of: found[1].characteristic)
        try await peer.writeWithoutResponse([9, 9], to: found[0].characteristic)
        for try await value in values {
            #expect(value.bytes == [1, 2, 3])
            break
        }
        await adapter.close()
    }

    @Test("refusals stay, other writes are kept, and values that the capture lacks are reported once")
    func refusals() async throws {
        let told = Mutex<[String]>([])
        var exchanges = Self.discovered
        exchanges += [
            Exchange(
                request: [0x08, 0x10, 0, 0x20, 0, 3, 0x28],
                response: [0x09, 7, 0x14, 0, 0x0A, 0x15, 0, 0x24, 0x2A, 0x16, 0, 0x0A, 0x17, 0, 0x25, 0x2A], time: 7),
            Exchange(request: [0x12, 0x15, 0, 7], response: [0x01, 0x12, 0x15, 0, 0x80], time: 8),
            Exchange(request: [0x0A, 0x17, 0], response: [0x01, 0x0A, 0x17, 0, 0x05], time: 9),
        ]
        let adapter = try await adapter(PlayedSession(peer: Self.peer, exchanges: exchanges)) { text in
            told.withLock { $0.append(text) }
        }
        let peer = try await adapter.connect(to: Self.peer)
        let (model, serial) = (AttributeHandle(rawValue: 0x15), AttributeHandle(rawValue: 0x17))
        await #expect(throws: BLEError.att(ATTError(rawValue: 0x80), handle: model)) {
            try await peer.write([7], to: model)
        }
        for _ in 0..<2 {
            await #expect(throws: BLEError.att(.unlikelyError, handle: model)) {
                _ = try await peer.read(model)
            }
        }
        #expect(told.withLock { $0.filter { $0.contains("0x0015") }.count } == 1)
        await #expect(throws: (any Error).self) { _ = try await peer.read(serial) }
        let long = [UInt8](repeating: 0x41, count: 300)
        try await peer.write(long, to: model)
        #expect(try await peer.read(model) == long)
        await adapter.close()
    }

    @Test("whatever a capture says, the device answers")
    func hostile() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            var exchanges: [PlayedSession.Exchange] = []
            for _ in 0..<20 {
                func octets(_ first: UInt8) -> [UInt8] {
                    [first] + (0..<Int.random(in: 0...24, using: &generator)).map { _ in UInt8.random(in: 0...255) }
                }
                let opcode = [0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x10, 0x12, 0x16, 0x52].randomElement() ?? 0x04
                exchanges.append(
                    Exchange(
                        request: octets(UInt8(opcode)), response: Bool.random() ? octets(UInt8(opcode) + 1) : octets(1),
                        later: [(.max, octets(0x1B)), (.min, octets(0x1D)), (0, [])], time: .random(in: .min ... .max)))
            }
            let air = SimulatedAir()
            let session = PlayedSession(peer: Self.peer, exchanges: exchanges)
            let server = PlayedServer(session, PlayedDatabase(exchanges), on: air, PlayedPace(rate: 1)) { _ in }
            for exchange in exchanges + exchanges {
                let answers = server.answer(exchange.request)
                #expect(answers.count <= 1)
                for answer in answers { #expect(answer.count <= 517) }
            }
            air.advance(to: 1_000_000)
        }
    }
}
