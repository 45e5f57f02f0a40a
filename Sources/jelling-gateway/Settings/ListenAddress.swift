/// An address and a port on which clients connect.
struct ListenAddress: Equatable, Sendable {
    /// Why a text is none.
    struct Problem: Error {
        let text: String
    }

    /// An IPv4 or IPv6 address.
    let host: String
    let port: UInt16

    /// - Parameter text: `ADDRESS:PORT`.
    init(_ text: String, example: String) throws(Problem) {
        let hint = "; expected ADDRESS:PORT, such as \(example)"
        guard let (host, port) = BrokerURL.hostAndPort(text) else {
            throw Problem(text: BrokerURL.problem(ofHostAndPort: text) + hint)
        }
        guard let port else { throw Problem(text: "the port is missing" + hint) }
        guard NumericAddress(host) != nil else { throw Problem(text: "the host is no address" + hint) }
        self.host = host
        self.port = port
    }

    /// Whether only programs on this machine reach it.
    var isLoopback: Bool { NumericAddress(host)?.isLoopback ?? false }
}

extension ListenAddress: CustomStringConvertible {
    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
