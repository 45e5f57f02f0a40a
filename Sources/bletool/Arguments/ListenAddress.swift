import Glibc

/// Where a program listens for others: `PORT`, `ADDRESS:PORT`, `[IPV6]:PORT` or `unix:PATH`.
struct ListenAddress: ExplainedArgument, Equatable, Sendable {
    enum Place: Equatable, Sendable {
        /// A numeric address; port 0 picks a free one.
        case network(host: String, port: UInt16)
        /// A path that begins with `@` is an abstract name.
        case unix(path: String)
    }

    var place: Place

    init(_ place: Place) { self.place = place }

    init?(argument: String) {
        if argument.hasPrefix("unix:") {
            let path = String(argument.dropFirst(5))
            guard !path.isEmpty, path != "@", !path.utf8.contains(0) else { return nil }
            place = .unix(path: path)
            return
        }
        let text = argument.hasPrefix("tcp:") ? String(argument.dropFirst(4)) : argument
        guard let colon = text.lastIndex(of: ":") else {
            guard let port = UInt16(text) else { return nil }
            place = .network(host: "127.0.0.1", port: port)
            return
        }
        guard let port = UInt16(text[text.index(after: colon)...]) else { return nil }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host == "localhost" { host = "127.0.0.1" }
        guard Self.octets(of: host) != nil else { return nil }
        place = .network(host: host, port: port)
    }

    /// The octets of a numeric address.
    static func octets(of host: String) -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET, host, &octets) == 1 { return Array(octets.prefix(4)) }
        if unsafe inet_pton(AF_INET6, host, &octets) == 1 { return octets }
        return nil
    }

    /// Whether only programs of this machine reach it.
    var isLocal: Bool {
        guard case .network(let host, _) = place else { return true }
        guard let octets = Self.octets(of: host) else { return false }
        return octets.count == 4 ? octets[0] == 127 : octets == [UInt8](repeating: 0, count: 15) + [1]
    }

    static func mistake(in text: String) -> String {
        "use a port, or a numeric address with a port, such as 127.0.0.1:7000 or [::1]:7000, or unix:PATH"
    }
}

extension ListenAddress: CustomStringConvertible {
    var description: String {
        switch place {
        case .network(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}
