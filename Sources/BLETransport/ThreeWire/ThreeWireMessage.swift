/// The messages of link control (Core 5.4, Vol 4, Part D, 5 and 7).
enum ThreeWireMessage: Equatable {
    case sync, syncResponse
    /// With the sender's Configuration Field; controllers may leave it out.
    case config(UInt8?)
    case configResponse(UInt8?)
    case wakeUp, woken, sleep

    var octets: [UInt8] {
        switch self {
        case .sync: [0x01, 0x7E]
        case .syncResponse: [0x02, 0x7D]
        case .config(let field): [0x03, 0xFC] + (field.map { [$0] } ?? [])
        case .configResponse(let field): [0x04, 0x7B] + (field.map { [$0] } ?? [])
        case .wakeUp: [0x05, 0xFA]
        case .woken: [0x06, 0xF9]
        case .sleep: [0x07, 0x78]
        }
    }

    /// `nil` for octets that are no message.
    init?(_ octets: [UInt8]) {
        guard octets.count >= 2 else { return nil }
        let field = octets.count > 2 ? octets[2] : nil
        switch (octets[0], octets[1]) {
        case (0x01, 0x7E): self = .sync
        case (0x02, 0x7D): self = .syncResponse
        case (0x03, 0xFC): self = .config(field)
        case (0x04, 0x7B): self = .configResponse(field)
        case (0x05, 0xFA): self = .wakeUp
        case (0x06, 0xF9): self = .woken
        case (0x07, 0x78): self = .sleep
        default: return nil
        }
    }
}
