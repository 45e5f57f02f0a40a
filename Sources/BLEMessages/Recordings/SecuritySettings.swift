import BLEHost
import BLEPackets

extension SecuritySettings: Message {
    public static var blank: Self { Self() }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.setting(1, "pairing", &it.pairing)
        try c.setting(2, "pairs_on_demand", &it.pairsOnDemand)
        try c.field(3, "clients_without_pairing", &it.clientsWithoutPairing)
        var clients = it.clients.map { ClientPairings(clients: $0) }
        try c.field(4, "clients", &clients)
        it.clients = clients?.clients
        try c.setting(5, "encrypts_at_connection", &it.encryptsAtConnection)
        try c.setting(6, "requests_security", &it.requestsSecurity)
        try c.setting(7, "accepts_pairing", &it.acceptsPairing)
        try c.setting(8, "follows_security_requests", &it.followsSecurityRequests)
        try c.field(9, "identity_resolving_key", &it.identityResolvingKey)
    }
}

/// An optional list.
struct ClientPairings: Message {
    var clients: [ClientPairing] = []
    static var blank: Self { Self() }
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "list", &it.clients)
    }
}

extension ClientPairing: Message {
    public static var blank: Self { Self(client: .local, user: 0) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "client", &it.client)
        try c.field(2, "user", &it.user)
        try c.field(3, "is_operator", &it.isOperator)
        try c.field(4, "is_serving", &it.isServing)
        try c.field(5, "asks", &it.asks)
        try c.field(6, "requires_of_all", &it.requiresOfAll)
        try c.setting(7, "options", &it.options)
    }
}
