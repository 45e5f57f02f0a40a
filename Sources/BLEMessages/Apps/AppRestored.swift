import BLEAppLifecycle

extension RestoredCentral: Message {
    public static var blank: Self { Self() }
    public static var schemaName: String { "AppRestoredCentral" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "peripherals", &it.peripherals)
        try c.field(2, "scan", &it.scan)
    }
}

extension RestoredRemotePeripheral: Message {
    public static var blank: Self { Self(description: .blank, services: nil, writeLimits: .blank) }
    public static var schemaName: String { "AppRestoredRemote" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "peripheral", &it.description)
        try c.field(2, "services", as: "AppRemoteServices", "services", &it.services)
        try c.field(3, "limits", &it.writeLimits)
    }
}

extension RestoredPeripheral: Message {
    public static var blank: Self { Self(services: [], subscriptions: [], advertisement: nil) }
    public static var schemaName: String { "AppRestoredPeripheral" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "services", &it.services)
        try c.field(2, "subscriptions", &it.subscriptions)
        try c.field(3, "advertisement", &it.advertisement)
    }
}

extension RestoredPeripheral.Subscription: Message {
    public static var blank: Self { Self(characteristic: .blank, centrals: []) }
    public static var schemaName: String { "AppRestoredSubscription" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "characteristic", &it.characteristic)
        try c.field(2, "centrals", &it.centrals)
    }
}
