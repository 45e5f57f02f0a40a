@_spi(HostRunner) import BLE
import BLEPackets
import BLETransport

/// The kernel's adapter that the daemon has.
extension Daemon {
    /// Finds the kernel's adapter by its address, whatever its index is now.
    /// - Returns: why it cannot be opened.
    func findAdapter() throws(TransportError) -> String? {
        guard case .userChannel(var index) = runner.address else { return nil }
        guard let wanted = adapterAddress else {
            if configuration.takesFirstAdapter {
                let present = Self.usableAdapters(try AdapterList.adapters())
                let choices = present.map { (address: $0.address.addressText, index: $0.index) }
                guard let first = configuration.adapters.chooseFirst(among: choices) else {
                    return "no adapter is there; plug one in"
                }
                index = first
                runner.address = .userChannel(adapter: index)
            }
            let address = try AdapterList.adapter(index).address
            if address.value != 0 {
                adapterAddress = address
                neighbours.note(try AdapterList.adapters().map { ($0.address, $0.index) }, besides: address)
                configuration.adapters.hasCome(index)
                configuration.adapterAppeared(address)
                adapterBecameKnown()
            }
            return nil
        }
        let present = try AdapterList.adapters()
        guard let found = present.first(where: { $0.address == wanted }) else {
            if takeReplacement(of: wanted, among: present) { return nil }
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
    private func takeReplacement(of wanted: DeviceAddress, among present: [KernelAdapter]) -> Bool {
        let places = Self.usableAdapters(present).map { (address: $0.address, index: $0.index) }
        guard let mayReplace = configuration.adapterReplaced, let new = neighbours.newcomer(among: places),
            !configuration.adapters.isTaken(address: new.address.addressText, index: new.index),
            mayReplace(wanted, new.address)
        else { return false }
        configuration.log("hci\(new.index), \(new.address.addressText), is used in place of \(wanted.addressText)")
        adapterAddress = new.address
        runner.address = .userChannel(adapter: new.index)
        adapterBecameKnown()
        return true
    }

    /// Manifests may name their adapter by its address. The first reading is still to come if nothing was opened before.
    private func adapterBecameKnown() {
        guard hasReadApps else { return }
        readInstalledApps()
        forgetUninstalledApps()
    }

    /// Those with LE whose address is known.
    static func usableAdapters(_ adapters: [KernelAdapter]) -> [KernelAdapter] {
        adapters.filter { $0.kind != .amp && $0.address.value != 0 }
    }

    /// Whether every name of the adapter is known: the kernel has the address only of one that is there.
    var isAdapterKnown: Bool {
        if case .userChannel = runner.address { adapterAddress != nil } else { true }
    }

    /// An adapter that is plugged in again is opened at once.
    func watchAdapters() {
        guard case .userChannel = runner.address else { return }
        // One that is not there yet is looked for again when it is opened.
        _ = try? findAdapter()
        do throws(TransportError) {
            arrivals = try AdapterArrivals(on: loop) { [unowned self] _ in adapterCame() }
        } catch {
            configuration.warn("an adapter that is plugged in is noticed later: \(error)")
        }
    }
}
