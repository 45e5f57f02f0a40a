import BLE

// How advertising sets and trains look when they are printed or logged.

extension AdvertisingSetEvent: CustomStringConvertible {
    public var description: String {
        switch self {
        case .started(let power): "advertising has started with \(power) dBm"
        case .stopped: "advertising has stopped"
        case .connected(let link): "connected: \(link)"
        case .dataRequested(let first, let count):
            count == 1 ? "data for subevent \(first) are due" : "data for \(count) subevents from \(first) on are due"
        case .response(let response): response.description
        }
    }
}

extension SlotResponse: CustomStringConvertible {
    /// Such as `subevent 2, slot 3: 12 octets at -60 dBm`.
    public var description: String {
        let place = "subevent \(subevent), slot \(slot): "
        guard let data else { return place + "a response that was not received" }
        return place + octets(data, isTruncated) + strength(rssi)
    }
}

extension PeriodicSyncEvent: CustomStringConvertible {
    public var description: String {
        switch self {
        case .synchronized(let train): "synchronized with \(train)"
        case .report(let report): report.description
        case .lost(let advertiser, let identifier): "\(name(advertiser, identifier)) is lost"
        }
    }
}

extension PeriodicSyncInformation: CustomStringConvertible {
    /// Such as `train 1 of C0:11:22:33:44:55/random on LE 1M, interval 100.0 ms, 4 subevents`.
    public var description: String {
        "\(name(advertiser, identifier)) on \(phy), interval \(interval.milliseconds) ms"
            + (subevents.map { ", \($0)" } ?? "")
    }
}

extension PeriodicSyncReport: CustomStringConvertible {
    /// Such as `train 1 of C0:11:22:33:44:55/random, event 7, subevent 2: 12 octets at -60 dBm`.
    public var description: String {
        name(advertiser, identifier) + (event.map { ", event \($0)" } ?? "")
            + (subevent.map { ", subevent \($0)" } ?? "") + ": " + octets(data, isTruncated) + strength(rssi)
    }
}

extension PeriodicResponse: CustomStringConvertible {
    /// Such as `response to event 7, subevent 2, in subevent 2, slot 3: 12 octets`.
    public var description: String {
        "response to event \(event), subevent \(subevent), in subevent \(responseSubevent), slot \(slot): "
            + octets(data, false)
    }
}

extension SubeventData: CustomStringConvertible {
    /// Such as `subevent 2: 12 octets, 4 response slots from 0 on`.
    public var description: String {
        "subevent \(subevent): " + octets(data, false)
            + ", \(counted(Int(responseSlotCount), "response slot")) from \(firstResponseSlot) on"
    }
}

extension PeriodicSubevents: CustomStringConvertible {
    /// Such as `4 subevents with 8 response slots each`.
    public var description: String {
        counted(Int(count), "subevent")
            + (responseSlotCount > 0 ? " with \(counted(Int(responseSlotCount), "response slot")) each" : "")
    }
}

extension PeriodicAdvertising: CustomStringConvertible {
    /// Such as `train with interval 100.0 ms, 12 octets`.
    public var description: String {
        "train with interval \(interval.milliseconds) ms, " + (subevents.map { "\($0)" } ?? octets(data, false))
    }
}

extension LinkReports: CustomStringConvertible {
    public var description: String { "reports of a link" }
}

private func name(_ advertiser: DeviceAddress, _ identifier: UInt8) -> String { "train \(identifier) of \(advertiser)" }

private func octets(_ data: [UInt8], _ isTruncated: Bool) -> String {
    counted(data.count, "octet") + (isTruncated ? " (cut short)" : "")
}

/// 127: not known.
private func strength(_ rssi: Int8) -> String { rssi == 127 ? "" : " at \(rssi) dBm" }

func counted(_ count: Int, _ noun: String) -> String { count == 1 ? "1 \(noun)" : "\(count) \(noun)s" }
