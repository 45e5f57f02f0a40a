import BLE
import BLEText
import Synchronization

/// Finds the address of the device that the user named.
///
/// A name is whatever somebody advertises. One under which a device was paired means that device alone; another is listened
/// for, and where several devices have it, none of them is taken without the user's word.
struct PeerResolver: Sendable {
    let adapter: Adapter
    let console: Console
    /// The bonds of the state folder, with the names of their devices.
    let bonds: [Bond]
    var search = PeerSearch()

    /// How long others of the same name are listened for: a little more than the longest interval at which devices that
    /// want to be found advertise.
    private static let window = Duration.milliseconds(1300)
    /// Shorter where the user has less time than that.
    private var window: Duration { search.limit.map { min(Self.window, $0 / 3) } ?? Self.window }
    /// Devices of one name that are told.
    private static let limit = 8

    /// - Returns: the address to connect to. A device that was named by its name, or by an address without its type, is
    ///   listened for until it is heard or the task is cancelled.
    /// - Throws: `Failure` when several devices have the name.
    func resolve(_ peer: PeerArgument) async throws -> DeviceAddress {
        switch peer {
        case .address(let address): address
        case .untypedAddress(let address): try await resolve(untyped: address)
        case .name(let name): try await resolve(name: name)
        }
    }

    /// A bond knows the type.
    private func resolve(untyped address: DeviceAddress) async throws -> DeviceAddress {
        let known = bonds.map(\.identity).filter { $0.value == address.value }
        if known.count == 1 { return known[0] }
        return try await listen(for: address.value)
    }

    /// A device says by its advertising whether its address is public or random.
    private func listen(for value: UInt64) async throws -> DeviceAddress {
        for try await discovery in adapter.scan(ScanRequest(isActive: false)) {
            if let address = discovery.address, address.value == value { return address.withoutIdentityMark }
        }
        throw Failure.interrupted
    }

    private func resolve(name: String) async throws -> DeviceAddress {
        let named = bonds.filter { $0.name == name }.map(\.identity)
        if named.count == 1 {
            console.note("\(name.quoted()) is \(named[0]), which is bonded")
            return named[0]
        }
        let heard = try await listen(for: name, among: named)
        guard heard.count == 1 || search.takesFirst else { throw Failure.severalDevices(of: name, heard, bonds) }
        let isBonded = bonds.contains { $0.identity == heard[0] }
        console.note("\(name.quoted()) is \(heard[0])\(isBonded ? ", which is bonded" : "")")
        return heard[0]
    }

    /// Listens until a device is heard, and then for others.
    /// - Parameter known: those that bonds know by this name; where there are some, no others count.
    /// - Returns: the devices, the first one first; at least one.
    private func listen(for name: String, among known: [DeviceAddress]) async throws -> [DeviceAddress] {
        let scan = adapter.scan(known.isEmpty ? ScanRequest(name: name) : ScanRequest(isActive: false))
        let heard = HeardDevices()
        let (firsts, first) = AsyncStream<Void>.makeStream()
        let (takesFirst, window) = (search.takesFirst, window)
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                for try await discovery in scan {
                    guard discovery.isConnectable, let address = discovery.address?.withoutIdentityMark,
                        known.isEmpty || known.contains(address)
                    else { continue }
                    heard.add(address)
                    first.yield()
                    if takesFirst || heard.all.count == Self.limit { return }
                }
            }
            group.addTask {
                for await _ in firsts { break }
                try await Task.sleep(for: window)
            }
            _ = try await group.next()
        }
        if heard.all.isEmpty { throw Failure.interrupted }
        return heard.all
    }

    /// Devices in the order in which they were heard.
    private final class HeardDevices: Sendable {
        private let devices = Mutex<[DeviceAddress]>([])

        var all: [DeviceAddress] { devices.withLock { $0 } }

        func add(_ device: DeviceAddress) {
            devices.withLock { devices in
                if !devices.contains(device) { devices.append(device) }
            }
        }
    }
}

extension Failure {
    /// Several devices have the name that the user gave.
    static func severalDevices(of name: String, _ devices: [DeviceAddress], _ bonds: [Bond]) -> Failure {
        let list = devices.map { device in
            "\(device)\(bonds.contains { $0.identity == device } ? " (bonded)" : "")"
        }
        return Failure(
            "\(devices.count) devices have the name \(name.quoted()): \(list.joined(separator: ", ")); give an "
                + "address, or --first for the first one found")
    }
}

