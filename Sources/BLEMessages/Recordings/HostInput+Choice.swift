import BLEHost
import BLEPackets

/// What happened to an engine, as a replay hands it over. A recording has its packets in another file.
extension HostInput: Choice {
    public static var blank: Self { .advance }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(10, "transport_opened", &it, .transportOpened)
        try c.option(11, "transport_closed", &it, .transportClosed)
        try c.option(12, "received", &it, Self.packet) { if case .packet(let octets) = $0 { octets } else { nil } }
        try c.option(
            13, "command", as: "RecordedCommand", &it, { .command($1, $0) }, "client",
            rest: { if case .command(let command, let client) = $0 { (client, command) } else { nil } })
        try c.option(
            14, "answer", as: "ToolboxAnswer", &it, Self.cryptoProvider, "question",
            rest: { if case .cryptoProvider(let question, let result) = $0 { (question, result) } else { nil } })
        try c.option(
            15, "user", as: "UserOfClient", &it, { .user($1, $0) }, "client", "user",
            from: { if case .user(let user, let client) = $0 { (client, user) } else { nil } })
        try c.option(16, "advance", &it, .advance)
        try c.option(17, "packets_lost", &it, .packetsLost)
        try c.option(
            18, "expect_controller", as: "ExpectedController", &it, Self.expectController, "identity", "experience",
            from: {
                if case .expectController(let identity, let experience) = $0 { (identity, experience) } else { nil }
            })
        try c.option(19, "expect_reset", &it, .expectReset)
    }
}

/// The part of `ToolboxAnswer` behind the question.
extension CryptoResult: Choice {
    public static var blank: Self { .octets([]) }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(2, "octets", &it, Self.octets) { if case .octets(let octets) = $0 { octets } else { nil } }
        try c.option(3, "key_pair", as: "KeyPair", &it, Self.keyPair, "private_key", "public_key") {
            if case .keyPair(let secret, let key) = $0 { (secret, key) } else { nil }
        }
        try c.option(4, "failure", &it, Self.failure) { if case .failure(let failure) = $0 { failure } else { nil } }
    }
}

extension CryptoFailure: CaseList {
    public static var cases: [Self] { [.invalidPublicKey, .unavailable] }
}

extension ClientUser: Message {
    public static var blank: Self { Self(0) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "number", &it.number)
        try c.field(2, "is_operator", &it.isOperator)
    }
}
