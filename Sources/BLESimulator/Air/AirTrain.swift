import BLEPackets

/// One packet of a periodic train on the air (Core 5.4, Vol 6, Part B, 4.4.2.12).
struct AirTrain {
    /// The address in the advertisements that lead to the train.
    var address: DeviceAddress
    var advertisingSetIdentifier: UInt8
    /// Of its packets.
    var phy: PHY
    var interval: PeriodicAdvertisingInterval
    var data: [UInt8]
    /// Changes with the data; `nil` if the packets do not contain it.
    var dataIdentifier: UInt16?
    /// dBm; 127 if the packets do not contain it.
    var transmitPower: Int8 = 127
    /// A moment at which a packet is sent; the others follow from it.
    var anchor: Int64
    /// Of a train with responses.
    var layout: SubeventLayout?
    /// The subevent of the packet, if the train has any.
    var subevent: UInt8?
    /// Counts its events.
    var event: UInt16 = 0
    /// Of the station that sends it.
    var clock = StationClock.exact

    private var intervalMicroseconds: Int64 { Int64(max(6, interval.rawValue)) * 1250 }

    /// How many events have begun after the first one.
    private func count(at time: Int64) -> Int64 { max(0, clock.ownTime(after: time - anchor) / intervalMicroseconds) }

    /// When an event begins, counted from the first one.
    func beginning(of count: Int64) -> Int64 { anchor + clock.airTime(of: count * intervalMicroseconds) }

    /// When the event begins whose counter has these low 16 bits: the one nearest to `time`, which may be over.
    func beginning(of event: UInt16, near time: Int64) -> Int64 {
        let current = count(at: time)
        return beginning(of: current + Int64(Int16(truncatingIfNeeded: Int64(event) - current)))
    }

    /// The counter of the event at a time.
    func event(at time: Int64) -> UInt16 {
        UInt16(truncatingIfNeeded: count(at: time))
    }

    /// When the first packet after `time` is sent.
    func packet(after time: Int64) -> Int64 {
        time < anchor ? anchor : beginning(of: count(at: time) + 1)
    }
}

/// A train that a controller follows.
struct FollowedTrain {
    let handle: SynchronizationHandle
    /// The station that sends it, and its advertising set.
    let station: Int
    let set: UInt8
    var address: DeviceAddress
    var advertisingSetIdentifier: UInt8
    var skip: UInt16
    var timeout: Int64
    var isReported: Bool
    var filtersDuplicates: Bool
    /// The latest event of which a packet was received and not skipped.
    var receivedEvent: UInt16?
    var lastHeard: Int64
    var lastDataIdentifier: UInt16?
    /// The subevents that are received, of a train with responses.
    var subevents: [UInt8] = [0]
}

/// An attempt to find a train.
struct TrainSearch {
    var options: PeriodicSyncOptions
    var address: DeviceAddress
    var advertisingSetIdentifier: UInt8
    var skip: UInt16
    var timeout: Int64
}

/// An advertiser on the periodic advertiser list.
struct ListedAdvertiser: Equatable {
    var address: DeviceAddress
    var advertisingSetIdentifier: UInt8
}

/// What a controller does with the trains that the peer of a link transfers.
struct TrainReception {
    var mode = PeriodicSyncTransferMode.ignore
    var skip: UInt16 = 0
    var timeout: Int64 = 0

    init() {}

    /// `nil` if a parameter is out of its range (Core 5.4, Vol 4, Part E, 7.8.91).
    init?(mode: PeriodicSyncTransferMode, skip: UInt16, timeout: SupervisionTimeout) {
        guard mode.rawValue <= 3, skip <= 499, 0x000A...0x4000 ~= timeout.rawValue else { return nil }
        self.mode = mode
        self.skip = skip
        self.timeout = Int64(timeout.rawValue) * 10_000
    }
}
