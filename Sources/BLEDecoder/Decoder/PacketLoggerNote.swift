/// What records of PacketLogger without an HCI packet are, by their type.
struct PacketLoggerNote {
    let title: StaticString
    /// Whether the record is a text, and not octets that may contain keys.
    let isText: Bool

    init(_ type: UInt8) {
        (title, isText) =
            switch type {
            case 0x0A: ("Sent LMP Data", false)
            case 0x0B: ("Received LMP Data", false)
            case 0xF7: ("System Log", true)
            case 0xF8: ("Kernel Log", true)
            case 0xF9: ("Kernel Debug Log", true)
            case 0xFA: ("Error", true)
            case 0xFB: ("Power", true)
            case 0xFC: ("Note", true)
            case 0xFD: ("Configuration", false)
            case 0xFE: ("New Controller", true)
            default: ("PacketLogger Note", false)
            }
    }
}
