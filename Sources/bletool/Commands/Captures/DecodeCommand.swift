import ArgumentParser
import BLECapture
import BLEDecoder

struct DecodeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Show a capture, or count what is in it.",
        discussion: """
            btsnoop (also of Android and of the Linux monitor), pcap, pcapng and PacketLogger files, whatever their \
            names. What can be read of a damaged file is shown; then the exit status is 1.

              bletool decode session.btsnoop
              bletool decode session.btsnoop --summary
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Argument(help: "The capture; ‘-’ reads standard input.", completion: .file())
    var file: String

    @Flag(name: .long, help: "Only count: packets, opcodes, events, channels, advertisers.")
    var summary = false

    func run(in session: Session) async throws {
        var reading = try CaptureReading(path: file, console: session.console)
        var counts = CaptureSummary()
        try reading.readAll { counts.count($0) }
        counts.countForeign(Int(clamping: reading.foreignRecordCount))
        session.console.print(SummaryOutput.object(counts), text: SummaryOutput.text(counts))
        if counts.hasMoreAdvertisers {
            session.console.note(
                "there were more advertisers than \(counts.distinctAdvertisers); they are not told apart")
        }
        try reading.end()
    }
}
