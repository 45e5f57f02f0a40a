import ArgumentParser
import BLE
import BLEJSON

struct L2CAPListenCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Advertise, accept a channel and pipe it.",
        discussion: """
            The first device that opens channels is served; the command ends with its last channel. Both forms of the \
            request are accepted: one channel, or up to five by the enhanced form. A device that refuses the sizes of \
            --reconfigure, or opens a channel of the other form, is served with the sizes as they were.

              bletool l2cap listen --psm 0x80 --name Sink
              bletool l2cap listen --psm 0x80 --name Sink --encrypted
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup var channel: ChannelOptions
    @OptionGroup var pairing: PairingArguments

    @Option("The name to advertise.", "name") var name = "Jelling"

    @Flag(help: "Offer sizes that suit the enhanced form, whose minimum is 64 octets.")
    var enhanced = false

    @Flag(help: "Accept only devices that have paired.")
    var encrypted = false

    func validate() throws { try channel.requireSizes(isEnhanced: enhanced) }

    func run(in session: Session) async throws {
        let (channel, pairing, name, encrypted) = (channel, pairing, name, encrypted)
        let console = session.console
        let options = try pairing.options()
        let adjust: (inout AdapterConfiguration) throws -> Void = {
            try session.secure(&$0, pairing: options, confirms: pairing.yes)
            $0.deviceName = name
        }
        try await session.withAdapter(adjusting: adjust) { adapter in
            let incoming = try await adapter.acceptChannels(
                on: channel.spsm.value, channel.settings, requiresEncryption: encrypted)
            let events = await adapter.serverEvents()
            let (channels, source) = AsyncThrowingStream<Channel, any Error>.makeStream()
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    do {
                        try await adapter.advertise(AdvertiseRequest(.packed(localName: name, serviceUUIDs: [])))
                    } catch { if !Task.isCancelled { throw error } }
                    return false
                }
                group.addTask {
                    for try await event in events {
                        guard case .advertisingStarted = event else { continue }
                        console.report(
                            ["event": "listening", "spsm": JSONValue(channel.spsm.value), "name": .string(name)],
                            note: "listening on SPSM \(channel.spsm.value) as “\(name)”")
                        return false
                    }
                    return false
                }
                group.addTask {
                    var link: LinkID?
                    for try await channel in incoming {
                        guard link == nil || channel.information.id.link == link else {
                            await channel.close()
                            continue
                        }
                        link = channel.information.id.link
                        source.yield(channel)
                    }
                    return false
                }
                group.addTask {
                    try await channel.pipe(console, count: 1, requiresSizes: false).run(channels)
                    return true
                }
                defer { group.cancelAll() }
                while let isAtEnd = try await group.next() { if isAtEnd { return } }
            }
        }
    }
}
