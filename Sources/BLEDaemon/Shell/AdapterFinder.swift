@_spi(HostRunner) import BLE
import BLEPackets
import BLETransport

/// Finds the kernel's adapter that the daemon has.
struct AdapterFinder {
    private let configuration: Daemon.Configuration
    /// The address of the kernel's adapter, by which it is found again under another index.
    private(set) var address: DeviceAddress? {
        didSet { if let address { configuration.adapters.add(address.addressText) } }
    }
    private var neighbours = AdapterNeighbours()
    private var arrivals: AdapterArrivals?

    init(_ configuration: Daemon.Configuration) {
        self.configuration = configuration
        address = configuration.adapterAddress
        let book = configuration.adapters
        if configuration.isNamedByTransport { book.add("\(configuration.transport)") }
        // Observers do not see what an initializer sets.
        if let address { book.add(address.addressText) }
        if configuration.takesFirstAdapter {
            book.awaitsFirst()
        } else if address == nil, case .userChannel(let index) = configuration.transport {
            book.awaits(index)
        }
    }

    /// Finds the adapter by its address, whatever its index is now.
    /// - Returns: why it cannot be opened.
    mutating func find(for runner: HostRunner) throws(TransportError) -> String? {
        guard case .userChannel(var index) = runner.address else { return nil }
        guard let wanted = address else {
            if configuration.takesFirstAdapter {
                let present = Self.usable(try AdapterList.adapters())
                let choices = present.map { (address: $0.address.addressText, index: $0.index) }
                guard let first = configuration.adapters.chooseFirst(among: choices) else {
                    return "no adapter is there; plug one in"
                }
                index = first
                runner.address = .userChannel(adapter: index)
            }
            let address = try AdapterList.adapter(index).address
            if address.value != 0 {
                self.address = address
                neighbours.note(try AdapterList.adapters().map { ($0.address, $0.index) }, besides: address)
                configuration.adapters.hasCome(index)
                configuration.adapterAppeared(address)
            }
            return nil
        }
        let present = try AdapterList.adapters()
        guard let found = present.first(where: { $0.address == wanted }) else {
            if takeReplacement(of: wanted, among: present, runner) { return nil }
            return "the adapter \(wanted.addressText) is not there; plug it in, or name another with ‘--adapter’"
        }
        neighbours.note(present.map { ($0.address, $0.index) }, besides: wanted)
        if found.index != index {
            configuration.log("the adapter \(wanted.addressText) is \(found.name) now")
            runner.address = .userChannel(adapter: found.index)
        }
        return nil
    }

    /// A stick that was plugged in in place of the daemon's own takes over what that one had, as at a restart.
    private mutating func takeReplacement(
        of wanted: DeviceAddress, among present: [KernelAdapter], _ runner: HostRunner
    ) -> Bool {
        let places = Self.usable(present).map { (address: $0.address, index: $0.index) }
        guard let mayReplace = configuration.adapterReplaced, let new = neighbours.newcomer(among: places),
            !configuration.adapters.isTaken(address: new.address.addressText, index: new.index),
            mayReplace(wanted, new.address)
        else { return false }
        configuration.log("hci\(new.index), \(new.address.addressText), is used in place of \(wanted.addressText)")
        address = new.address
        runner.address = .userChannel(adapter: new.index)
        return true
    }

    /// Those with LE whose address is known.
    static func usable(_ adapters: [KernelAdapter]) -> [KernelAdapter] {
        adapters.filter { $0.kind != .amp && $0.address.value != 0 }
    }

    /// An adapter that is plugged in again is opened at once.
    mutating func watch(_ runner: HostRunner, came: @escaping () -> Void) {
        guard case .userChannel = runner.address else { return }
        // One that is not there yet is looked for again when it is opened.
        _ = try? find(for: runner)
        do throws(TransportError) { arrivals = try AdapterArrivals(on: runner.loop) { _ in came() } } catch {
            configuration.warn("an adapter that is plugged in is noticed later: \(error)")
        }
    }

    func stop() { arrivals?.cancel() }
}
