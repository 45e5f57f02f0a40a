import BLEDaemon
import BLEPackets
import BLETransport

/// A value of `--adapter`.
enum AdapterChoice: Equatable {
    case transport(TransportAddress)
    /// The kernel's adapter with this address or at this place, whatever its number.
    case key(AdapterKey)
    /// Every adapter of the kernel, also those that appear later.
    case all

    /// A value that names no adapter.
    struct Unknown: Error, CustomStringConvertible {
        let text: String
        /// What is wrong with it, if it is like one of the forms.
        var reason: String?

        var description: String {
            reason ?? "‘\(text)’ names no adapter; use one of: " + AdapterChoice.forms.joined(separator: ", ")
        }
    }

    /// What `--adapter` takes, as bled's own help has it.
    private static let forms =
        ["hciN", "all", "port:PLACE", "ADDRESS of an adapter"]
        + TransportAddress.forms.filter { !$0.hasPrefix("bled") && !$0.hasPrefix("raw:") }

    init(_ text: String) throws(Unknown) {
        if text == "all" {
            self = .all
        } else if let key = AdapterKey(text) {
            self = .key(key)
        } else if text.hasPrefix("hci"), let address = try? TransportAddress("user:" + text.dropFirst(3)) {
            // As bletool and other programs call the kernel's adapters.
            self = .transport(address)
        } else {
            do throws(TransportError) { self = .transport(try TransportAddress(text)) } catch {
                guard case .invalidAddress(_, let reason) = error else { throw Unknown(text: text) }
                throw Unknown(text: text, reason: reason)
            }
        }
    }

    /// What to open first; an adapter that is not there yet is found by its key later.
    /// - Parameter present: the kernel's adapters; `nil` if they cannot be listed.
    func transport(among present: PresentAdapters?) -> TransportAddress {
        switch self {
        case .transport(let address): address
        case .key(let key): .userChannel(adapter: present?.adapter(key)?.index ?? 0)
        // Whichever comes first.
        case .all: .userChannel(adapter: 0)
        }
    }

    var isTransport: Bool {
        if case .transport = self { true } else { false }
    }

    /// As log lines name it.
    var name: String {
        switch self {
        case .transport(let address): "\(address)"
        case .key(let key): key.text
        case .all: "all"
        }
    }

    /// The key of the kernel's adapter; `nil`: it is another transport, has no key, or is not there.
    /// - Parameters:
    ///   - present: the kernel's adapters; `nil` if they cannot be listed.
    ///   - knows: whether an adapter of this name has been used before.
    func kernelKey(among present: PresentAdapters?, knows: (String) -> Bool) -> AdapterKey? {
        switch self {
        case .key(let key): return present?.adapter(key)?.key ?? key
        case .transport(.userChannel(let index)):
            guard let adapter = present?[index], let key = adapter.key else { return nil }
            // The kernel may not have read the address yet.
            return adapter.hasAddress || knows(key.text) ? key : nil
        case .transport, .all: return nil
        }
    }
}
