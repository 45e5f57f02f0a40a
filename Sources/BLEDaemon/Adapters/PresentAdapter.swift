import BLEHost
import BLEPackets
import BLETransport

/// One of the kernel's adapters that is there, and by what it is recognized.
public struct PresentAdapter: Hashable, Sendable {
    /// The number in `hci0`.
    public let index: UInt16
    /// What the kernel reports; zero if the controller has none, or the kernel has not read it.
    public let address: DeviceAddress
    /// The place of the device; `nil` for one without a device, such as a virtual one.
    public let place: String?
    /// Whether an LE host may have use of it.
    public let mayHaveLowEnergy: Bool
    /// By what it is recognized; `nil`: it has only its number.
    public fileprivate(set) var key: AdapterKey?

    /// `hci0`.
    public var name: String { "hci\(index)" }
    /// As logs and manifests may call it.
    var text: String { key?.text ?? name }
    var isUnnamed: Bool { address.value == 0 }
    /// Whether the kernel has read an address.
    public var hasAddress: Bool { !isUnnamed }

    init(_ adapter: KernelAdapter, place: String?) {
        (index, address, self.place) = (adapter.index, adapter.address, place)
        mayHaveLowEnergy = adapter.mayHaveLowEnergy
    }
}

/// The kernel's adapters that are there, lowest number first.
public struct PresentAdapters: Sendable {
    public private(set) var all: [PresentAdapter]

    /// Asks the kernel and sysfs.
    /// - Parameter owners: the places of the adapters that have an address, as far as they are known: where several have
    ///   one address, only that one is recognized by it.
    /// - Throws: `TransportError` if the kernel's adapters cannot be listed.
    public static func list(
        owners: [DeviceAddress: String] = [:]
    ) throws(TransportError) -> PresentAdapters {
        PresentAdapters(try AdapterList.adapters(), owners: owners) { AdapterHardware.read($0).place }
    }

    /// - Parameter place: the place of an adapter.
    init(_ adapters: [KernelAdapter], owners: [DeviceAddress: String] = [:], place: (UInt16) -> String?) {
        all = adapters.sorted { $0.index < $1.index }.map { PresentAdapter($0, place: place($0.index)) }
        for index in all.indices {
            let adapter = all[index]
            if owner(of: adapter.address, owners)?.index == adapter.index {
                all[index].key = .address(adapter.address)
            } else {
                all[index].key = adapter.place.map { .place($0) }
            }
        }
    }

    /// The one of several adapters with an address that is recognized by it.
    private func owner(of address: DeviceAddress, _ owners: [DeviceAddress: String]) -> PresentAdapter? {
        guard address.value != 0, !address.isSharedByMany else { return nil }
        let bearers = all.filter { $0.address == address }
        guard bearers.count > 1 else { return bearers.first }
        if let place = owners[address], let known = bearers.first(where: { $0.place == place }) { return known }
        // The same one at each start, whatever the numbers are.
        return bearers.min { ($0.place ?? "", $0.index) < ($1.place ?? "", $1.index) }
    }

    /// The adapter that is meant by a key.
    public func adapter(_ key: AdapterKey) -> PresentAdapter? { adapter(key) { _ in true } }

    /// - Parameter isFree: whether no other daemon has it.
    func adapter(_ key: AdapterKey, isFree: (PresentAdapter) -> Bool) -> PresentAdapter? {
        if let found = all.first(where: { $0.key == key && isFree($0) }) { return found }
        switch key {
        case .place(let place): return all.first { $0.place == place && isFree($0) }
        case .address(let address):
            // A shared address means its only bearer.
            let bearers = all.filter { $0.address == address && address.value != 0 && isFree($0) }
            return bearers.count == 1 ? bearers[0] : nil
        }
    }

    /// The adapter with this number.
    public subscript(index: UInt16) -> PresentAdapter? { all.first { $0.index == index } }

    /// The texts of all keys.
    public var names: Set<String> { Set(all.compactMap { $0.key?.text }) }
}
