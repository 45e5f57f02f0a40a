import BLEPackets

/// The devices that were seen lately, in slots. A slot is found by address in O(1); the one that has been silent
/// longest is forgotten first.
///
/// The number of slots bounds memory, however many addresses appear (pain 15). Nothing here depends on the order of a
/// dictionary.
struct DeviceTable {
    /// Identifies an advertiser: address, type and advertising set. Only its content identifies an anonymous
    /// advertiser.
    struct Key: Hashable {
        private static let anonymous: UInt8 = 0xFF

        let value: UInt64
        let kind: UInt8
        let advertisingSet: UInt8

        init(_ address: DeviceAddress, advertisingSet: UInt8) {
            value = address.value
            kind = address.kind.rawValue
            self.advertisingSet = advertisingSet
        }

        init(contentHash: UInt64, advertisingSet: UInt8) {
            value = contentHash
            kind = Self.anonymous
            self.advertisingSet = advertisingSet
        }

        /// `nil` for an anonymous advertiser.
        var address: DeviceAddress? { DeviceAddress.Kind(rawValue: kind).map { DeviceAddress(value: value, kind: $0) } }
    }

    /// There may be thousands: each octet here counts.
    struct Device {
        let key: Key
        var address: DeviceAddress? { key.address }
        var isConnectable = false
        var isScannable = false
        var isExtended = false
        /// The private address that the device directs its advertising to, if the controller could not resolve it.
        var unresolvedTarget: DeviceAddress?
        var txPower: Int8 = 127
        var primaryPHY = PHY.le1M
        var secondaryPHY: PHY?
        var periodicInterval = PeriodicAdvertisingInterval(rawValue: 0)
        var advertisementHash: UInt64 = 0
        var scanResponseHash: UInt64 = 0
        var advertisement: [UInt8] = []
        var scanResponse: [UInt8] = []
        var hasScanResponse = false
        /// A discovery of this device waits for its scan response.
        var isHeld = false
        /// RSSI of the last packet, in dBm; 127 if it is unknown.
        var lastRSSI: Int8 = 127
        /// Extended advertising data that are still incomplete: none or one. Few devices have them at a time, and the
        /// array is smaller than what is in it.
        private var chains: [AdvertisingChain] = []
        var lastHeard = Instant.zero
        fileprivate var newer = Slot.none
        fileprivate var older = Slot.none

        fileprivate init(key: Key, lastHeard: Instant) {
            self.key = key
            self.lastHeard = lastHeard
        }

        /// Whether extended advertising data are still incomplete.
        var isIncomplete: Bool { !chains.isEmpty }

        /// Whether a report belongs to the data that are still incomplete. If it is a new beginning of the same, those
        /// are dropped.
        mutating func continues(with report: Scanner.Report, data: RawSpan, at now: Instant) -> Bool {
            guard let chain = chains.first else { return false }
            if chain.isContinued(by: report, data: data, at: now) { return true }
            if chain.isBegunAgain(by: report, data: data, at: now) { chains = [] }
            return false
        }

        /// Takes a part of extended advertising data.
        /// - Returns: the whole, if this was the last one.
        mutating func join(_ part: RawSpan, of report: Scanner.Report, at now: Instant) -> [UInt8]? {
            if chains.isEmpty { chains.append(AdvertisingChain()) }
            guard chains[0].add(part, of: report, at: now) else { return nil }
            let whole = chains[0].octets
            chains = []
            return whole
        }

        /// Changes whenever the device's data change (SPEC CEN-26). Never zero.
        var contentHash: UInt64 {
            let mixed =
                advertisementHash ^ (scanResponseHash &* 0x9E37_79B9_7F4A_7C15) &+ (isConnectable ? 3 : 1)
                ^ (unresolvedTarget?.value ?? 0)
            return mixed == 0 ? 1 : mixed
        }
    }

    /// Where the table has a device: valid until `removeAll`, for another device if this one is forgotten.
    struct Slot: Equatable {
        /// Counts the slots from 0; what others keep about each device has the same order.
        var number: Int { Int(index) }

        private let index: Int32

        fileprivate init(number: Int) { index = Int32(truncatingIfNeeded: number) }

        fileprivate static let none = Slot(number: -1)
    }

    private let capacity: Int
    private let maximumAge: Microseconds
    private var devices: [Device] = []
    private var slotOfKey: [Key: Slot] = [:]
    private var newest = Slot.none
    private var oldest = Slot.none

    init(capacity: Int, maximumAge: Microseconds) {
        self.capacity = min(max(1, capacity), Int(Int32.max))
        self.maximumAge = maximumAge
    }

    var count: Int { devices.count }

    /// All slots that devices have used, in order.
    var slots: [Slot] { devices.indices.map { Slot(number: $0) } }

    subscript(slot: Slot) -> Device {
        _read { yield devices[slot.number] }
        _modify { yield &devices[slot.number] }
    }

    /// The slot of the device that is forgotten for the next new one; `nil` while there is room.
    var nextForgotten: Slot? { devices.count < capacity ? nil : oldest }

    enum Place {
        case known(Slot)
        /// A slot that no device has used before.
        case added(Slot)
        /// A slot whose device was forgotten; `early` if it was forgotten because the table was full.
        case replaced(Slot, early: Bool)
    }

    /// The slot of a device that was seen now.
    mutating func slot(for key: Key, at now: Instant) -> Place {
        if let slot = slotOfKey[key] {
            self[slot].lastHeard = now
            moveToFront(slot)
            return .known(slot)
        }
        let isFull = devices.count >= capacity
        let isOldestStale = oldest != .none && self[oldest].lastHeard.advanced(by: maximumAge) < now
        guard isFull || isOldestStale else {
            let slot = Slot(number: devices.count)
            devices.append(Device(key: key, lastHeard: now))
            slotOfKey[key] = slot
            pushFront(slot)
            return .added(slot)
        }
        let slot = oldest
        unlink(slot)
        slotOfKey[self[slot].key] = nil
        self[slot] = Device(key: key, lastHeard: now)
        slotOfKey[key] = slot
        pushFront(slot)
        return .replaced(slot, early: !isOldestStale)
    }

    mutating func removeAll() {
        devices.removeAll()
        slotOfKey.removeAll()
        newest = .none
        oldest = .none
    }

    private mutating func moveToFront(_ slot: Slot) {
        guard newest != slot else { return }
        unlink(slot)
        pushFront(slot)
    }

    private mutating func pushFront(_ slot: Slot) {
        self[slot].newer = .none
        self[slot].older = newest
        if newest != .none { self[newest].newer = slot }
        newest = slot
        if oldest == .none { oldest = slot }
    }

    private mutating func unlink(_ slot: Slot) {
        let newer = self[slot].newer
        let older = self[slot].older
        if newer != .none { self[newer].older = older } else { newest = older }
        if older != .none { self[older].newer = newer } else { oldest = newer }
    }
}
