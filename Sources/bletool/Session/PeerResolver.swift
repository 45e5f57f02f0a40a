import BLE
import BLEText
import Glibc
import Synchronization

/// Finds the address of the device that the user named.
///
/// Any device can advertise any name. A name under which a device was paired means only that device; other names are
/// searched for, and if several devices have one, none is used without the user's choice.
struct PeerResolver: Sendable {
    let adapter: Adapter
    let console: Console
    /// The bonds of the state folder, with the names of their devices.
    let bonds: [Bond]
    var search = PeerSearch()
    /// What was found while the device was looked for.
    var heard = HeardDevices()

    /// How long to search for other devices with the same name: a little more than the longest advertising interval of
    /// discoverable devices.
    private static let window = Duration.milliseconds(1300)
    /// Shorter if the user's timeout is short.
    private var window: Duration { search.limit.map { min(Self.window, $0 / 3) } ?? Self.window }
    /// The maximum number of devices that are listed for one name.
    private static let limit = 8

    /// - Returns: the address to connect to. For a name, or an address without a type, it scans until the device is
    ///   found or the task is cancelled.
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

    /// Advertising shows whether an address is public or random.
    private func listen(for value: UInt64) async throws -> DeviceAddress {
        for try await discovery in adapter.scan(scan(isActive: false)) {
            guard let address = discovery.address?.withoutIdentityMark, address.value == value else { continue }
            if discovery.isConnectable { return address }
            reportUnconnectable(discovery, address.description)
        }
        throw Failure.interrupted
    }

    private func scan(isActive: Bool) -> ScanRequest {
        var request = ScanRequest(isActive: isActive)
        request.scansCodedPHY = search.phys?.contains(.leCoded) ?? false
        return request
    }

    private func resolve(name: String) async throws -> DeviceAddress {
        let named = bonds.filter { !$0.isOfAnotherUser }.named(name).map(\.identity)
        if named.count == 1 {
            console.note("\(name.quoted()) is \(named[0]), which is bonded")
            return named[0]
        }
        var heard = try await listen(for: name, among: named)
        // A name that another user of bled gave sends an operator nowhere; but no other device is taken for that one.
        let others = named.isEmpty ? bonds.filter(\.isOfAnotherUser).named(name).map(\.identity) : []
        if !heard.contains(where: others.contains) { heard += others }
        guard heard.count == 1 || search.takesFirst else { throw Failure.severalDevices(of: name, heard, bonds) }
        let isBonded = bonds.contains { $0.identity == heard[0] }
        console.note("\(name.quoted()) is \(heard[0])\(isBonded ? ", which is bonded" : "")")
        return heard[0]
    }

