import Testing

@testable import BLEDecoder

@Suite("Tables of packets")
struct PacketTablesTests {
    let tables = PacketTables.shared

    @Test("commands, events and PDUs have the specification's names")
    func names() {
        #expect(PacketNames.name(of: 0x200B, in: .command) == "LE Set Scan Parameters")
        #expect(PacketNames.name(of: 0x0C03, in: .command) == "Reset")
        #expect(PacketNames.name(of: 0x05, in: .event) == "Disconnection Complete")
        #expect(PacketNames.name(of: 0x0D, in: .leMetaEvent) == "LE Extended Advertising Report")
        #expect(PacketNames.name(of: 0x1B, in: .att) == "Handle Value Notification")
        #expect(PacketNames.name(of: 0x0C, in: .smp) == "Pairing Public Key")
        #expect(PacketNames.name(of: 4, in: .channel) == "ATT")
        #expect(PacketNames.name(of: 0x7777, in: .command) == nil)
    }

    @Test("every line is understood: fields have names, groups end, none is empty")
    func fields() {
        for (index, field) in tables.fields.enumerated() {
            #expect(!field.text.isEmpty && !field.key.isEmpty)
            if field.kind == .group || field.kind == .bitGroup { #expect(field.argument > index + 1) }
            if [.number, .hexadecimal].contains(field.kind) { #expect((1...8).contains(field.width)) }
        }
    }

    @Test(
        "lengths are those of the specification",
        arguments: [
            (0x200B, 7), (0x2006, 15), (0x200D, 25), (0x2013, 14), (0x2019, 28), (0x2027, 39), (0x2036, 25),
            (0x2008, 32), (0x0406, 3), (0x0C01, 8), (0x204E, 8), (0x2042, 6), (0x2022, 6), (0x2032, 7), (0x0405, 13),
        ])
    func lengths(opcode: Int, count: Int) {
        let layout = tables.layouts[Int(tables.commands[opcode])]
        #expect(layout.byteCount == count)
        #expect(layout.isFixed)
    }
}
