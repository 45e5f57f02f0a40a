import BLEPackets

/// How a periodic train with responses is divided (Core 5.4, Vol 6, Part B, 4.4.2.12): each interval begins with a
/// number of subevents, and each subevent has separate data, after which receivers may respond in slots.
public struct PeriodicSubevents: Hashable, Sendable {
    /// The number of subevents in an interval, 1 to 128.
    public var count: UInt8
    /// The time from one subevent to the next, in units of 1.25 ms: 6 to 255. All of them fit into the train's
    /// interval.
    public var interval: UInt8
    /// The time from the beginning of a subevent to its first response slot, in units of 1.25 ms: 1 to 254, and less
    /// than `interval`; 0 without slots.
    public var responseSlotDelay: UInt8
    /// The time from one response slot to the next, in units of 0.125 ms: 2 to 255; 0 without slots.
    public var responseSlotSpacing: UInt8
    /// The number of response slots in a subevent; a receiver does not know it, and has 0 here.
    public var responseSlotCount: UInt8

    public init(
        count: UInt8, interval: UInt8 = 6, responseSlotDelay: UInt8 = 0, responseSlotSpacing: UInt8 = 0,
        responseSlotCount: UInt8 = 0
    ) {
        self.count = count
        self.interval = interval
        self.responseSlotDelay = responseSlotDelay
        self.responseSlotSpacing = responseSlotSpacing
        self.responseSlotCount = responseSlotCount
    }

    /// Whether a train with this interval can have them (Core 5.4, Vol 4, Part E, 7.8.61).
    func isValid(in train: PeriodicAdvertisingInterval) -> Bool {
        guard 1...128 ~= count, interval >= 6, Int(count) * Int(interval) <= Int(train.rawValue) else { return false }
        guard responseSlotCount > 0 else { return responseSlotDelay == 0 && responseSlotSpacing == 0 }
        guard responseSlotDelay > 0, responseSlotDelay < interval, responseSlotSpacing >= 2 else { return false }
        return Int(responseSlotSpacing) * Int(responseSlotCount) <= 10 * (Int(interval) - Int(responseSlotDelay))
    }
}

/// The data of one subevent, which are sent once, and the response slots that they open.
public struct SubeventData: Hashable, Sendable {
    /// The longest data, in octets: one HCI command has them and what they belong to.
    public static let longestData = 249

    /// The subevent, 0 to 127.
    public var subevent: UInt8
    /// The first slot in which receivers may respond.
    public var firstResponseSlot: UInt8
    /// The number of these slots.
    public var responseSlotCount: UInt8
    /// At most 249 octets.
    public var data: [UInt8]

    public init(subevent: UInt8, firstResponseSlot: UInt8 = 0, responseSlotCount: UInt8 = 0, data: [UInt8]) {
        self.subevent = subevent
        self.firstResponseSlot = firstResponseSlot
        self.responseSlotCount = responseSlotCount
        self.data = data
    }

    /// The octets that it takes in a command.
    package var length: Int { 4 + data.count }
    /// What one command has room for: 15 subevents, in 253 octets behind two of the command (Core 5.4, Vol 4, Part E,
    /// 7.8.125).
    package static let room = (subevents: 15, octets: 253)

    func isValid(in train: PeriodicSubevents) -> Bool {
        subevent < train.count && data.count <= Self.longestData
            && Int(firstResponseSlot) + Int(responseSlotCount) <= Int(train.responseSlotCount)
    }
}

/// What was received in one response slot of a train that this device sends.
public struct SlotResponse: Hashable, Sendable {
    /// The subevent, 0 to 127.
    public var subevent: UInt8
    /// The response slot, counted from the first one of the subevent.
    public var slot: UInt8
    /// The data of the response, which is one PDU: at most 251 octets. `nil` if the controller received none in the
    /// slot: no device responded, several did, or one was too far away (Core 5.4, Vol 4, Part E, 7.7.65.37).
    public var data: [UInt8]?
    /// Whether the controller received only the beginning of the data.
    public var isTruncated: Bool
    /// Whether the controller had sent the subevent's data before.
    public var followsData: Bool
    /// In dBm; 127 if it is unknown.
    public var rssi: Int8
    /// In dBm; `nil` if it is not stated.
    public var txPower: Int8?

    public init(
        subevent: UInt8, slot: UInt8, data: [UInt8]?, isTruncated: Bool = false, followsData: Bool = true,
        rssi: Int8 = 127, txPower: Int8? = nil
    ) {
        self.subevent = subevent
        self.slot = slot
        self.data = data
        self.isTruncated = isTruncated
        self.followsData = followsData
        self.rssi = rssi
        self.txPower = txPower
    }
}

/// This device's response in a train that it follows.
public struct PeriodicResponse: Hashable, Sendable {
    /// The longest data, in octets: one HCI command has them and what they belong to.
    public static let longestData = 247

    /// The event of the report to which it responds.
    public var event: UInt16
    /// The subevent of the report, 0 to 127.
    public var subevent: UInt8
    /// The subevent in which the response is sent: by default the same.
    public var responseSubevent: UInt8
    /// The slot of that subevent. The advertiser assigns slots to devices in its data or otherwise.
    public var slot: UInt8
    /// At most 247 octets.
    public var data: [UInt8]

    public init(toEvent event: UInt16, subevent: UInt8, in responseSubevent: UInt8? = nil, slot: UInt8, data: [UInt8]) {
        self.event = event
        self.subevent = subevent
        self.responseSubevent = responseSubevent ?? subevent
        self.slot = slot
        self.data = data
    }

    func isValid(in train: PeriodicSubevents) -> Bool {
        subevent < train.count && responseSubevent < train.count && train.responseSlotSpacing > 0
            && data.count <= Self.longestData
    }
}
