import ArgumentParser
import BLEDaemonClient
import BLEServiceManager
import BLEStateFiles
import BLETransport
import Glibc

struct BledBlueZ: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bled-bluez",
        abstract: "Offer BlueZ's D-Bus interface org.bluez on top of bled.",
        usage: "bled-bluez [--state <dir>] [--bled <socket>] [--bus <address>] [--experimental]",
        discussion: """
            Programs that were written for BlueZ find their adapters, devices and services at org.bluez, as with \
            bluetoothd. Runs in the foreground until SIGINT or SIGTERM, and waits for bled when it is away.

            The exit status is 0 after SIGINT or SIGTERM, 1 if the bus cannot be used, 2 for wrong options, and 3 if \
            another process owns org.bluez.
            """,
        version: programVersion)

    @Option(
        help: ArgumentHelp(
            "The folder for what people have set: Trusted, Blocked and Alias of devices, Alias of adapters; without it "
                + "that is forgotten with the process. Bonds stay with bled.", valueName: "dir"),
        completion: .directory)
    var state: String?

    @Option(
        help: ArgumentHelp(
            "The socket of bled; default $JELLING_SOCKET, else /run/jelling/bled.sock for root, else "
                + "$XDG_RUNTIME_DIR/jelling/bled.sock.", valueName: "socket"))
    var bled: String?

    @Option(
        help: ArgumentHelp(
            "The D-Bus address of the bus; default $DBUS_SYSTEM_BUS_ADDRESS, else the system bus.",
            valueName: "address"))
    var bus: String?

    @Flag(help: "Also offer the interface that bluetoothd offers with -E only: Bearer.LE1 of devices.")
    var experimental = false

    func validate() throws {
        for (option, value) in [("--state", state), ("--bled", bled), ("--bus", bus)] where value?.isEmpty == true {
            throw ValidationError("the value of \(option) is empty: name one, or leave the option out")
        }
    }

    func run() throws {
        var signals = ServiceSignals(SIGINT, SIGTERM)
        let folder: StateFolder
        do throws(StateFileError) { folder = try StateFolder(path: state) } catch {
            throw Failure(status: .usage, message: "--state: \(error)")
        }
        let connection = try BusConnection.open(bus ?? Self.busOfEnvironment)
        let loop: EventLoop
        do throws(TransportError) { loop = try EventLoop(name: "bluez") } catch {
            throw Failure(status: .noBus, message: "\(error)")
        }
        let manager = ServiceManager()
        let door = Door(
            loop, connection, folder, socket: bled ?? DaemonClient.defaultSocketPath,
            isExperimental: experimental)
        do throws(TransportError) {
            try door.start()
            try loop.start()
        } catch {
            throw Failure(status: .noBus, message: "\(error)")
        }
        manager.notify("READY=1")
        _ = signals.next()
        manager.notify("STOPPING=1")
        loop.run { door.stop() }
        loop.join()
    }

    private static var busOfEnvironment: String? {
        unsafe getenv("DBUS_SYSTEM_BUS_ADDRESS").map { unsafe String(cString: $0) }
    }
}
