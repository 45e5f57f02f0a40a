import ArgumentParser
import BLE
import BLEJSON
import BLEManagement
import BLEScripts
import BLEUpdate

struct SMPCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "smp",
        abstract: "Manage a device that speaks mcumgr's SMP.",
        usage: "bletool smp PEER VERB …",
        discussion: """
            echo TEXT
            os info | os reset | os stat | os memory | os buffers
            image list | image upload FILE | image test HASH | image confirm [HASH] | image erase
            settings read NAME | settings write NAME HEX | settings delete NAME | settings commit | settings load | \
            settings save
            fs upload FILE PATH | fs download PATH FILE | fs stat PATH | fs hash PATH [sha256|crc32]
            shell COMMAND…

              bletool smp Thermometer image list
              bletool smp Thermometer image upload zephyr.signed.bin
              bletool smp Thermometer fs download /lfs/log.txt log.txt
              bletool smp Thermometer shell -- kernel version
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup(title: ConnectionOptions.title) var strength: KeyStrengthArguments

    @Argument(peerHelp) var peer: PeerArgument

    @Argument(help: "What to do.") var words: [String]

    @Option("The image of a device with several processors, 0 to 255.", "number") var image = 0

    @Option("The slot to erase.", "number") var slot: Int?

    @Option("Requests in flight, 1 to 64; by default what the device's buffers allow.", "number") var window: Int?

    @Flag(help: "Let the device refuse an image that is not newer than its own.") var onlyNewer = false

    func validate() throws {
        if let window, !(1...64).contains(window) { throw ValidationError("--window is 1 to 64.") }
        if !(0...255).contains(image) { throw ValidationError("--image is 0 to 255.") }
        if let slot, !(0...255).contains(slot) { throw ValidationError("--slot is 0 to 255.") }
        do { _ = try ManagementVerb(words) } catch { throw ValidationError(error.message) }
    }

    func run(in session: Session) async throws {
        let verb = try ManagementVerb(words)
        var work = ManagementWork(verb: verb, console: session.console)
        (work.image, work.slot, work.window, work.onlyNewer) = (image, slot, window, onlyNewer)
        try work.prepare()
        let (peer, search, strength, ready) = (peer, connection.search, strength, work)
        let adjust: (inout AdapterConfiguration) throws -> Void = { try session.prepareGATT(&$0, strength) }
        try await session.withAdapter(adjusting: adjust) { adapter in
            let peripheral = try await session.connect(to: peer, through: adapter, search)
            do {
                let client = try await ManagementClient(peripheral)
                try await ready.run(client)
                await client.close()
            } catch let error as UpdateError { throw Failure(update: error) }
        }
    }
}
