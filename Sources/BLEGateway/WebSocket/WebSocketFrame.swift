/// A frame of WebSocket that is a whole message (RFC 6455, section 5.2). A client gives each frame a mask of its own, a
/// server gives none.
public enum WebSocketFrame {
    /// Four octets that nobody can predict.
    public typealias Mask = [UInt8]

    /// Why a connection ends (RFC 6455, section 7.4.1).
    public enum CloseCode: UInt16, Sendable {
        case normal = 1000
        case goingAway = 1001
        case protocolError = 1002
        case notText = 1003
        case invalidText = 1007
        case tooLong = 1009
    }

    enum Opcode: UInt8 {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    /// A message of text.
    public static func text(_ octets: some Collection<UInt8>, mask: Mask? = nil) -> [UInt8] {
        frame(.text, octets, mask: mask)
    }

    /// A message of any octets.
    public static func binary(_ octets: some Collection<UInt8>, mask: Mask? = nil) -> [UInt8] {
        frame(.binary, octets, mask: mask)
    }

    /// Asks whether the other side is there.
    public static func ping(mask: Mask? = nil) -> [UInt8] { frame(.ping, [], mask: mask) }

    /// The answer to a ping that had these octets.
    public static func pong(_ octets: some Collection<UInt8>, mask: Mask? = nil) -> [UInt8] {
        frame(.pong, octets, mask: mask)
    }

    public static func close(_ code: CloseCode, mask: Mask? = nil) -> [UInt8] {
        frame(.close, [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)], mask: mask)
    }

    static func frame(_ opcode: Opcode, _ payload: some Collection<UInt8>, mask: Mask? = nil) -> [UInt8] {
        var octets: [UInt8] = [0x80 | opcode.rawValue]
        let count = payload.count
        let masked: UInt8 = mask == nil ? 0 : 0x80
        if count < 126 {
            octets.append(masked | UInt8(count))
        } else if count <= 0xFFFF {
            octets += [masked | 126, UInt8(count >> 8), UInt8(count & 0xFF)]
        } else {
            octets.append(masked | 127)
            octets += stride(from: 56, through: 0, by: -8).map {
                UInt8(truncatingIfNeeded: UInt64(count) >> UInt64($0))
            }
        }
        guard let mask else { return octets + payload }
        return octets + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
    }
}
