/// Which USB device is meant.
public enum USBSelector: Hashable, Sendable {
    /// The first Bluetooth device that can be opened.
    case first
    /// The first device with this vendor and product id that can be opened.
    case identifiers(vendor: UInt16, product: UInt16)
    /// The device at this place, as the kernel writes it: the number of the bus, a hyphen, and the numbers of the ports
    /// with dots between them.
    case port(String)

    /// The longest path that USB allows: the root hub's port and those of five hubs behind it, and one more to spare
    /// (USB 2.0, 4.1.1).
    private static let greatestDepth = 7

    /// `nil` for anything but `first`, `VID:PID` (four hexadecimal digits each) or `BUS-PORT`.
    init?(_ text: Substring) {
        if text == "first" {
            self = .first
        } else if text.utf8.contains(UInt8(ascii: ":")) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let vendor = Self.identifier(parts[0]), let product = Self.identifier(parts[1])
            else { return nil }
            self = .identifiers(vendor: vendor, product: product)
        } else {
            guard Self.isPort(String(text)) else { return nil }
            self = .port(String(text))
        }
    }

    /// Whether the text is the kernel's name of a place where a device can be plugged in.
    package static func isPort(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, isNumber(parts[0]) else { return false }
        let ports = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return ports.count <= greatestDepth && ports.allSatisfy(isNumber)
    }

    private static func identifier(_ text: Substring) -> UInt16? {
        let isDigits = text.utf8.allSatisfy { octet in
            switch octet {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                true
            default: false
            }
        }
        return isDigits && text.utf8.count == 4 ? UInt16(text, radix: 16) : nil
    }

    /// 1 to 255 in decimal, without leading zeros: two texts never name one place.
    private static func isNumber(_ text: Substring) -> Bool {
        guard let number = UInt8(text), number > 0 else { return false }
        return String(number) == text
    }
}

extension USBSelector: CustomStringConvertible {
    public var description: String {
        switch self {
        case .first: "first"
        case .identifiers(let vendor, let product): "\(Self.hexadecimal(vendor)):\(Self.hexadecimal(product))"
        case .port(let path): path
        }
    }

    /// Four digits, as `lsusb` prints them.
    private static func hexadecimal(_ number: UInt16) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
