import ArgumentParser
import BLEDecoder
import BLEScripts

/// Which packets are shown.
struct PacketSelection: ParsableArguments {
    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case command, event, acl, sco, iso, other, l2cap, signalling, att, smp, advertising, ll, malformed

        var kinds: PacketFacts.Kinds {
            switch self {
            case .command: .command
            case .event: .event
            case .acl: .acl
            case .sco: .sco
            case .iso: .iso
            case .other: .other
            case .l2cap: .l2cap
            case .signalling: .signalling
            case .att: .att
            case .smp: .smp
            case .advertising: .advertising
            case .ll: .linkLayer
            case .malformed: .malformed
            }
        }
    }

    @Option(name: .long, help: "Only packets of this kind; may be repeated.")
    var kind: [Kind] = []

    @Option(
        name: .long, help: ArgumentHelp("Only packets of this connection handle.", valueName: "handle"),
        transform: Self.number)
    var handle: UInt16?

    @Option(
        name: .long, help: ArgumentHelp("Only packets of or about this device.", valueName: "address"),
        transform: Self.address)
    var address: UInt64?

    @Option(
        name: .long, help: ArgumentHelp("Only packets about this attribute.", valueName: "handle"),
        transform: Self.number)
    var attHandle: UInt16?

    var filter: DecodingFilter {
        DecodingFilter(
            kinds: kind.reduce(into: []) { $0.formUnion($1.kinds) }, connectionHandle: handle, address: address,
            attributeHandle: attHandle)
    }

    private static func number(_ text: String) throws -> UInt16 {
        guard let value = Hexadecimal.integer(text, as: UInt16.self) else {
            throw ValidationError("‘\(text)’ is not a handle; examples: 0x0040, 64.")
        }
        return value
    }

    static func address(_ text: String) throws -> UInt64 {
        let octets = Hexadecimal.bytes(text) ?? []
        guard octets.count == 6 else {
            throw ValidationError("‘\(text)’ is not an address; example: AA:BB:CC:DD:EE:FF.")
        }
        return octets.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
