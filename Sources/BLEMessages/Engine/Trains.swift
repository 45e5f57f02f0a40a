import BLEHost
import BLEPackets

extension PeriodicSyncRequest: Message {
    public static var blank: Self { Self([]) }
    public static var schemaName: String { "FollowTrain" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "advertisers", &it.advertisers)
        try c.field(2, "options", &it.options)
        try c.field(3, "scans_coded_phy", &it.scansCodedPHY)
        try c.field(4, "ends_after_loss", not: &it.resumesAfterLoss)
    }
}

extension PeriodicSyncRequest.Advertiser: Message {
    public static var blank: Self { Self(address: .blank, identifier: 0) }
    public static var schemaName: String { "TrainAdvertiser" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "address", &it.address)
        try c.field(2, "sid", &it.identifier)
    }
}

extension PeriodicSyncSettings: Message {
    public static var blank: Self { Self() }
    public static var schemaName: String { "TrainOptions" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "skip", &it.skip)
        try c.field(2, "timeout", &it.timeout, zeroAs: .milliseconds(10_000))
        try c.field(3, "reports_only_changes", &it.reportsOnlyChanges)
        // As a list of numbers; no list is an empty one.
        var subevents = (it.subevents ?? []).map { UInt32($0) }
        try c.since(3) { c throws(MessageError) in try c.field(20, "subevents", &subevents, atMost: 128) }
        guard C.reads else { return }
        guard subevents.allSatisfy({ $0 <= UInt8.max }) else { throw .invalidField }
        it.subevents = subevents.isEmpty ? nil : subevents.map { UInt8(truncatingIfNeeded: $0) }
    }
}

extension PeriodicSyncEvent: Choice {
    public static var blank: Self { .lost(advertiser: .blank, identifier: 0) }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(2, "synchronized", &it, Self.synchronized) { if case .synchronized(let a) = $0 { a } else { nil } }
        try c.option(3, "report", &it, Self.report) { if case .report(let report) = $0 { report } else { nil } }
        try c.option(4, "lost", as: "TrainAdvertiser", &it, Self.lost, "address", "sid") {
            if case .lost(let advertiser, let identifier) = $0 { (advertiser, identifier) } else { nil }
        }
    }
}

extension PeriodicSyncInformation: Message {
    public static var blank: Self {
        Self(advertiser: .blank, identifier: 0, phy: .blank, interval: .blank, serviceData: nil)
    }
    public static var schemaName: String { "TrainSynchronized" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        var advertiser = PeriodicSyncRequest.Advertiser(address: it.advertiser, identifier: it.identifier)
        try c.field(1, "advertiser", &advertiser)
        (it.advertiser, it.identifier) = (advertiser.address, advertiser.identifier)
        try c.field(2, "phy", &it.phy)
        try c.field(3, "interval", &it.interval)
        try c.field(4, "service_data", &it.serviceData)
        try c.field(20, "subevents", &it.subevents)
    }
}

extension PeriodicSyncReport: Message {
    public static var blank: Self {
        Self(advertiser: .blank, identifier: 0, data: [], isTruncated: false, rssi: 0, txPower: nil, time: .blank)
    }
    public static var schemaName: String { "TrainReport" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        var advertiser = PeriodicSyncRequest.Advertiser(address: it.advertiser, identifier: it.identifier)
        try c.field(1, "advertiser", &advertiser)
        (it.advertiser, it.identifier) = (advertiser.address, advertiser.identifier)
        try c.field(2, "data", &it.data)
        try c.field(3, "is_truncated", &it.isTruncated)
        try c.field(4, "rssi", &it.rssi)
        try c.field(5, "tx_power", &it.txPower)
        try c.field(6, "time", &it.time)
        try c.field(20, "event", &it.event)
        try c.field(21, "subevent", &it.subevent)
    }
}
