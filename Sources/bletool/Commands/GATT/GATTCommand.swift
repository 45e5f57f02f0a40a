import ArgumentParser
import BLE
import BLEScripts
import Glibc

struct GATTCommand: CommandGroupHelp {
    static let configuration = CommandConfiguration(
        commandName: "gatt",
        abstract: "Connect to a device and use its services.",
        usage: "bletool gatt PEER [discover|read|write|subscribe|script|shell …]",
        discussion: """
            Without a verb, on a terminal, starts a shell, in which you type operations.

            PEER is ADDRESS, ADDRESS/random or a name. TARGET is a UUID or its assigned name, such as 'Battery Level', \
            SERVICE/UUID or 0xHANDLE. For a name, or an address without a type, bletool scans first. The name under \
            which a device was paired means that device only. The address that was chosen goes to standard error. The \
            link is closed at the end. The link to a bonded device is encrypted. If a device refuses a request because \
            the link is not secure, bletool pairs and repeats it.

              bletool gatt 24:6F:28:AA:BB:CC discover
              bletool gatt Thermometer read 180F/2A19
              bletool gatt Thermometer write 0x0021 01ff --command
              bletool gatt Thermometer subscribe 2A37 --count 3
            """,
        subcommands: [
            GATTDiscoverCommand.self, GATTReadCommand.self, GATTWriteCommand.self, GATTSubscribeCommand.self,
            GATTScriptCommand.self, GATTShellCommand.self,
        ])
}

/// A verb of `gatt`: steps over one connection.
protocol GATTVerb: ToolCommand {
    var connection: ConnectionOptions { get }
    var strength: KeyStrengthArguments { get }
    var bearers: BearerOptions { get }
    var peer: PeerArgument { get }
    /// The steps, with their line numbers in a script.
    func lines() throws -> [(number: Int?, step: GATTStep)]
    /// What follows the steps.
    func conclude(with runner: GATTRunner) async throws
}

extension GATTVerb {
    func conclude(with runner: GATTRunner) async throws {}

    func run(in session: Session) async throws {
        let peer = peer
        let (search, strength, bearers) = (connection.search, strength, bearers.settings)
        let lines = try lines()
        let adjust: (inout AdapterConfiguration) throws -> Void = {
            try session.prepareGATT(&$0, strength)
            $0.enhancedBearers = bearers
        }
        try await session.withAdapter(adjusting: adjust) { adapter in
            let peripheral = try await session.connect(to: peer, through: adapter, search)
            let runner = GATTRunner(
                peripheral, console: session.console,
                memory: await session.databaseMemory(of: peripheral, through: adapter))
            for line in lines {
                do {
                    try await runner.perform(line.step)
                    await session.remember(peer, of: peripheral, through: adapter)
                } catch {
                    await session.remember(peer, of: peripheral, through: adapter)
                    let failure = session.explaining(await adapter.cause(of: error))
                    throw line.number.map { failure.at(line: $0) } ?? failure
                }
            }
            do { try await conclude(with: runner) } catch {
                throw session.explaining(await adapter.cause(of: error))
            }
        }
    }
}

extension Session {
    /// Lets an adapter pair where a device demands it.
    func prepareGATT(_ configuration: inout AdapterConfiguration, _ strength: KeyStrengthArguments) throws {
        guard rawAdapter == nil else { return }
        try prepareGATT(&configuration)
        strength.apply(to: &configuration.security.pairing)
    }

    /// - Parameter agent: asks the user; `nil`: on the terminal, a line for each question.
    func prepareGATT(_ configuration: inout AdapterConfiguration, asking agent: (any PairingAgent)? = nil) throws {
        // On a raw socket the kernel's stack pairs.
        guard rawAdapter == nil else { return }
        try secure(&configuration, pairing: nil)
        if let agent { configuration.pairingAgent = agent }
        if isatty(0) == 1 { configuration.security.pairing.ioCapability = .keyboardDisplay }
    }

    /// Adds what helps where the kernel's own stack, and a daemon above it, speak on the same link as we do.
    func explaining(_ error: any Error) -> Failure {
        var failure = Failure(error)
        guard let cause = error as? BLEError else { return failure }
        switch cause {
        // The stack pairs when a device refuses a value for this.
        case .att(.insufficientAuthentication, _), .att(.insufficientEncryption, _):
            guard rawAdapter == nil else { break }
            failure.message += "; pairing failed, or is too weak for it: ‘bletool pair PEER’ says why"
        case .invalidResponse, .linkLost:
            guard rawAdapter != nil else { break }
            failure.message +=
                "; with raw:, this system's Bluetooth service may use the same link; use user:N instead"
        default: break
        }
        return failure
    }
}

/// The help of the peer argument, the same for every verb.
let peerHelp = "ADDRESS, ADDRESS/random or a name."
let targetHelp = "UUID or assigned name, SERVICE/UUID or 0xHANDLE."
