import ArgumentParser
import BLEDecoder

struct SummaryCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "summary",
        abstract: "Show the connections of a capture: who, how long, how they ended, and how they went.",
        discussion: """
            For each connection: the device and its name, when it began and how long it lasted, the reason of its end, \
            MTU, PHY, interval, what was sent, how fast requests were answered, ATT errors, and retries. \
            decode --summary has the same beside the counts of packets.

              bletool summary session.btsnoop
              bletool summary session.btsnoop --address AA:BB:CC:DD:EE:FF
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Argument(help: "The capture; ‘-’ reads standard input.", completion: .file())
    var file: String

    @Option(
        name: .long, help: ArgumentHelp("Only connections with this device.", valueName: "address"),
        transform: PacketSelection.address)
    var address: UInt64?

    @Flag(name: .long, help: "Only connections that were lost, had ATT errors, or took several attempts.")
    var troubled = false

    @OptionGroup var keys: LinkLayerKeyArguments

    func run(in session: Session) async throws {
        let console = session.console
        var reading = try CaptureReading(path: file, console: console)
        var counts = CaptureSummary(keys: try keys.linkLayerKeys())
        try reading.readAll { counts.count($0) }
        let links = Array(counts.links.enumerated()).filter { _, link in
            if let address, link.address != address { return false }
            return !troubled || link.isFailure || link.errorCount > 0 || link.failedAttempts > 0
        }
        for (index, link) in links {
            console.print(
                LinkSummaryOutput.object(link, number: index + 1),
                text: LinkSummaryOutput.text(link, number: index + 1))
        }
        if !console.isJSON {
            let shown = links.count == counts.links.count ? "" : ", \(links.isEmpty ? "none" : "\(links.count)") shown"
            console.note(LinkSummaryOutput.title(counts) + shown)
        }
        if counts.omittedLinkCount > 0 {
            console.note("\(counts.omittedLinkCount) further connections are counted only")
        }
        try reading.end()
    }
}
