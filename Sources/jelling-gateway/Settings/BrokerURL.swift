/// Parses `mqtt://[USER[:PASSWORD]@]HOST[:PORT]` and `mqtts://…`.
enum BrokerURL {
    /// Why a text is not such a URL.
    struct Problem: Error, CustomStringConvertible {
        /// Without anything of the text, which may have a password in it.
        let cause: String

        var description: String { "\(cause); expected mqtt://HOST:PORT, or mqtts://HOST:PORT for TLS" }
    }

    static func settings(_ text: String) throws(Problem) -> BrokerSettings {
        let isSecure: Bool
        var rest: Substring
        if text.hasPrefix("mqtt://") {
            (isSecure, rest) = (false, text.dropFirst(7))
        } else if text.hasPrefix("mqtts://") {
            (isSecure, rest) = (true, text.dropFirst(8))
        } else {
            throw Problem(cause: text.isEmpty ? "it is empty" : "it begins with neither mqtt:// nor mqtts://")
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        var user: Substring?
        if let at = rest.lastIndex(of: "@") {
            user = rest[..<at]
            rest = rest[rest.index(after: at)...]
        }
        guard let (host, port) = hostAndPort(String(rest)) else {
            throw Problem(cause: problem(ofHostAndPort: String(rest)))
        }
        var settings = BrokerSettings(host: host, port: port ?? (isSecure ? 8883 : 1883))
        if isSecure { settings.security = .init() }
        if let user {
            let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            settings.username = parts.first.map(String.init)
            if parts.count == 2 { settings.password = String(parts[1]) }
        }
        return settings
    }

    /// Why a text is not `HOST`, `HOST:PORT` or `[IPV6]:PORT`, without the text itself.
    static func problem(ofHostAndPort text: String) -> String {
        let closing = text.lastIndex(of: "]")
        let colon = text.lastIndex(of: ":").flatMap { colon in closing.map { $0 < colon } ?? true ? colon : nil }
        if let colon, UInt16(text[text.index(after: colon)...]).map({ $0 == 0 }) ?? true {
            return "the port is not a number from 1 to 65535"
        }
        let host = text[..<(colon ?? text.endIndex)]
        if host.isEmpty { return "the host is missing" }
        return host.utf8.count > 255 ? "the host is too long" : "the host has a character that no name or address has"
    }

    /// The password in a text as it was given, even if the rest is wrong.
    static func password(in text: String) -> Substring? {
        guard let slashes = text.firstRange(of: "://"), let at = text.lastIndex(of: "@"), slashes.upperBound < at else {
            return nil
        }
        let user = text[slashes.upperBound..<at]
        guard let colon = user.firstIndex(of: ":") else { return nil }
        let password = user[user.index(after: colon)...]
        return password.isEmpty ? nil : password
    }

    /// Parses `HOST`, `HOST:PORT` and `[IPV6]:PORT`.
    static func hostAndPort(_ text: String) -> (host: String, port: UInt16?)? {
        var host = text[...]
        var port: UInt16?
        let closing = text.lastIndex(of: "]")
        if let colon = text.lastIndex(of: ":"), closing.map({ $0 < colon }) ?? true {
            guard let number = UInt16(text[text.index(after: colon)...]), number > 0 else { return nil }
            port = number
            host = text[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, host.utf8.count <= 255,
            host.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-_.:%".contains($0)) })
        else { return nil }
        return (String(host), port)
    }
}
