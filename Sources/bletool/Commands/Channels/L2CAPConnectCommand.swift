import ArgumentParser
import BLE

struct L2CAPConnectCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Open a channel to a device and pipe it.",
        discussion: """
            With --enhanced --count, one request opens up to five channels, and the messages take turns on them. A \
            device that refuses the sizes of --reconfigure ends the command.

              bletool l2cap connect Printer --psm 0x80 < page
              bletool l2cap connect 24:6F:28:AA:BB:CC --psm 0x80 --enhanced --count 5
              bletool l2cap connect Printer --psm 0x80 --enhanced --reconfigure 4096,512 < page
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var channel: ChannelOptions

    @Argument("ADDRESS, ADDRESS/random or a name.") var peer: PeerArgument

    @Flag(help: "Use the enhanced form of the request.")
    var enhanced = false

    @Option("With --enhanced: how many channels to open, 1 to 5.", "number") var count: Int?

    func validate() throws {
        try channel.requireSizes(isEnhanced: enhanced, count: count ?? 1)
        guard count == nil || enhanced else { throw ValidationError("--count needs --enhanced.") }
        guard (1...5).contains(count ?? 1) else { throw ValidationError("--count is 1 to 5.") }
    }

    func run(in session: Session) async throws {
        let (peer, search, channel) = (peer, connection.search, channel)
        let (enhanced, count) = (enhanced, count ?? 1)
        let adjust: (inout AdapterConfiguration) throws -> Void = { try session.secure(&$0, pairing: nil) }
        try await session.withAdapter(adjusting: adjust) { adapter in
            let peripheral = try await session.connect(to: peer, through: adapter, search)
            let opened =
                enhanced
                ? try await peripheral.openEnhancedChannels(channel.spsm.value, channel.settings, count: count)
                : [try await peripheral.openChannel(channel.spsm.value, channel.settings)]
            if opened.count < count { session.console.note("the device accepted \(opened.count) of \(count) channels") }
            let pipe = channel.pipe(session.console, count: opened.count, requiresSizes: true)
            let (channels, source) = AsyncThrowingStream<Channel, any Error>.makeStream()
            for channel in opened { source.yield(channel) }
            source.finish()
            try await pipe.run(channels)
        }
    }
}
