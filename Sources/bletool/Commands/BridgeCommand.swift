import ArgumentParser
import BLE

struct BridgeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "bridge",
        abstract: "Give a controller to another program, virtual machine or machine.",
        discussion: """
            Carries HCI as H4 between a controller and one client at a time, until ^C; bletool and bled take it as \
            -t tcp:HOST:PORT or -t unix:PATH. When a client goes, its links are ended and the controller is reset.

              bletool -t user:0 bridge --listen 7000
              bletool -t tcp:127.0.0.1:7000 lescan
              bletool -t user:0 bridge --listen unix:/run/user/1000/adapter

            Nothing encrypts it or asks who connects, so it listens on this machine only, where every local user \
            reaches a port, and only its owner a unix: socket. Another machine reaches it through ssh:

              ssh -N -L /tmp/adapter:/run/user/1000/adapter gateway
              bletool -t unix:/tmp/adapter lescan
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Option(
        "Where to listen: PORT, ADDRESS:PORT with an address of this machine's own, or unix:PATH.", "address")
    var listen: ListenAddress

    func validate() throws {
        guard listen.isLocal else {
            throw ValidationError(
                "\(listen) is within reach of other machines, and nothing encrypts a bridge or asks who connects. Listen on "
                    + "127.0.0.1:PORT or unix:PATH, and let the other machine come through ssh: ssh -N -L 7000:127.0.0.1:7000 "
                    + "HOST.")
        }
    }

    func run(in session: Session) async throws {
        let transport = try session.chosenTransport()
        switch transport {
        case .daemon, .rawChannel, .replay:
            throw Failure(
                "\(transport) cannot be given away: a bridge needs a controller of its own, such as user:0",
                status: .usage)
        default: break
        }
        if session.recordingName != nil { throw Failure("--record is for an engine; use -w", status: .usage) }
        session.console.adapter = transport.adapterName
        let capture = try session.capturePath.map { try CaptureTap(path: $0) }
        do {
            let bridge = try Bridge(
                transport, on: listen, console: session.console, capture: capture, open: session.openTransport)
            try await bridge.run()
        } catch {
            capture?.abandon()
            throw error
        }
        try capture?.finish()
    }
}
