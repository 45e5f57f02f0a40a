import BLEPackets

/// The devices that are remembered, each once for all apps, in slots. A slot is found by address in O(1), and the
/// devices are in the order of their last use.
///
/// There are two groups: devices that some app has used, and those that apps have only discovered. Each replaces its
/// own least recently used one. Nothing here depends on the order of a dictionary.
struct RememberedDevices {
    /// An app's identifier of a device.
    struct Name {
        var app: Int
        var identifier: PeerIdentifier
        /// Whether the app has used the device.
        var isKept = false
        /// Whether the journal has it.
        var isWritten = false
    }

    struct Device {
        let address: DeviceAddress
        /// The identifiers of all apps, oldest first: the first one of an app is the current one.
        var names: [Name] = []
        var advertisedName: String?
        var deviceName: String?
        /// Whether some app has used the device.
        fileprivate(set) var isKept = false
        fileprivate var newer = none
        fileprivate var older = none
    }

    /// Devices in the order of their last use.
    private struct Order {
        var newest = none
        var oldest = none
        var devices = 0
        var names = 0
    }

    private static let none = -1
    /// How many identifiers there may be for each remembered device: several apps may know the same devices.
    private static let namesOfDevice = 4

    private let limit: Int
    private var devices: [Device] = []
    private var free: [Int] = []
    private var slots: [DeviceAddress: Int] = [:]
    /// Those that apps have only discovered, and those that some app has used.
    private var groups = [Order(), Order()]
    /// The slot that was looked up last: all apps get the same report, one after the other.
    private var latest = none

    /// - Parameter limit: the maximum number of devices in each group.
    init(limit: Int) { self.limit = limit }

    var count: Int { slots.count }

    /// All slots. A free one has no names.
    var indices: Range<Int> { devices.indices }

    subscript(slot: Int) -> Device { _read { yield devices[slot] } }

    /// The slot of a device; `nil` if nothing is remembered about it.
    func slot(of address: DeviceAddress) -> Int? {
        // A free slot keeps its address, but is never the latest.
        if latest != Self.none, devices[latest].address == address { return latest }
        return slots[address]
    }

    /// The slot of a device, a new one if nothing is remembered about it. This counts as a use.
    mutating func use(_ address: DeviceAddress) -> Int {
        if let slot = slot(of: address) {
            use(slot)
            return slot
        }
        let device = Device(address: address)
        let slot = free.popLast() ?? devices.count
        if slot < devices.count { devices[slot] = device } else { devices.append(device) }
        slots[address] = slot
        latest = slot
        pushNewest(slot)
        return slot
    }

    /// An app discovers or uses a device again.
    mutating func use(_ slot: Int) {
        latest = slot
        guard groups[group(of: slot)].newest != slot else { return }
        unlink(slot)
        pushNewest(slot)
    }

    mutating func remove(_ slot: Int) {
        unlink(slot)
        if latest == slot { latest = Self.none }
        slots[devices[slot].address] = nil
        devices[slot].names = []
        devices[slot].advertisedName = nil
        devices[slot].deviceName = nil
        free.append(slot)
    }

    // MARK: What is known

    /// The current identifier of a device.
    func identifier(in slot: Int, app: Int) -> PeerIdentifier? {
        guard let place = devices[slot].names.firstIndex(where: { $0.app == app }) else { return nil }
        return devices[slot].names[place].identifier
    }

    func name(_ identifier: PeerIdentifier, in slot: Int, app: Int) -> Name? {
        place(of: identifier, in: slot, app: app).map { devices[slot].names[$0] }
    }

    /// Adds an identifier, or changes it.
    mutating func set(_ name: Name, in slot: Int) {
        unlink(slot)
        if let place = place(of: name.identifier, in: slot, app: name.app) {
            devices[slot].names[place] = name
        } else {
            devices[slot].names.append(name)
        }
        devices[slot].isKept = devices[slot].isKept || name.isKept
        pushNewest(slot)
    }

    mutating func removeName(_ identifier: PeerIdentifier, in slot: Int, app: Int) {
        guard let place = place(of: identifier, in: slot, app: app) else { return }
        unlink(slot)
        devices[slot].names.remove(at: place)
        pushNewest(slot)
    }

    private func place(of identifier: PeerIdentifier, in slot: Int, app: Int) -> Int? {
        devices[slot].names.firstIndex { $0.app == app && $0.identifier == identifier }
    }

    mutating func setAdvertisedName(_ name: String, in slot: Int) { devices[slot].advertisedName = name }
    mutating func setDeviceName(_ name: String, in slot: Int) { devices[slot].deviceName = name }

    // MARK: Order

    /// The least recently used device of a group that has too many; `nil` while there is room.
    var nextToForget: Int? {
        let crowded = groups.first {
            $0.devices > limit || $0.names > Self.namesOfDevice * limit && $0.devices > 1
        }
        return crowded?.oldest
    }

    private mutating func pushNewest(_ slot: Int) {
        let group = group(of: slot)
        let newest = groups[group].newest
        devices[slot].newer = Self.none
        devices[slot].older = newest
        if newest != Self.none { devices[newest].newer = slot } else { groups[group].oldest = slot }
        groups[group].newest = slot
        groups[group].devices += 1
        groups[group].names += devices[slot].names.count
    }

    private mutating func unlink(_ slot: Int) {
        let group = group(of: slot)
        let (newer, older) = (devices[slot].newer, devices[slot].older)
        if newer != Self.none { devices[newer].older = older } else { groups[group].newest = older }
        if older != Self.none { devices[older].newer = newer } else { groups[group].oldest = newer }
        groups[group].devices -= 1
        groups[group].names -= devices[slot].names.count
    }

    private func group(of slot: Int) -> Int { devices[slot].isKept ? 1 : 0 }
}