extension Session {
    /// Finds the device and connects to it; both together are subject to the limit.
    func connect(
        to peer: PeerArgument, through adapter: Adapter, _ search: PeerSearch
    ) async throws -> Peripheral {
        let console = console
        console.showProgress("connecting to \(peer.text) …")
        defer { console.showProgress("") }
        let resolver = resolver(adapter, search)
        return try await withTimeout(search.limit, overdue: notReached(peer, search)) {
            let address = try await resolver.resolve(peer)
            return try await Self.connect(to: address, through: adapter)
        }
    }

    /// Finds the address of the device.
    func find(_ peer: PeerArgument, through adapter: Adapter, _ search: PeerSearch) async throws -> DeviceAddress {
        let resolver = resolver(adapter, search)
        return try await withTimeout(search.limit, overdue: notReached(peer, search)) {
            try await resolver.resolve(peer)
        }
    }

    private func resolver(_ adapter: Adapter, _ search: PeerSearch) -> PeerResolver {
        PeerResolver(
            adapter: adapter, console: console, bonds: (try? bondStore.bonds()) ?? [], search: search)
    }

    private func notReached(_ peer: PeerArgument, _ search: PeerSearch) -> Failure {
        Failure(
            "\(peer.text) was not reached within \(search.limit?.secondsText ?? "0") s: it is out of range, "
                + "switched off, or not advertising (--connect-timeout changes the limit)")
    }

    /// Tries again for as long as the link breaks before it stands (0x3E): the device is there and hard to reach, or
    /// the controller says so of one that it does not hear.
    private static func connect(to address: DeviceAddress, through adapter: Adapter) async throws -> Peripheral {
        while true {
            do throws(AdapterError) {
                return try await adapter.connect(to: address)
            } catch {
                guard error == .host(.connectionFailed(.connectionFailedToBeEstablished)) else { throw error }
            }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    /// Keeps with the bond what the user calls the device: from then on the name means this device.
    /// - Parameter isNew: whether the bond was made just now; else a name that it has stays.
    func remember(
        _ peer: PeerArgument, of peripheral: Peripheral, through adapter: Adapter, isNew: Bool = false
    ) async {
        guard rawAdapter == nil else { return }
        let identity = await peripheral.security?.identity ?? peripheral.address
        guard let bond = await adapter.bonds.first(where: { $0.identity == identity }) else { return }
        var name: String?
        if case .name(let given) = peer {
            if isNew || bond.name == nil { name = given }
        } else if isNew, bond.name == nil {
            name = await deviceName(of: peripheral)
        }
        guard let name, !name.isEmpty, name != bond.name else { return }
        do throws(AdapterError) { try await adapter.nameBond(identity, name) } catch {
            console.note("the name of \(identity) was not kept: \(error)")
        }
    }

    /// What the device calls itself (Core 5.4, Vol 3, Part C, 12.1); `nil` where it does not say so soon.
    private func deviceName(of peripheral: Peripheral) async -> String? {
        try? await withTimeout(.seconds(2), overdue: .interrupted) {
            let services = try await peripheral.discoverServices([BluetoothUUID(0x1800 as UInt16)])
            guard let service = services.first else { throw Failure.interrupted }
            let characteristics = try await peripheral.discoverCharacteristics(of: service)
            guard let name = characteristics.first(where: { $0.uuid == BluetoothUUID(0x2A00 as UInt16) }) else {
                throw Failure.interrupted
            }
            return String(decoding: try await peripheral.read(name), as: UTF8.self)
        }
    }
}

extension PeerArgument {
    /// As the user wrote it.
    var text: String {
        switch self {
        case .address(let address): address.description
        case .untypedAddress(let address): address.addressText
        case .name(let name): name.quoted()
        }
    }

    /// With `--random` of `hcitool`.
    func asRandom(_ isRandom: Bool) -> PeerArgument {
        guard isRandom, case .untypedAddress(let address) = self else { return self }
        return .address(DeviceAddress(value: address.value, kind: .random))
    }
}
