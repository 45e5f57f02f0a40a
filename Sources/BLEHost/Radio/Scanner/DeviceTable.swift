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
        var value: UInt64
        var kind: UInt8
        var advertisingSet: UInt8
    }

    struct Device {
        var key: Key
        var address: DeviceAddress?
        var isConnectable = false
        var isScannable = false
        var isExtended = false
        var txPower: Int8 = 127
        var advertisementHash: UInt64 = 0
        var scanResponseHash: UInt64 = 0
        var advertisement: [UInt8] = []
        var scanResponse: [UInt8] = []
        var hasScanResponse = false
        /// A discovery of this device waits for its scan response.
        var isHeld = false
        /// RSSI of the last packet, in dBm; 127 if it is unknown.
        var lastRSSI: Int8 = 127
        /// Fragments of extended advertising data that are still incomplete.
        var fragments: [UInt8] = []
        var lastHeard = Instant.zero
        fileprivate var newer = -1
        fileprivate var older = -1

        /// Changes whenever the device's data change (SPEC CEN-26). Never zero.
        var contentHash: UInt64 {
            let mixed = advertisementHash ^ (scanResponseHash &* 0x9E37_79B9_7F4A_7C15) &+ (isConnectable ? 3 : 1)
            return mixed == 0 ? 1 : mixed
        }
    }

    private let capacity: Int
    private let maximumAge: Microseconds
    private var slots: [Device] = []
    private var slotOfKey: [Key: Int] = [:]
    private var newest = -1
    private var oldest = -1

    init(capacity: Int, maximumAge: Microseconds) {
        self.capacity = max(1, capacity)
        self.maximumAge = maximumAge
    }

    var count: Int { slots.count }

    subscript(slot: Int) -> Device {
        _read { yield slots[slot] }
        _modify { yield &slots[slot] }
    }

    enum Place {
        case known(Int)
        /// A slot that no device has used before.
        case added(Int)
        /// A slot whose device was forgotten; `early` if it was forgotten because the table was full.
        case replaced(Int, early: Bool)
    }

    /// The slot of a device that was seen now.
    mutating func slot(for key: Key, address: DeviceAddress?, at now: Instant) -> Place {
        if let slot = slotOfKey[key] {
            slots[slot].lastHeard = now
            moveToFront(slot)
            return .known(slot)
        }
        let isFull = slots.count >= capacity
        let isOldestStale = oldest >= 0 && slots[oldest].lastHeard.advanced(by: maximumAge) < now
        guard isFull || isOldestStale else {
            let slot = slots.count
            slots.append(Device(key: key, address: address, lastHeard: now))
            slotOfKey[key] = slot
            pushFront(slot)
            return .added(slot)
        }
        let slot = oldest
        unlink(slot)
        slotOfKey[slots[slot].key] = nil
        slots[slot] = Device(key: key, address: address, lastHeard: now)
        slotOfKey[key] = slot
        pushFront(slot)
        return .replaced(slot, early: !isOldestStale)
    }

    mutating func removeAll() {
        slots.removeAll()
        slotOfKey.removeAll()
        newest = -1
        oldest = -1
    }

    private mutating func moveToFront(_ slot: Int) {
        guard newest != slot else { return }
        unlink(slot)
        pushFront(slot)
    }

    private mutating func pushFront(_ slot: Int) {
        slots[slot].newer = -1
        slots[slot].older = newest
        if newest >= 0 { slots[newest].newer = slot }
        newest = slot
        if oldest < 0 { oldest = slot }
    }

    private mutating func unlink(_ slot: Int) {
        let newer = slots[slot].newer
        let older = slots[slot].older
        if newer >= 0 { slots[newer].older = older } else { newest = older }
        if older >= 0 { slots[older].newer = newer } else { oldest = newer }
    }
}
