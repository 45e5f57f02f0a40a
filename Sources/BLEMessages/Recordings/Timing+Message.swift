import BLEHost
import BLEPackets

extension Timing: Message {
    public static var blank: Self { .gateway }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.setting(1, "foreground_scan", &it.foregroundScan)
        try c.setting(2, "background_scan", &it.backgroundScan)
        try c.setting(3, "foreground_advertising", &it.foregroundAdvertising)
        try c.setting(4, "background_advertising", &it.backgroundAdvertising)
        var (shortest, longest) = (it.connectionInterval.lowerBound, it.connectionInterval.upperBound)
        try c.setting(5, "shortest_interval", &shortest)
        try c.setting(6, "longest_interval", &longest)
        guard shortest <= longest else { throw .invalidField }
        it.connectionInterval = shortest...longest
        try c.setting(7, "peripheral_latency", &it.peripheralLatency)
        try c.setting(8, "supervision_timeout", &it.supervisionTimeout)
        try c.setting(9, "att_mtu", &it.attMTU)
        try c.setting(10, "parameter_policy", &it.parameterPolicy)
        try c.field(11, "pace", &it.pace)
        try c.setting(12, "allows_subrating", &it.allowsSubrating)
        try c.field(13, "accepted_subrates", &it.acceptedSubrates)
    }
}

extension ScanDuty: Message {
    public static var blank: Self { Self(interval: .blank, window: .blank) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "interval", &it.interval)
        try c.field(2, "window", &it.window)
    }
}

extension AdvertisingPace: Message {
    public static var blank: Self { Self(initial: .blank, .zero, later: .blank) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "initial", &it.initial)
        try c.field(2, "initial_span", &it.initialSpan)
        try c.field(3, "later", &it.later)
    }
}

extension ScanInterval: Scalar {}
