import BLEHost
import BLEPackets

extension AdvertisingSetRequest: Message {
    public static var blank: Self { Self() }
    public static var schemaName: String { "AdvertisingSet" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "data", &it.data)
        try c.field(2, "scan_response", &it.scanResponse)
        try c.field(3, "uses_legacy_pdus", &it.usesLegacyPDUs)
        try c.field(4, "is_connectable", &it.isConnectable)
        try c.field(5, "is_scannable", &it.isScannable)
        try c.field(6, "is_anonymous", &it.isAnonymous)
        try c.field(7, "includes_transmit_power", &it.includesTransmitPower)
        try c.field(8, "interval", &it.interval, zeroAs: .milliseconds(100))
        try c.field(9, "primary_phy", &it.primaryPHY, zeroAs: .le1M)
        try c.field(10, "secondary_phy", &it.secondaryPHY, zeroAs: .le1M)
        try c.field(11, "address", &it.address)
        try c.field(12, "sid", &it.identifier)
        try c.field(13, "transmit_power", &it.transmitPower)
        try c.field(14, "duration_microseconds", &it.duration, nilAs: 0)
        try c.field(15, "maximum_events", &it.maximumEvents)
        try c.field(16, "ends_after_connection", not: &it.resumesAfterConnection)
        try c.field(17, "train", &it.train)
    }
}

extension PeriodicAdvertising: Message {
    public static var blank: Self { Self() }
    public static var schemaName: String { "PeriodicTrain" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "data", &it.data)
        try c.field(2, "interval", &it.interval, zeroAs: .milliseconds(100))
        try c.field(3, "includes_data_information", &it.includesDataInformation)
        try c.field(4, "includes_transmit_power", &it.includesTransmitPower)
        try c.since(3) { c throws(MessageError) in try c.field(20, "subevents", &it.subevents) }
    }
}

extension PeriodicSubevents: Message {
    public static var blank: Self { Self(count: 0) }
    public static var schemaName: String { "TrainSubevents" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "count", &it.count)
        try c.field(2, "interval", &it.interval)
        try c.field(3, "response_slot_delay", &it.responseSlotDelay)
        try c.field(4, "response_slot_spacing", &it.responseSlotSpacing)
        try c.field(5, "response_slot_count", &it.responseSlotCount)
    }
}

extension SubeventData: Message {
    public static var blank: Self { Self(subevent: 0, data: []) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "subevent", &it.subevent)
        try c.field(2, "first_response_slot", &it.firstResponseSlot)
        try c.field(3, "response_slot_count", &it.responseSlotCount)
        try c.field(4, "data", &it.data)
    }
}

/// The part of `RespondInTrain` behind the train.
extension PeriodicResponse: Message {
    public static var blank: Self { Self(toEvent: 0, subevent: 0, slot: 0, data: []) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(2, "event", &it.event)
        try c.field(3, "subevent", &it.subevent)
        try c.field(4, "response_subevent", &it.responseSubevent)
        try c.field(5, "slot", &it.slot)
        try c.field(6, "data", &it.data)
    }
}

extension AdvertisingSetEvent: Choice {
    public static var blank: Self { .stopped }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(2, "started", &it, Self.started) { if case .started(let power) = $0 { power } else { nil } }
        try c.option(3, "stopped", &it, .stopped)
        try c.option(4, "connected", &it, Self.connected) { if case .connected(let link) = $0 { link } else { nil } }
        try c.option(
            20, "data_requested", as: "SubeventsRequested", &it, Self.dataRequested, "first", "count"
        ) { if case .dataRequested(let first, let count) = $0 { (first, count) } else { nil } }
        try c.option(21, "response", &it, Self.response) { if case .response(let a) = $0 { a } else { nil } }
    }
}

extension SlotResponse: Message {
    public static var blank: Self { Self(subevent: 0, slot: 0, data: nil) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "subevent", &it.subevent)
        try c.field(2, "slot", &it.slot)
        try c.field(3, "data", &it.data)
        try c.field(4, "is_truncated", &it.isTruncated)
        try c.field(5, "is_without_data", not: &it.followsData)
        try c.field(6, "rssi", &it.rssi)
        try c.field(7, "tx_power", &it.txPower)
    }
}
