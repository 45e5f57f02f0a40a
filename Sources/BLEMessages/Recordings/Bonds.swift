import BLEHost
import BLEPackets

/// A bond; its keys are only recorded.
extension Bond: Message {
    public static var blank: Self { Self(identity: .blank) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "identity", &it.identity)
        if C.reads { it.identity = it.identity.withoutIdentityMark }
        try c.field(2, "is_secure_connections", &it.isSecureConnections)
        try c.field(3, "is_authenticated", &it.isAuthenticated)
        try c.field(4, "key_size", &it.keySize)
        try c.field(5, "is_unasked", &it.isUnasked)
        try c.field(6, "name", &it.name)
        try c.field(7, "last_use", &it.lastUse)
        var (user, isOfOperator) = (it.user?.number, it.user?.isOperator ?? false)
        try c.field(8, "user", &user)
        try c.field(9, "is_of_operator", &isOfOperator)
        if C.reads { it.user = user.map { ClientUser($0, isOperator: isOfOperator) } }
        try c.recorded { c throws(MessageError) in
            try c.field(100, "identity_resolving_key", &it.identityResolvingKey)
            try c.field(101, "insufficient_capability", &it.insufficientCapability)
            try c.field(102, "local_key", &it.localKey)
            try c.field(103, "peer_key", &it.peerKey)
            try c.field(104, "local_signing_key", &it.localSigningKey)
            try c.field(105, "peer_signing_key", &it.peerSigningKey)
            try c.field(106, "client_record", &it.clientRecord)
        }
    }
}

extension LongTermKey: Message {
    public static var blank: Self { Self(key: .zero) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "key", &it.key)
        try c.field(2, "encrypted_diversifier", &it.encryptedDiversifier)
        try c.field(fixed: 3, "random_number", &it.randomNumber)
    }
}

extension SigningKey: Message {
    public static var blank: Self { Self(key: .zero) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "key", &it.key)
        try c.field(2, "counter", &it.counter)
    }
}

extension GATTClientRecord: Message {
    public static var blank: Self { Self(configurations: [], features: 0, knownTable: 0) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "configurations", &it.configurations)
        try c.field(2, "features", &it.features)
        try c.field(fixed: 3, "known_table", &it.knownTable)
    }
}

extension GATTClientRecord.Configuration: Message {
    public static var blank: Self { Self(handle: .none, modes: []) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "handle", &it.handle)
        try c.field(2, "modes", &it.modes)
        try c.field(3, "owner", &it.owner)
    }
}
