/// The hosts that a request may name.
///
/// A page of the Web can have its own name resolved to an address of this machine, and have the browser ask here in
/// that name (DNS rebinding). So names that are not known are refused; an address is not a name.
public struct HTTPHosts: Equatable, Sendable {
    private let names: Set<String>

    /// - Parameter names: names besides `localhost`, in any case.
    public init(names: [String] = []) { self.names = Set(names.map(Self.normalized)) }

    /// - Parameter authority: a host, and perhaps a port.
    public func accept(_ authority: String) -> Bool {
        guard let host = Self.host(of: authority) else { return false }
        if Self.isAddress(host) { return true }
        let name = Self.normalized(host)
        return name == "localhost" || name.hasSuffix(".localhost") || names.contains(name)
    }

    private static func normalized(_ name: String) -> String {
        let name = name.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// The host without its port; `nil` if it is none.
    private static func host(of authority: String) -> String? {
        let octets = Array(authority.utf8)
        guard octets.count <= 300 else { return nil }
        let end: Int
        if octets.first == UInt8(ascii: "[") {
            guard let closing = octets.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            end = closing + 1
        } else {
            end = octets.firstIndex(of: UInt8(ascii: ":")) ?? octets.count
        }
        let port = octets[end...]
        guard port.first ?? UInt8(ascii: ":") == UInt8(ascii: ":"),
            port.dropFirst().allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return String(decoding: octets[..<end], as: UTF8.self)
    }

    /// Whether a host is a literal address: in brackets for version 6, otherwise four decimal numbers.
    private static func isAddress(_ host: String) -> Bool {
        if host.hasPrefix("[") {
            let isOfAddress = { (octet: UInt8) in
                switch octet {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: ":"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
            // The name of an interface may follow.
            let parts = host.dropFirst().dropLast().split(separator: "%", omittingEmptySubsequences: false)
            guard let address = parts.first?.utf8, parts.count <= 2 else { return false }
            return address.contains(UInt8(ascii: ":")) && address.allSatisfy(isOfAddress)
        }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.utf8.count) && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
                    && UInt8(part) != nil
            }
    }
}
