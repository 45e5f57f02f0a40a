import BLEPackets

/// The kernel's adapters that were there together with the daemon's own: one that is not among them when that one is
/// gone has been plugged in in its place. After a failure of a hub they may all be back in another order.
struct AdapterNeighbours {
    /// The address is zero while the kernel has not read it.
    typealias Place = (address: DeviceAddress, index: UInt16)

    /// `nil`: the daemon's adapter has not been there yet.
    private var addresses: Set<DeviceAddress>?
    /// The indexes of those without an address.
    private var unnamed: Set<UInt16> = []

    /// The daemon's own adapter is there.
    mutating func note(_ present: [Place], besides own: DeviceAddress) {
        addresses = Set(present.map(\.address)).subtracting([own])
        unnamed = Set(present.filter { $0.address.value == 0 }.map(\.index))
    }

    /// The adapter that takes the place of the daemon's own, which is gone; `nil` if there is none, or more than one.
    func newcomer(among present: [Place]) -> Place? {
        guard let addresses else { return nil }
        let new = present.filter {
            $0.address.value != 0 && !addresses.contains($0.address) && !unnamed.contains($0.index)
        }
        return new.count == 1 ? new[0] : nil
    }
}
