import BLEPackets
import Testing

@testable import BLEHost

/// Tables that no app of ours would publish, and requests at the edges of the protocol.
@Suite("GATT server, odd tables")
struct GATTServerOddDatabaseTests {
    private static let long = BluetoothUUID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)
    private static let longOctets = "100f0e0d0c0b0a090807060504030201"

    private func row(_ handle: UInt16, _ type: BluetoothUUID, _ value: [UInt8]) -> RawAttribute {
        RawAttribute(
            handle: AttributeHandle(rawValue: handle), type: type, permissions: [.readable, .writeable], value: value)
    }

    @Test("types of 16 and of 128 bits never share a list, and a type of 128 bits is found by it")
    func wideTypes() throws {
        let bench = ServerBench(
            mtu: 23,
            try GATTDatabase(attributes: [
                .row(1, 0x2800, .readable, [1, 0x18]), row(2, Self.long, [7]), row(3, Self.long, [8]),
                .row(4, 0x2A00, .readable, [9]),
            ]))
        #expect(bench.ask("040100ffff") == ["050101000028"])
        #expect(bench.ask("040200ffff") == ["05020200" + Self.longOctets])
        #expect(bench.ask("040400ffff") == ["05010400002a"])
        #expect(bench.ask("080100ffff" + Self.longOctets) == ["09030200070300" + "08"])
        #expect(bench.ask("100100ffff" + Self.longOctets) == ["0110010010"])
        // A 16-bit type may be asked for in its long form.
        #expect(bench.ask("080100ffff" + "fb349b5f80000080001000" + "00002a0000") == ["0903040009"])
    }

    @Test("services of 16 and of 128 bits, primary and secondary, are listed each by themselves")
    func services() throws {
        let uuid: [UInt8] = Array(bytes(Self.longOctets))
        let bench = ServerBench(
            mtu: 64,
            try GATTDatabase(attributes: [
                .row(0x0010, 0x2801, .readable, [0x0A, 0x18]), .row(0x0020, 0x2800, .readable, [0x0D, 0x18]),
                .row(0x0022, 0x2802, .readable, [0x10, 0, 0x10, 0, 0x0A, 0x18]), .row(0x0030, 0x2800, .readable, uuid),
                .row(0x0035, 0x2802, .readable, [0x30, 0, 0x35, 0]), .row(0xFFFF, 0x2800, .readable, [0x0F, 0x18]),
            ]))
        #expect(bench.ask("100100ffff0028") == ["1106200022000d18"])
        #expect(bench.ask("102300ffff0028") == ["111430003500" + Self.longOctets])
        #expect(bench.ask("103600ffff0028") == ["1106ffffffff0f18"])
        #expect(bench.ask("10ffffffff0028") == ["1106ffffffff0f18"])
        #expect(bench.ask("100100ffff0128") == ["1106100010000a18"])
        #expect(bench.ask("101100ffff0128") == ["011011000a"])
        #expect(bench.ask("060100ffff0028" + Self.longOctets) == ["0730003500"])
        #expect(bench.ask("060100ffff00280f18") == ["07ffffffff"])
        // Includes of services with 16 bits carry the UUID, others do not: they are of two lengths.
        #expect(bench.ask("080100ffff0228") == ["0908220010001000" + "0a18"])
        #expect(bench.ask("082300ffff0228") == ["0906350030003500"])
        #expect(bench.ask("04ffffffff") == ["0501ffff0028"])
        #expect(bench.ask("0affff") == ["0b0f18"])
    }

    @Test(
        "a range from zero or backwards is Invalid Handle with its first handle, whatever is asked for",
        arguments: [("0000ffff", "0000"), ("00000000", "0000"), ("02000100", "0200"), ("ffff0100", "ffff")])
    func ranges(range: String, handle: String) throws {
        let bench = ServerBench(mtu: 23, try GATTDatabase(attributes: [.row(1, 0x2800, .readable, [1, 0x18])]))
        for (opcode, rest) in [
            ("04", ""), ("06", "002801"), ("06", "0028"), ("08", "0028"), ("10", "0028"), ("10", "002a"),
        ] {
            #expect(bench.ask(opcode + range + rest) == ["01" + opcode + handle + "01"])
        }
        #expect(bench.ask("0a0000") == ["010a000001"])
        #expect(bench.ask("0e00000100") == ["010e000001"])
    }

    @Test("handles with holes: what is between them is Invalid Handle, and ranges that hold nothing are Not Found")
    func holes() throws {
        let bench = ServerBench(
            mtu: 23,
            try GATTDatabase(attributes: [
                .row(1, 0x2800, .readable, [1, 0x18]), .row(0x0300, 0x2A00), .row(0xFFFE, 0x2A01),
            ]))
        for handle in ["0200", "ff02", "0103", "fdff", "ffff"] {
            #expect(bench.ask("0a" + handle) == ["010a" + handle + "01"])
            #expect(bench.ask("12" + handle + "00") == ["0112" + handle + "01"])
            #expect(bench.ask("16" + handle + "000000") == ["0116" + handle + "01"])
            #expect(bench.ask("04" + handle + handle) == ["0104" + handle + "0a"])
        }
        #expect(bench.ask("040200ffff") == ["05010003002afeff012a"])
    }

    @Test("empty values are read, listed, found and written")
    func empty() throws {
        let bench = ServerBench(
            mtu: 23,
            try GATTDatabase(attributes: [
                row(1, BluetoothUUID(UInt16(0x2A00)), []), row(2, BluetoothUUID(UInt16(0x2A00)), []),
            ]))
        #expect(bench.ask("0a0100") == ["0b"])
        #expect(bench.ask("0c01000000") == ["0d"])
        #expect(bench.ask("0c01000100") == ["010c010007"])
        #expect(bench.ask("080100ffff002a") == ["090201000200"])
        #expect(bench.ask("060100ffff002a") == ["070100010002000200"])
        #expect(bench.ask("0e01000200") == ["0f"])
        #expect(bench.ask("2001000200") == ["2100000000"])
        #expect(bench.ask("120100") == ["13"])
        #expect(bench.ask("1601000000") == ["1701000000"])
        #expect(bench.ask("1801") == ["19"])
    }

    @Test(
        "a value longer than the PDU is cut in every response, and goes on with Read Blob",
        arguments: [23, 64, 517] as [Int])
    func longValues(mtu: Int) throws {
        let value = (0..<512).map { UInt8($0 % 251) }
        let bench = ServerBench(
            mtu: UInt16(mtu),
            try GATTDatabase(attributes: [
                row(1, BluetoothUUID(UInt16(0x2A00)), value), row(2, BluetoothUUID(UInt16(0x2A00)), value),
            ]))
        #expect(bench.ask("0a0100") == ["0b" + hex(Array(value.prefix(mtu - 1)))])
        #expect(bench.ask("0c01000a00") == ["0d" + hex(Array(value[10...].prefix(mtu - 1)))])
        #expect(bench.ask("0c01000002") == ["0d"])
        let listed = min(mtu - 4, 253)
        #expect(
            bench.ask("080100ffff002a") == ["09" + hex([UInt8(listed + 2)]) + "0100" + hex(Array(value.prefix(listed)))]
        )
        #expect(bench.ask("0e01000200") == ["0f" + hex(Array((value + value).prefix(mtu - 1)))])
        let lengths = "0002" + hex(Array(value.prefix(mtu - 3)))
        #expect(bench.ask("2001000200") == ["21" + (mtu == 517 ? lengths + "0002" : lengths)])
        // What does not fit into the request that compares cannot be found.
        #expect(bench.ask("060100ffff002a" + hex(Array(value.prefix(mtu - 7)))) == ["010601000a"])
    }

    @Test(
        "a request longer than ATT_MTU is Invalid PDU, a command as long is ignored, and nothing is changed by them",
        arguments: [23, 100] as [Int])
    func oversized(mtu: Int) throws {
        let bench = ServerBench(
            mtu: UInt16(mtu), try GATTDatabase(attributes: [row(1, BluetoothUUID(UInt16(0x2A00)), [1])]))
        func octets(_ count: Int) -> String { String(repeating: "22", count: count) }
        let fits = octets(mtu - 5)
        #expect(bench.ask("1601000000" + fits) == ["1701000000" + fits])
        #expect(bench.ask("1800") == ["19"])
        #expect(bench.ask("1601000000" + octets(mtu - 4)) == ["0116000004"])
        #expect(bench.ask("1801") == ["19"])
        #expect(bench.ask("120100" + octets(mtu - 2)) == ["0112000004"])
        #expect(bench.ask("520100" + octets(mtu - 2)).isEmpty)
        #expect(bench.ask("060100ffff002a" + octets(mtu - 6)) == ["0106000004"])
        #expect(bench.ask("0e" + String(repeating: "0100", count: mtu / 2 + 1)) == ["010e000004"])
        #expect(bench.ask("0a0100") == ["0b01"])
        #expect(bench.server.counters.malformedPDUs == 5)
        // What is not known at all is not known at any length.
        #expect(bench.ask("3f" + octets(mtu)) == ["013f000006"])
        #expect(bench.ask("120100" + octets(mtu - 3)) == ["13"])
    }

    @Test("the configuration belongs to the value that the declaration names, wherever it stands")
    func configuration() throws {
        let bench = ServerBench(
            mtu: 23,
            try GATTDatabase(attributes: [
                .row(1, 0x2800, .readable, [1, 0x18]), .row(2, 0x2803, .readable, [0x12, 9, 0, 0, 0x2A]),
                .row(9, 0x2A00, .readable, [1]), .row(0x20, 0x2901, .readable, [2]),
                .row(0x21, 0x2902, [.readable, .writeable], [0, 0]),
            ]))
        #expect(bench.ask("1221000100") == ["13"])
        #expect(bench.update([5], of: 9) && bench.take() == ["1b090005"])
        #expect(bench.update([5], of: 0x20) && bench.take().isEmpty)
        #expect(bench.ask("0a2100") == ["0b0100"])
    }

    @Test("65535 attributes are found each at its handle")
    func full() throws {
        let bench = ServerBench(
            mtu: 23,
            try GATTDatabase(attributes: (1...0xFFFF).map { .row(UInt16($0), 0x2A00, .readable, [UInt8($0 & 0xFF)]) }))
        #expect(bench.ask("0affff") == ["0bff"])
        #expect(bench.ask("0a0001") == ["0b00"])
        #expect(bench.ask("04feffffff") == ["0501feff002affff002a"])
        #expect(bench.ask("08ffffffff002a") == ["0903ffffff"])
    }
}
