/// The names and the forms of packet fields.
///
/// Generated constants, so that nothing is parsed or allocated at start: `packedLayouts` has a row for each packet,
/// `packedFields` a number for each field, `packedValues` one for each named value; all three contain the offsets of
/// their names in `PacketTexts`. They are generated from the table in `Tools/Packets`.
struct PacketTables {
    /// A field of a packet, or the head of a group of fields.
    struct Field {
        let packed: UInt64

        @inline(__always) var kind: Kind {
            let number = UInt8(truncatingIfNeeded: packed >> 56)
            // A case for each number up to the last one: checked here, as the initializer does case by case.
            return number <= Kind.options.rawValue ? unsafe unsafeBitCast(number, to: Kind.self) : .rest
        }
        /// The width of the field in octets.
        @inline(__always) var width: Int { Int(packed >> 48 & 0xFF) }
        /// A table of names, the microseconds of a unit, or the index after the group.
        @inline(__always) var argument: Int { Int(Int16(truncatingIfNeeded: packed >> 32)) }

        /// `Name: `
        @inline(__always) var text: Name { Name(in: PacketTexts.fields, at: place, count: textCount) }
        /// `"name":`
        @inline(__always) var key: Name { Name(in: PacketTexts.fields, at: place + textCount, count: keyCount) }
        /// `"nameName":`, for masks `"nameNames":`; only for a field whose values or bits have names.
        var nameKey: Name {
            let isMask = kind == .mask || kind == .octetMask
            return Name(
                in: PacketTexts.fields, at: place + textCount + keyCount, count: keyCount + (isMask ? 5 : 4))
        }

        private var place: Int { Int(packed >> 16 & 0xFFFF) }
        private var textCount: Int { Int(packed >> 8 & 0xFF) }
        private var keyCount: Int { Int(packed & 0xFF) }
    }

    /// A packet: its name, its fields, and for commands those of the return parameters.
    struct Layout {
        let row: Int

        @inline(__always) var name: Name { Name(in: PacketTexts.packets, at: number(1), count: number(2)) }
        @inline(__always) var fields: Range<Int> { number(3)..<(number(3) + number(4)) }
        @inline(__always) var answer: Range<Int> { (number(3) + number(4))..<(number(3) + number(4) + number(5)) }
        /// The minimum length of the fields.
        var byteCount: Int { number(6) & 0x7FFF }
        /// Whether their length is fixed.
        var isFixed: Bool { number(6) & 0x8000 == 0 }
        var answerByteCount: Int { number(7) & 0x7FFF }
        var answerIsFixed: Bool { number(7) & 0x8000 == 0 }

        @inline(__always)
        private func number(_ column: Int) -> Int { Int(PacketTables.packedLayouts[row * 8 + column]) }
    }

    /// The fields of all packets, one after the other.
    struct Fields: RandomAccessCollection, Sendable {
        var startIndex: Int { 0 }
        var endIndex: Int { packedFields.count }
        @inline(__always) subscript(place: Int) -> Field { Field(packed: packedFields[place]) }
    }

    /// All packets.
    struct Layouts: RandomAccessCollection, Sendable {
        var startIndex: Int { 0 }
        var endIndex: Int { packedLayouts.count / 8 }
        @inline(__always) subscript(place: Int) -> Layout { Layout(row: place) }
    }

    /// Indices of commands in `layouts` by opcode; −1 if there is none.
    struct Commands: Sendable {
        /// By group (16 of them here) and command (256 in each group here).
        private var places: [Int16]

        fileprivate init(_ layouts: Range<Int>) {
            places = [Int16](repeating: -1, count: 1 << 12)
            for place in layouts {
                let opcode = Int(packedLayouts[place * 8])
                places[Self.index(of: opcode)] = Int16(place)
            }
        }

        @inline(__always)
        subscript(opcode: Int) -> Int16 {
            opcode & 0x300 == 0 && opcode >> 14 == 0 ? places[Self.index(of: opcode)] : -1
        }

        @inline(__always)
        private static func index(of opcode: Int) -> Int { (opcode >> 10) << 8 | opcode & 0xFF }
    }

    let fields = Fields()
    let layouts = Layouts()
    let commands = Commands(commandLayouts)
    /// Indices in `layouts` by number; −1 if there is none.
    let events = places(eventLayouts)
    let subevents = places(leEventLayouts)
    let attOpcodes = places(attLayouts)
    let smpCodes = places(smpLayouts)
    let signallingCodes = places(signallingLayouts)
    /// By the type of a channel's option, without its top bit.
    let channelOptions = places(channelOptionLayouts)

    /// By the place in `layouts`: whether such a packet may contain a key, in its fields or in those of its answer.
    private let secrets: [Bool] = {
        func isSecret(_ place: Int) -> Bool {
            let kind = Field(packed: packedFields[place]).kind
            return kind == .secret || kind == .secretRest
        }
        return Layouts().map { $0.fields.contains(where: isSecret) || $0.answer.contains(where: isSecret) }
    }()

    /// Whether a packet of this form may contain a key, so that its octets must not be shown.
    @inline(__always)
    func containsKeys(_ place: Int) -> Bool { place >= 0 && secrets[place] }

    static let shared = PacketTables()

    private static func places(_ layouts: Range<Int>) -> [Int16] {
        var places = [Int16](repeating: -1, count: 256)
        for place in layouts { places[Int(packedLayouts[place * 8] & 0xFF)] = Int16(place) }
        return places
    }

    // MARK: Names of values

    /// Names that are not in a table of values: companies, and bits that refer to numbered items.
    enum Special {
        static let company = -2
        /// Bit 0 stands for event 0x01; for event 0x40; for subevent 0x01 of LE Meta.
        static let events1 = -3
        static let events64 = -4
        static let subevents1 = -5
        /// Bits are shown by their numbers.
        static let numbers = -6
    }

    /// The name of a value; `nil` if the table has none.
    @inline(__always)
    func name(of number: UInt64, in table: Int) -> Name? {
        var index = Int(Self.valueTables[table])
        let end = Int(Self.valueTables[table + 1])
        while index < end {
            let value = Self.packedValues[index]
            if UInt64(value & 0xFF) == number {
                return Name(in: PacketTexts.values, at: Int(value >> 16), count: Int(value >> 8 & 0xFF))
            }
            index += 1
        }
        return nil
    }

    /// The name of a bit in a mask; `nil` if it has none.
    func name(ofBit bit: Int, in table: Int) -> Name? {
        let place: Int16
        switch table {
        case Special.events1: place = bit < 255 ? events[bit + 1] : -1
        case Special.events64: place = bit < 192 ? events[bit + 64] : -1
        case Special.subevents1: place = bit < 255 ? subevents[bit + 1] : -1
        case 0...: return name(of: UInt64(bit), in: table)
        default: return nil
        }
        return place >= 0 ? layouts[Int(place)].name : nil
    }
}
