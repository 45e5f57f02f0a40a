import BLE
import BLESecurity

extension Session {
    /// The bonds of the state folder.
    var bondStore: FileBondStore {
        let console = console
        return FileBondStore(path: state.path + "/security") { console.note("\($0)") }
    }

    /// Gives an adapter the stored bonds, so that devices are recognised by their identity. If the store cannot be
    /// read, the adapter is used without it.
    func knowBonds(_ configuration: inout AdapterConfiguration) throws {
        // A daemon has its own.
        if case .daemon = try chosenTransport() { return }
        guard rawAdapter == nil, let bonds = try? bondStore.bonds(), !bonds.isEmpty else { return }
        try secure(&configuration, pairing: nil)
    }

    /// Gives an adapter cryptography, the bonds, and an agent that asks the user.
    /// - Parameters:
    ///   - pairing: the options of this side; `nil` for a command that pairs only when a device requires it.
    ///   - confirms: `--yes`.
    ///   - needsStore: whether the command needs the keys in the store.
    /// - Throws: `Failure` when `pair` or `serve` cannot store bonds, or there may be bonds that cannot be read.
    func secure(
        _ configuration: inout AdapterConfiguration, pairing: PairingOptions?, confirms: Bool = false,
        needsStore: Bool = false
    ) throws {
        configuration.cryptoProvider = SwiftCryptoProvider()
        if let pairing { configuration.security.pairing = pairing }
        configuration.pairingAgent = TerminalAgent(console: console, confirms: confirms)
        // The bonds are the daemon's.
        if case .daemon = try chosenTransport() { return }
        let store = bondStore
        do throws(BondStoreError) {
            _ = try store.load()
            configuration.bondStore = store
        } catch {
            // Reading a value needs no bond store. But if the store may have bonds that cannot be read now, a bonded
            // device would be served unencrypted.
            guard pairing == nil, !needsStore, ownAddress != .resolvable, !error.mayHideBonds else {
                throw Failure(error)
            }
            console.note("\(error.description); new keys are lost when the command ends")
        }
    }
}
