import ArgumentParser
import BLE

struct PairCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair with a device, and keep the bond.",
        discussion: """
            What this side can show and ask decides how: --io none pairs without a question and protects against \
            nobody in between; display shows a passkey that is typed on the device; keyboard asks for the one that it \
            shows; yesno and kbdisp compare numbers where both can. The bond lies in the state folder, in a file that \
            nobody else can read.

              bletool pair 24:6F:28:AA:BB:CC
              bletool pair Lock --io keyboard --mitm
              bletool pair Lock --io keyboard --passkey 123456
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var pairing: PairingArguments
    @Argument(help: peerHelp) var peer: PeerArgument

    func run(in session: Session) async throws {
        if session.rawAdapter != nil {
            throw Failure("the kernel pairs on raw:; take the user channel (-t user:N) for that", status: .usage)
        }
        let (peer, search, pairing) = (peer, connection.search, pairing)
        let adjust: (inout AdapterConfiguration) throws -> Void = { configuration in
            try session.secure(&configuration, pairing: pairing.options, confirms: pairing.yes)
            // An older bond is renewed; the command says so itself.
            configuration.security.encryptsAtConnection = false
        }
        try await session.withAdapter(adjusting: adjust) { adapter in
            let peripheral = try await session.connect(to: peer, through: adapter, search)
            let summary = try await peripheral.pair()
            session.console.print(BondOutput.object(summary), text: BondOutput.text(summary))
            await session.remember(peer, of: peripheral, through: adapter, isNew: true)
            // Some devices forget a pairing whose link ends before they have written it down.
            try? await Task.sleep(for: .milliseconds(200))
        }
    }
}