    /// Scans until a device is found, and then for others.
    /// - Parameter known: the bonded devices with this name; if there are any, no others count.
    /// - Returns: the devices in the order of discovery; at least one.
    private func listen(for name: String, among known: [DeviceAddress]) async throws -> [DeviceAddress] {
        let scan = adapter.scan(scan(isActive: known.isEmpty))
        let heard = heard
        let (firsts, first) = AsyncStream<Void>.makeStream()
        let (takesFirst, window) = (search.takesFirst, window)
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                for try await discovery in scan {
                    guard let address = discovery.address?.withoutIdentityMark else { continue }
                    let heardName = discovery.advertisingData.localNameWithoutPadding ?? ""
                    guard known.isEmpty ? heardName.isSameName(as: name) : known.contains(address) else {
                        if known.isEmpty { heard.addOther(heardName, near: name) }
                        continue
                    }
                    guard discovery.isConnectable else {
                        reportUnconnectable(discovery, name.quoted())
                        continue
                    }
                    let isExact = !known.isEmpty || heardName.withoutPadding == name.withoutPadding
                    heard.add(address, isExact: isExact)
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

    private func reportUnconnectable(_ discovery: Discovery, _ text: String) {
        guard heard.addUnconnectable(discovery) else { return }
        console.note("\(text) is heard, but does not accept connections now; waiting until it does")
    }
}

/// The devices that were found while one was looked for.
final class HeardDevices: Sendable {
    private struct State {
        var exact: [DeviceAddress] = []
        var similar: [DeviceAddress] = []
        var unconnectable: Discovery?
        var hasLostLinks = false
        var others: HeardNames?
    }

    private let state = Mutex(State())

    /// Devices that accept connections, in the order of discovery; those whose name differs in case only
    /// count where no other has the name.
    var all: [DeviceAddress] { state.withLock { $0.exact.isEmpty ? $0.similar : $0.exact } }

    /// A device that advertises and accepts no connections.
    var unconnectable: Discovery? { state.withLock { $0.unconnectable } }

    /// Whether the device has answered requests to connect, but no link was established.
    var hasLostLinks: Bool { state.withLock { $0.hasLostLinks } }

    /// The names of other devices, those most like the one that is looked for first.
    var others: [String] { state.withLock { $0.others?.names ?? [] } }

    func addOther(_ name: String, near wanted: String) {
        state.withLock { state in
            var others = state.others ?? HeardNames(near: wanted)
            others.add(name)
            state.others = others
        }
    }

    func recordLostLink() { state.withLock { $0.hasLostLinks = true } }

    func add(_ device: DeviceAddress, isExact: Bool) {
        state.withLock { state in
            if isExact {
                if !state.exact.contains(device) { state.exact.append(device) }
            } else if !state.similar.contains(device) {
                state.similar.append(device)
            }
        }
    }

    /// - Returns: whether it is the first.
    func addUnconnectable(_ discovery: Discovery) -> Bool {
        state.withLock { state in
            defer { state.unconnectable = discovery }
            return state.unconnectable == nil
        }
    }
}

extension String {
    /// Without the spaces and zeros at the end, with which some devices fill a fixed field.
    var withoutPadding: String {
        var octets = Array(utf8)
        while octets.last == 0 || octets.last == UInt8(ascii: " ") { octets.removeLast() }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Whether both are the same name; case and padding do not matter.
    func isSameName(as other: String) -> Bool {
        self == other || withoutPadding.lowercased() == other.withoutPadding.lowercased()
    }
}

extension Bond {
    /// Whether an ordinary user other than this one paired the device through `bled`; only operators know such bonds.
    var isOfAnotherUser: Bool { user.map { !$0.isOperator && $0.number != geteuid() } ?? false }
}

extension [Bond] {
    /// The bonds that know their device by this name; case matters only where several differ in nothing else.
    func named(_ name: String) -> [Bond] {
        let exact = filter { $0.name == name }
        return exact.isEmpty ? filter { $0.name?.isSameName(as: name) ?? false } : exact
    }
}

extension PeerArgument {
    /// What was heard instead of a name, to put behind a message.
    func advice(heard: [String]) -> String {
        guard case .name(let name) = self else { return "" }
        return name.advice(heard: heard)
    }
}

extension String {
    /// What was heard instead of this name, to put behind a message.
    func advice(heard: [String]) -> String {
        guard !heard.isEmpty else { return "" }
        return "; heard instead: \(heard.map { $0.quoted() }.joined(separator: ", "))"
            + Suggestion(for: self, among: heard).text
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
                + "address, or --first for the first one found", code: .ambiguousName)
    }
}

extension Session {
    /// Finds the device and connects to it; both together are subject to the limit.
    func connect(
        to peer: PeerArgument, through adapter: Adapter, _ search: PeerSearch
    ) async throws -> Peripheral {
        return try await reaching(for: peer, through: adapter, search, "connecting to \(peer.text)") { resolver in
            let address = try await resolver.resolve(peer)
            return try await Self.connect(to: address, resolver)
        }
    }

    /// Finds the address of the device.
    func find(_ peer: PeerArgument, through adapter: Adapter, _ search: PeerSearch) async throws -> DeviceAddress {
        try await reaching(for: peer, through: adapter, search, "looking for \(peer.text)") { resolver in
            try await resolver.resolve(peer)
        }
    }

    /// How long a device that was not reached is listened for, to say why.
    private static let lastLook = Duration.milliseconds(1500)

    /// After how long without the name it is asked whether another one was meant.
    private static let doubt = Duration.seconds(3)

    /// Does what needs a device, within the limit, and says that it waits.
    private func reaching<Value: Sendable>(
        for peer: PeerArgument, through adapter: Adapter, _ search: PeerSearch, _ what: String,
        _ body: @escaping @Sendable (PeerResolver) async throws -> Value
    ) async throws -> Value {
        let resolver = PeerResolver(
            adapter: adapter, console: console, bonds: await bonds(of: adapter), search: search)
        let waiting = WaitingNote(what, limit: search.limit, on: console) { resolver.heard.unconnectable != nil }
        let guess = Task { [console] in
            try await Task.sleep(for: Self.doubt)
            guard case .name(let name) = peer, resolver.heard.all.isEmpty, resolver.heard.unconnectable == nil,
                let word = Suggestion(for: name, among: resolver.heard.others).word
            else { return }
            console.note("\(name.quoted()) is not heard so far; did you mean \(word.quoted())?")
        }
        defer {
            guess.cancel()
            waiting.end()
        }
        let overdue = Failure("the time is over")
        do {
            return try await withTimeout(search.limit, overdue: overdue) { try await body(resolver) }
        } catch let failure as Failure where failure == overdue {
            waiting.end()
            throw await notReached(peer, resolver)
        }
    }

    /// Why the device was not reached, as far as its advertising shows it.
    private func notReached(_ peer: PeerArgument, _ resolver: PeerResolver) async -> Failure {
        if resolver.heard.unconnectable == nil, let value = peer.addressValue {
            let adapter = resolver.adapter
            // A device that has just been asked in vain may still advertise.
            try? await withDeadline(after: Self.lastLook) {
                for try await discovery in adapter.scan(ScanRequest(isActive: false, allowsDuplicates: true))
                where discovery.address?.value == value {
                    if discovery.isConnectable { break }
                    _ = resolver.heard.addUnconnectable(discovery)
                    break
                }
            }
        }
        let limit = resolver.search.limit?.secondsText ?? "0"
        if resolver.heard.hasLostLinks {
            return Failure(
                "no link to \(peer.text) was established within \(limit) s, although it was heard: it is at the edge of "
                    + "the range, or answers too late (--connect-timeout changes the limit)", code: .connectionFailed)
        }
        guard let discovery = resolver.heard.unconnectable else {
            var isShared = false
            if case .name = peer, case .daemon = resolver.adapter.address { isShared = true }
            let others = isShared ? "; one that another program of bled uses is found by its address only" : ""
            return Failure(
                "\(peer.text) was not reached within \(limit) s: it is out of range, switched off, or not advertising"
                    + "\(others) (--connect-timeout changes the limit)" + peer.advice(heard: resolver.heard.others),
                code: .deviceNotReached)
        }
        let strength = discovery.rssi == 127 ? "" : " at \(discovery.rssi) dBm"
        return Failure(
            "\(peer.text) is heard\(strength), but does not accept connections: it is a beacon, is connected to "
                + "another device, or has to be made connectable (its button, its app); waited \(limit) s "
                + "(--connect-timeout changes the limit)", code: .deviceNotConnectable)
    }

    /// Tries again while the connection fails to be established (0x3E): the device is at the edge of the range, or the
    /// controller reports this for a device that does not answer.
    private static func connect(
        to address: DeviceAddress, _ resolver: PeerResolver
    ) async throws -> Peripheral {
        let search = resolver.search
        var request = ConnectRequest(peer: address)
        request.phys = search.phys
        request.pace = search.pace
        request.parameterPolicy = search.parameterPolicy
        while true {
            do {
                return try await resolver.adapter.connect(request)
            } catch BLEError.connectionFailed(.connectionFailedToBeEstablished) {
                resolver.heard.recordLostLink()
            }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    /// Stores the name that the user has given with the bond: from then on the name means this device.
    /// - Parameter isNew: whether the bond is new; otherwise an existing name is kept.
    func remember(
        _ peer: PeerArgument, of peripheral: Peripheral, through adapter: Adapter, isNew: Bool = false
    ) async {
        guard rawAdapter == nil else { return }
        let identity = await peripheral.security?.identity ?? peripheral.address
        guard let bond = await adapter.bonds.first(where: { $0.identity == identity }) else {
            // Another user of bled may have paired the device first; and some devices keep no bond.
            if isNew, case .name = peer {
                console.note(
                    "this user has no bond with \(identity), so \(peer.text) may also mean other devices: give the address "
                        + "instead")
            }
            return
        }
        var name: String?
        if case .name(let given) = peer {
            if isNew || bond.name == nil { name = given }
        } else if isNew, bond.name == nil {
            name = await deviceName(of: peripheral)
        }
        guard let name, !name.isEmpty, name != bond.name else { return }
        do { try await adapter.nameBond(identity, name) } catch {
            console.note("the name of \(identity) was not kept: \(error)")
        }
    }

    /// The device name (Core 5.4, Vol 3, Part C, 12.1); `nil` if the device does not answer soon.
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

    /// The 48 bits of an address; `nil` for a name.
    var addressValue: UInt64? {
        switch self {
        case .address(let address), .untypedAddress(let address): address.value
        case .name: nil
        }
    }

    /// With `--random` of `hcitool`.
    func asRandom(_ isRandom: Bool) -> PeerArgument {
        guard isRandom, case .untypedAddress(let address) = self else { return self }
        return .address(DeviceAddress(value: address.value, kind: .random))
    }
}
