import BLEHost
import BLEPackets

/// What a GATT server does for a request, from PDU to PDU.
enum ServerMeasurements {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 0x40), generation: 1)

    static let all: [Measurement] = [13, 200].flatMap { attributes in
        [
            Measurement(
                "GATT server read (20 B), \(attributes) attributes", nanoseconds: 60, allocations: 0
            ) { requests(of: attributes, mtu: 23, valueLength: 20) { ATTReadRequest(handle: $0).encoded() } },
            Measurement(
                "GATT server read (512 B at MTU 23), \(attributes) attributes", nanoseconds: 150, allocations: 0
            ) { requests(of: attributes, mtu: 23, valueLength: 512) { ATTReadRequest(handle: $0).encoded() } },
            Measurement(
                "GATT server read (512 B at MTU 517), \(attributes) attributes", nanoseconds: 150, allocations: 0
            ) { requests(of: attributes, mtu: 517, valueLength: 512) { ATTReadRequest(handle: $0).encoded() } },
            Measurement(
                "GATT server write (20 B), \(attributes) attributes", nanoseconds: 90, allocations: 0
            ) {
                let value = [UInt8](repeating: 7, count: 20)
                return requests(of: attributes, mtu: 23, valueLength: 20) {
                    ATTWriteRequest(handle: $0, value: value.span.bytes).encoded()
                }
            },
        ]
    }

    /// Requests for the values of a table, one after the other.
    private static func requests(
        of attributes: Int, mtu: UInt16, valueLength: Int, _ request: (AttributeHandle) -> [UInt8]
    ) -> Measurement.Operation {
        var handles: [AttributeHandle] = []
        var rows: [RawAttribute] = []
        func add(_ type: UInt16, _ permissions: AttributePermissions, _ value: [UInt8]) {
            rows.append(
                RawAttribute(
                    handle: AttributeHandle(rawValue: UInt16(rows.count + 1)), type: BluetoothUUID(type),
                    permissions: permissions, value: value))
        }
        add(0x2800, .readable, [0x0D, 0x18])
        while rows.count + 2 <= attributes {
            add(0x2803, .readable, [0x0A, UInt8((rows.count + 2) & 0xFF), 0, 0x37, 0x2A])
            handles.append(AttributeHandle(rawValue: UInt16(rows.count + 1)))
            add(0x2A37, [.readable, .writeable], [UInt8](repeating: 1, count: valueLength))
        }
        if rows.count < attributes { add(0x2901, .readable, [0x41]) }
        guard let database = try? GATTDatabase(attributes: rows), rows.count == attributes else {
            fatalError("no table")
        }
        var server = GATTServer(database: database)
        server.connected(link, mtu: mtu, at: .zero)
        let pdus = handles.map(request)
        return { count in play(pdus, count, to: &server) }
    }

    /// Holds the server for the whole round, as its owner does: nothing is measured but the server.
    private static func play(_ pdus: [[UInt8]], _ count: Int, to server: inout GATTServer) -> UInt64 {
        var checksum: UInt64 = 0
        for turn in 0..<count {
            let pdu = pdus[turn % pdus.count]
            server.receive(pdu.span.bytes, from: link, at: .zero)
            while let action = server.nextAction() {
                guard case .send(let response, _, let tag) = consume action else { continue }
                checksum = checksum &* 31 &+ UInt64(response.count) &+ UInt64(response[0])
                server.sent(tag, to: link, at: .zero)
            }
        }
        return checksum
    }
}
