import ArgumentParser
import BLE

struct PairCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair with a device and save the bond.",
        discussion: """
            --io selects the method: none asks nothing and does not protect against a man in the middle; display \
            shows a passkey to enter on the device; keyboard asks for the passkey that the device shows; yesno and \
            kbdisp compare numbers if both sides can. The bond is saved in the state folder, readable only by its \
            owner.

            With a bonded device, the link is encrypted with the bond first. If you require more than the bond \
            provides (--mitm), both sides pair again over that link. A device that has lost its keys cannot encrypt \
            the link: use --replace to replace its bond.

              bletool pair 24:6F:28:AA:BB:CC
              bletool pair Lock --io keyboard --mitm
              bletool pair Lock --io keyboard --passkey-file lock.passkey
              bletool pair Lock --replace
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    static var trial: String { "bletool -t sim pair 'Lock 271828' --io keyboard --passkey 271828" }

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var pairing: PairingArguments

    @Flag(help: "Replace the bond with a device that has lost its keys and cannot prove its identity.")
    var replace = false

    @Argument(peerHelp) var peer: PeerArgument

    func run(in session: Session) async throws {
        if session.rawAdapter != nil {
            throw Failure("on raw: the kernel does the pairing; use the user channel (-t user:N)", status: .usage)
        }
        let (peer, search, pairing) = (peer, connection.search, pairing)
        var options = try pairing.options()
        options.replacesBond = replace
        let adjust: (inout AdapterConfiguration) throws -> Void = { [options] configuration in
            try session.secure(&configuration, pairing: options, confirms: pairing.yes)
            // The command itself decides how an existing bond is used.
            configuration.security.encryptsAtConnection = false
        }
        try await session.withAdapter(adjusting: adjust) { adapter in
            let peripheral = try await session.connect(to: peer, through: adapter, search)
            let summary = try await peripheral.pair()
            session.console.print(BondOutput.object(summary), text: BondOutput.text(summary))
            await session.remember(peer, of: peripheral, through: adapter, isNew: true)
            // Some devices forget a pairing if the link ends before they have stored it.
            try? await Task.sleep(for: .milliseconds(200))
        }
    }
}
