import BLEHost
import BLEPackets

/// What a GATT server does for a request, from PDU to PDU.
enum ServerMeasurements {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 0x40), generation: 1)

    static let all: [Measurement] = values + growth

    private static let values: [Measurement] = [13, 200].flatMap { attributes in
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

    private static let sizes = [10, 100, 1000, 10_000]

    /// What a table's size costs in memory: the database, and a server with it.
    static func memory() -> [Row] {
        sizes.map { attributes in
            let before = Heap.kilobytes
            let (database, handles) = table(of: attributes, valueLength: 20)
            var server = GATTServer(database: database)
            server.connected(link, mtu: 247, at: .zero)
            let used = Heap.kilobytes - before - Double(handles.capacity * MemoryLayout<AttributeHandle>.stride) / 1024
            withExtendedLifetime((server, handles)) {}
            return Row(
                name: "server of \(attributes) attributes, memory", value: used, unit: "kB",
                remark: "values of 20 octets")
        }
    }

    /// What a table's size costs.
    private static let growth: [Measurement] = sizes.flatMap { attributes in
        [
            Measurement("server of \(attributes) attributes, read by handle", allocations: 0) {
                requests(of: attributes, mtu: 23, valueLength: 20) { ATTReadRequest(handle: $0).encoded() }
            },
            Measurement("server of \(attributes) attributes, read by type of the last one") {
                let (database, _) = table(of: attributes, valueLength: 20, last: 0x2901)
                let request: [UInt8] = [0x08, 1, 0, 0xFF, 0xFF, 0x01, 0x29]
                return requests([request], to: database, mtu: 247)
            },
            Measurement("server of \(attributes) attributes, discovery of all") {
                let (database, _) = table(of: attributes, valueLength: 20)
                // A response of 247 octets has 61 handles with their types.
                let pdus = stride(from: 1, through: attributes, by: 61).map { first in
                    [0x04, UInt8(first & 0xFF), UInt8(first >> 8), 0xFF, 0xFF]
                }
                let run = requests(pdus, to: database, mtu: 247)
                return { count in run(count * pdus.count) }
            },
        ]
    }

    /// Requests for the values of a table, one after the other.
    private static func requests(
        of attributes: Int, mtu: UInt16, valueLength: Int, _ request: (AttributeHandle) -> [UInt8]
    ) -> Measurement.Operation {
        let (database, handles) = table(of: attributes, valueLength: valueLength)
        return requests(handles.map(request), to: database, mtu: mtu)
    }

    private static func requests(
        _ pdus: [[UInt8]], to database: GATTDatabase, mtu: UInt16
    ) -> Measurement.Operation {
        var server = GATTServer(database: database)
        server.connected(link, mtu: mtu, at: .zero)
        return { count in play(pdus, count, to: &server) }
    }

    /// A service of characteristics, and the handles of their values.
    /// - Parameter last: the type of the last attribute; `nil`: of a description, if one is left.
    private static func table(
        of attributes: Int, valueLength: Int, last: UInt16? = nil
    ) -> (GATTDatabase, values: [AttributeHandle]) {
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
            let handle = rows.count + 2
            add(0x2803, .readable, [0x0A, UInt8(handle & 0xFF), UInt8(handle >> 8), 0x37, 0x2A])
            handles.append(AttributeHandle(rawValue: UInt16(handle)))
            let isLast = rows.count + 2 > attributes
            add(isLast ? last ?? 0x2A37 : 0x2A37, [.readable, .writeable], [UInt8](repeating: 1, count: valueLength))
        }
        if rows.count < attributes { add(0x2901, .readable, [0x41]) }
        guard let database = try? GATTDatabase(attributes: rows), rows.count == attributes else {
            fatalError("no table")
        }
        return (database, handles)
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
