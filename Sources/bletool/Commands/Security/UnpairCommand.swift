import ArgumentParser
import BLE

struct UnpairCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpair",
        abstract: "Remove the bond with a device.",
        discussion: """
            The device keeps its half of the bond; remove it there as well. Needs no adapter. With -t bled, or if bled is \
            there, it is the bond of bled, with each of its adapters, as ‘bletool bonds’ lists it.

              bletool unpair 24:6F:28:AA:BB:CC
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument(help: "ADDRESS, ADDRESS/random or a name, as ‘bletool bonds’ lists it.", transform: PeerArgument.parse)
    var peer: PeerArgument

    func run(in session: Session) async throws {
        do {
            var bonds: [Bond] = []
            try await session.forEachBonds { found, _ in
                // Several adapters may have a bond with one device.
                bonds += found.filter { bond in !bonds.contains { $0.identity == bond.identity } }
            }
            let identity = try peer.bond(among: bonds)?.identity
            if let identity, try await session.removeBond(identity) {
                DatabaseMemory(state: session.state, identity: identity).forget()
                return session.console.print(
                    [
                        "event": "unpaired", "identity": .string(identity.addressText),
                        "identityType": .string(identity.kindText),
                    ], text: "forgot \(identity.addressText) \(identity.kindText)")
            }
        } catch let error as BondStoreError {
            throw Failure(error)
        }
        throw Failure("there is no bond with \(peer.text); see ‘bletool bonds’", code: .noBond)
    }
}
