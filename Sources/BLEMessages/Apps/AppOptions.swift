import BLEAppLifecycle
import BLEPackets

extension ManagerOptions: Message {
    public static var blank: Self { Self() }
    public static var schemaName: String { "AppManagerOptions" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "restore_identifier", &it.restoreIdentifier)
        try c.field(2, "shows_power_alert", &it.showsPowerAlert)
        try c.field(3, "continues", &it.continues)
        try c.field(4, "overflow", emptyIsNil: &it.overflow)
    }
}

extension ScanOptions: Message {
    public static var blank: Self { Self() }
    public static var schemaName: String { "AppScan" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "services", &it.services)
        try c.field(2, "allows_duplicates", &it.allowsDuplicates)
        try c.field(3, "solicited_services", &it.solicitedServices)
    }
}

extension ConnectOptions: Message {
    /// The longest delay: a year.
    private static var longestDelayMilliseconds: Int64 { 366 * 86_400_000 }

    public static var blank: Self { Self() }
    public static var schemaName: String { "AppConnectOptions" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "notifies_on_connection", &it.notifiesOnConnection)
        try c.field(2, "notifies_on_disconnection", &it.notifiesOnDisconnection)
        try c.field(3, "notifies_on_notification", &it.notifiesOnNotification)
        try c.field(4, "start_delay_milliseconds", &it.startDelayMilliseconds)
        if C.reads { it.startDelayMilliseconds = max(0, min(it.startDelayMilliseconds, longestDelayMilliseconds)) }
        try c.field(5, "reconnects_automatically", &it.reconnectsAutomatically)
    }
}

extension ConnectionEventFilter: Message {
    public static var blank: Self { Self() }
    public static var schemaName: String { "AppConnectionEvents" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "peers", &it.peripherals)
        try c.field(2, "services", &it.services)
    }
}

extension AdvertisementRequest: Message {
    public static var blank: Self { Self() }
    public static var schemaName: String { "AppAdvertisement" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "local_name", &it.localName)
        try c.field(2, "services", &it.serviceUUIDs)
        try c.field(3, "unsupported_keys", &it.unsupportedKeys)
    }
}
