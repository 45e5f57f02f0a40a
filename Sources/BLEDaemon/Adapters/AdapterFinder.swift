@_spi(HostRunner) import BLE
import BLEPackets
import BLETransport

/// Finds the kernel's adapter that the daemon has.
struct AdapterFinder {
    private let configuration: Daemon.Configuration
    private let member: AdapterBook.Member
    /// By what the adapter is found again under another number; `nil`: only its number is known.
    private(set) var key: AdapterKey?
    /// The adapter as it was found last.
    private(set) var current: PresentAdapter?
    private var neighbours = AdapterNeighbours()
    private var arrivals: AdapterArrivals?
    private var endsWatch: () -> Void = {}

    init(_ configuration: Daemon.Configuration) {
        self.configuration = configuration
        key = configuration.adapterKey
        let book = configuration.adapters
        member = book.join()
        if configuration.isNamedByTransport { book.add("\(configuration.transport)", to: member) }
        if let key {
            book.claim(key, place: nil, index: nil, by: member)
        } else if configuration.takesFirstAdapter {
            book.awaitsFirst()
        } else if case .userChannel(let index) = configuration.transport {
            book.awaits(index, by: member)
        }
    }

    /// The adapter's public address, if no other has it.
    var ownAddress: DeviceAddress? { if case .address(let address)? = key { address } else { nil } }

    /// Where the adapter is to be opened, or why it cannot.
    enum Finding: Equatable {
        /// The address to open; the same as before unless the adapter has another number.
        case found(TransportAddress)
        case missing(String)
    }

    /// Finds the adapter by its key, whatever its number is now.
    /// - Parameter address: how it was reached last.
    mutating func find(_ address: TransportAddress) throws(TransportError) -> Finding {
        guard case .userChannel(let index) = address else { return .found(address) }
        let present = try configuration.listAdapters()
        guard let wanted = key else { return try findFirst(index, present) }
        let (book, member) = (configuration.adapters, member)
        guard let found = present.adapter(wanted, isFree: { !book.isTaken($0, besides: member) }) else {
            if let new = takeReplacement(of: wanted, among: present) { return .found(.userChannel(adapter: new.index)) }
            return .missing("the adapter \(wanted.text) is not there; plug it in, or name another with ‘--adapter’")
        }
        take(found, wanted, present)
        if found.index != index { configuration.log("the adapter \(wanted.text) is \(found.name) now") }
        return .found(.userChannel(adapter: found.index))
    }

    private mutating func findFirst(
        _ wanted: UInt16, _ present: PresentAdapters
    ) throws(TransportError) -> Finding {
        var index = wanted
        if configuration.takesFirstAdapter, current == nil {
            guard let first = configuration.adapters.chooseFirst(among: configuration.adapters.usable(present)) else {
                return .missing("no adapter is there; plug one in")
            }
            index = first.index
        }
        guard let adapter = present[index] else {
            throw .noSuchAdapter(index: index, present: present.all.map(\.name))
        }
        know(adapter)
        take(adapter, key, present)
        configuration.adapters.hasCome(index)
        return .found(.userChannel(adapter: index))
    }

    private mutating func know(_ adapter: PresentAdapter) {
        // The address of one that the kernel still sets up comes later, and is its key then.
        let book = configuration.adapters
        guard let key = adapter.key, !adapter.isUnnamed || book.hasAccepted(adapter.index),
            !book.isTaken(key, besides: member)
        else { return }
        self.key = key
        configuration.adapterAppeared(key)
    }

    /// The controller works: what address it has is known.
    mutating func isReady() {
        guard key == nil, let current, current.isUnnamed else { return }
        configuration.adapters.accept(unnamed: current.index)
        know(current)
        configuration.adapters.claim(key, place: current.place, index: current.index, by: member)
    }

    private mutating func take(_ adapter: PresentAdapter, _ key: AdapterKey?, _ present: PresentAdapters) {
        current = adapter
        neighbours.note(present, besides: key)
        configuration.adapters.claim(key, place: adapter.place, index: adapter.index, by: member)
        if case .address(let address)? = key, let place = adapter.place { configuration.adapterIsAt(address, place) }
    }

    /// A stick that was plugged in in place of the daemon's own takes over what that one had, as at a restart.
    private mutating func takeReplacement(of wanted: AdapterKey, among present: PresentAdapters) -> PresentAdapter? {
        guard let mayReplace = configuration.adapterReplaced,
            let new = neighbours.newcomer(among: configuration.adapters.usable(present)), let newKey = new.key,
            !configuration.adapters.isTaken(new, besides: member), mayReplace(wanted, newKey)
        else { return nil }
        configuration.log("\(new.name), \(newKey.text), is used in place of \(wanted.text)")
        key = newKey
        take(new, newKey, present)
        return new
    }

    /// Another adapter is taken because the daemon's own cannot be used.
    /// - Returns: `nil` if there is none, or this daemon has a certain one.
    mutating func takeNext() throws(TransportError) -> PresentAdapter? {
        guard let mayReplace = configuration.adapterReplaced, configuration.takesAnyAdapter, let wanted = key else {
            return nil
        }
        let present = try configuration.listAdapters()
        let others = configuration.adapters.usable(present).filter { $0.key != wanted && $0.index != current?.index }
        for new in others where !configuration.adapters.isTaken(new, besides: member) {
            guard let newKey = new.key, mayReplace(wanted, newKey) else { continue }
            key = newKey
            take(new, newKey, present)
            return new
        }
        return nil
    }

    /// An adapter that is plugged in again is opened at once.
    mutating func watch(_ runner: HostRunner, came: @escaping () -> Void) {
        if case .usb = runner.address { return watchDevices(runner, came: came) }
        guard case .userChannel = runner.address else { return }
        // One that is not there yet is looked for again when it is opened.
        if case .found(let address)? = try? find(runner.address) { runner.address = address }
        do throws(TransportError) { arrivals = try AdapterArrivals(on: runner.loop) { _ in came() } } catch {
            configuration.warn("an adapter that is plugged in is noticed later: \(error)")
        }
    }

    private mutating func watchDevices(_ runner: HostRunner, came: @escaping () -> Void) {
        guard let watch = configuration.watchDevices else { return }
        do throws(TransportError) { endsWatch = try watch(runner.loop, came) } catch {
            configuration.warn("a device that is plugged in is noticed later: \(error)")
        }
    }

    func stop() {
        arrivals?.cancel()
        endsWatch()
    }
}
