import BLEPackets

/// By what one of the kernel's adapters is recognized, whatever its number is now.
public enum AdapterKey: Hashable, Sendable {
    /// The public address, which no other adapter has.
    case address(DeviceAddress)
    /// The place where it is plugged in, for an adapter without a unique address: the USB ports, such as `1-2.3`, or
    /// the name of the device on another bus.
    case place(String)

    /// What stands before a place in text.
    static let prefix = "port:"

    /// `C0:DE:00:00:00:01` or `port:1-2.3`.
    public var text: String {
        switch self {
        case .address(let address): address.addressText
        case .place(let place): Self.prefix + place
        }
    }

    /// - Returns: `nil` for anything but an address without its kind, or `port:` and a place.
    public init?(_ text: String) {
        if text.utf8.count == 17, let address = DeviceAddress(text + "/public") {
            self = .address(address)
        } else if text.hasPrefix(Self.prefix), Self.isPlace(text.dropFirst(Self.prefix.count)) {
            self = .place(String(text.dropFirst(Self.prefix.count)))
        } else {
            return nil
        }
    }

    /// As sysfs names devices; nothing that needs care in a log.
    private static func isPlace(_ text: Substring) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { octet in
                switch octet {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                    UInt8(ascii: ":"):
                    true
                default: false
                }
            }
    }
}
