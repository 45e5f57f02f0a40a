import BLEHost
import BLEPackets

/// Whether apps advertise the services that do not fit, or that are in the background, in the overflow area, and with
/// which company identifier, as one owner decides it (SPEC 3.6).
///
/// Three owners have a say in the advertisement of an app: the system, the app's manifest and the app itself. Each of
/// them can turn the overflow area off.
public enum OverflowSetting: Hashable, Sendable {
    /// Nothing is hashed.
    case off
    /// With the company that another owner names; with Apple's, whose mask every scanner knows, if none does.
    case on
    /// With this company identifier.
    case company(UInt16)

    private var company: UInt16? { if case .company(let company) = self { company } else { nil } }

    /// The setting of a system whose apps share one overflow area: it names the company for all of them.
    public var ofSharedSystem: OverflowSetting { self == .on ? .company(OverflowArea.company) : self }

    /// What an app's advertisement sends.
    ///
    /// An app that names another company than its system sends nothing: it does not want to be taken for a device of
    /// that company.
    static func emission(
        system: OverflowSetting, manifest: OverflowSetting, app: OverflowSetting
    ) -> AdvertisingPackerSettings.OverflowEmission {
        guard system != .off, manifest != .off, app != .off else { return .off }
        let named = app.company ?? manifest.company
        guard let shared = system.company else { return .on(company: named ?? OverflowArea.company) }
        return named ?? shared == shared ? .on(company: shared) : .off
    }
}

/// As owners write it: `off`, `on`, or a company identifier such as `0xFFFF`.
extension OverflowSetting: RawRepresentable, Codable {
    /// The forms that `init(rawValue:)` reads, for messages.
    public static let forms = "‘off’, ‘on’ or a company identifier such as ‘0xFFFF’"

    public init?(rawValue: String) {
        switch rawValue {
        case "off": self = .off
        case "on": self = .on
        default:
            let digits = rawValue.utf8.dropFirst(2)
            guard rawValue.utf8.starts(with: "0x".utf8), (1...4).contains(digits.count) else { return nil }
            var company: UInt16 = 0
            for digit in digits {
                guard let value = Self.value(ofDigit: digit) else { return nil }
                company = company << 4 | value
            }
            self = .company(company)
        }
    }

    private static func value(ofDigit digit: UInt8) -> UInt16? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(digit - UInt8(ascii: "A") + 10)
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(digit - UInt8(ascii: "a") + 10)
        default: nil
        }
    }

    public var rawValue: String {
        switch self {
        case .off: return "off"
        case .on: return "on"
        case .company(let company):
            let digits = String(company, radix: 16, uppercase: true)
            return "0x" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
        }
    }
}
