import BLEHost
import BLEPackets

extension RadioCommand: Choice {
    public static var blank: Self { .scan(.blank) }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(2, "scan", &it, Self.scan) { if case .scan(let request) = $0 { request } else { nil } }
        try c.option(3, "change_scan", as: "ChangeScan", &it, Self.changeScan, "operation", "scan") {
            if case .changeScan(let scan, let request) = $0 { (scan, request) } else { nil }
        }
        try c.option(4, "connect", &it, Self.connect) { if case .connect(let request) = $0 { request } else { nil } }
        try c.option(12, "advertise", &it, Self.advertise) { if case .advertise(let a) = $0 { a } else { nil } }
        try c.option(
            13, "change_advertising", as: "ChangeAdvertising", &it, Self.changeAdvertising, "operation", "advertise",
            from: { if case .changeAdvertising(let operation, let request) = $0 { (operation, request) } else { nil } })
        try c.since(1) { c throws(MessageError) in
            try c.option(
                33, "advertise_set", &it, Self.advertiseSet, { if case .advertiseSet(let a) = $0 { a } else { nil } })
            try c.option(
                34, "change_advertising_set", as: "ChangeAdvertisingSet", &it, Self.changeAdvertisingSet,
                "operation", "set"
            ) { if case .changeAdvertisingSet(let operation, let request) = $0 { (operation, request) } else { nil } }
            try c.option(
                35, "follow_train", &it, Self.followPeriodicAdvertising,
                { if case .followPeriodicAdvertising(let a) = $0 { a } else { nil } })
            try c.option(
                36, "receive_trains", as: "ReceiveTrains", &it, Self.receivePeriodicSyncs, "link", "options"
            ) { if case .receivePeriodicSyncs(let link, let options) = $0 { (link, options) } else { nil } }
            try c.option(
                37, "transfer_train", as: "TransferTrain", &it, Self.transferPeriodicSync, "operation", "link",
                "service_data",
                from: { if case .transferPeriodicSync(let a, let b, let c) = $0 { (a, b, c) } else { nil } })
            try c.option(38, "use_channels", &it, Self.classifyChannels) {
                if case .classifyChannels(let map) = $0 { map } else { nil }
            }
        }
        try c.since(3) { c throws(MessageError) in
            try c.option(
                60, "send_subevents", as: "SendSubevents", &it, { .sendSubevents($1, of: $0) }, "operation",
                "subevents"
            ) { if case .sendSubevents(let subevents, let set) = $0 { (set, subevents) } else { nil } }
            try c.option(
                61, "respond_in_train", as: "RespondInTrain", &it, { .respondInPeriodicAdvertising($1, in: $0) },
                "operation",
                rest: {
                    if case .respondInPeriodicAdvertising(let response, let train) = $0 {
                        (train, response)
                    } else {
                        nil
                    }
                })
        }
    }
}

extension ScanRequest: Message {
    public static var blank: Self { Self() }
    public static var schemaName: String { "Scan" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "is_active", &it.isActive)
        try c.field(2, "allows_duplicates", &it.allowsDuplicates)
        try c.field(3, "services", &it.serviceUUIDs)
        var (solicited, hasSolicited) = (it.solicitedServiceUUIDs ?? [], it.solicitedServiceUUIDs != nil)
        try c.field(4, "solicited_services", &solicited)
        try c.field(5, "has_solicited_services", &hasSolicited)
        it.solicitedServiceUUIDs = hasSolicited ? solicited : nil
        try c.field(6, "name", &it.name)
        try c.field(7, "minimum_rssi", &it.minimumRSSI)
        try c.field(8, "address", &it.address)
        try c.field(9, "is_in_background", &it.isInBackground)
        try c.field(10, "scans_coded_phy", &it.scansCodedPHY)
        try c.field(11, "includes_unresolved_targets", &it.includesUnresolvedTargets)
        try c.since(2) { c throws(MessageError) in try c.field(12, "accept_list", &it.acceptList, atMost: 255) }
    }
}

extension AdvertiseRequest: Message {
    public static var blank: Self { Self(.blank) }
    public static var schemaName: String { "Advertise" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.choice(&it.content)
        try c.field(3, "is_connectable", &it.isConnectable)
        try c.field(4, "is_in_background", &it.isInBackground)
        try c.field(5, "interval", &it.interval, nilAs: 0)
        // Core 5.4, Vol 4, Part E, 7.8.5.
        if C.reads, !c.isRecording, let interval = it.interval {
            guard 0x20...0x4000 ~= interval.rawValue else { throw .invalidField }
        }
        try c.field(6, "resumes_after_connection", &it.resumesAfterConnection)
        try c.field(7, "target", &it.target)
        try c.recorded { c throws(MessageError) in try c.field(100, "overflow", &it.overflow) }
    }
}

extension AdvertiseRequest.Content: Choice {
    public static var blank: Self { .raw(advertisement: [], scanResponse: []) }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(1, "packed", as: "PackedAdvertisement", &it, Self.packed, "local_name", "services") {
            if case .packed(let name, let services) = $0 { (name, services) } else { nil }
        }
        try c.option(2, "raw", as: "RawAdvertisement", &it, Self.raw, "advertisement", "scan_response") {
            if case .raw(let advertisement, let scanResponse) = $0 { (advertisement, scanResponse) } else { nil }
        }
    }
}

extension AdvertisingPackerSettings.OverflowEmission: Choice {
    public static var blank: Self { .off }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(1, "off", &it, .off)
        try c.option(2, "company", &it, Self.on) { if case .on(let company) = $0 { company } else { nil } }
    }
}

extension AdvertisingTarget: Message {
    public static var blank: Self { Self(peer: .blank) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "peer", &it.peer)
        try c.field(2, "form", &it.form)
    }
}
