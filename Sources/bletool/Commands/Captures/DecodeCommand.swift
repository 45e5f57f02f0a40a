import ArgumentParser
import BLEDecoder
import BLEJSON
import BLEStateFiles
import Glibc

struct DecodeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Show or count the packets of a capture, or make an HTML page of it.",
        discussion: """
            Reads btsnoop (also from Android and the Linux monitor), pcap, pcapng, PacketLogger and hcidump files, under \
            any name, also with what sniffers hear and what crosses a USB; packed with gzip, in zip files, and in bug \
            reports of Android. Of a damaged file, what can be read is shown and the exit status is 1. ‘<’ marks packets from the \
            host, ‘>’ packets to it; of a sniffer, from and to the central. Keys and passkeys are never shown.

              bletool decode session.btsnoop --kind att --address AA:BB:CC:DD:EE:FF
              bletool decode session.btsnoop --summary
              bletool decode session.btsnoop --html session.html
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Argument(help: "The capture; ‘-’ reads standard input.", completion: .file())
    var file: String

    @Flag(name: .long, help: "Only count: packets, opcodes, events and channels, and list advertisers and connections.")
    var summary = false

    @Option(
        "Write an HTML page with a timeline and a message-sequence chart of each connection.", "file",
        completion: .file(extensions: ["html"]))
    var html: String?

    @OptionGroup var selection: PacketSelection
    @OptionGroup var keys: LinkLayerKeyArguments

    func validate() throws {
        if summary, html != nil { throw ValidationError("Use --summary or --html, not both.") }
        if summary, !filter.isEmpty { throw ValidationError("--summary counts everything: omit the filters.") }
    }

    private var filter: DecodingFilter { selection.filter }

    func run(in session: Session) async throws {
        let console = session.console
        var reading = try CaptureReading(path: file, console: console)
        if summary {
            var counts = CaptureSummary(keys: try keys.linkLayerKeys())
            try reading.readAll { counts.count($0) }
            counts.countForeign(Int(clamping: reading.foreignRecordCount))
            // Always one object; for a damaged file it contains the damage.
            let damage = reading.damage
            console.print(
                SummaryOutput.object(counts, damage: damage),
                text: SummaryOutput.text(counts, format: reading.format))
            if counts.hasMoreAdvertisers {
                console.note(
                    "more than \(counts.distinctAdvertisers) advertisers; the rest are not counted separately")
            }
            if counts.hasMoreNames {
                console.note(
                    "the names of the first \(CaptureSummary.maximumNameCount) named devices are kept; those of others "
                        + "are missing")
            }
            if console.isJSON, counts.distinctAdvertisers > SummaryOutput.advertiserLimit {
                console.note("the \(SummaryOutput.advertiserLimit) advertisers with the most reports are listed")
            }
            if let damage, console.isJSON {
                var failure = Failure(damage, code: .fileDamaged)
                failure.isInOutput = true
                throw failure
            }
        } else if let html {
            try CaptureReading.checkDiffer(file, html)
            try writePage(html, &reading, console)
        } else {
            var decoder = CaptureDecoder(
                style: console.isJSON ? .json : .text(isColoured: console.showsColours), filter: filter,
                keys: try keys.linkLayerKeys())
            do {
                try reading.readAll { record in
                    decoder.decode(record)
                    guard decoder.output.byteCount > 48 << 10 || console.isTerminal else { return }
                    console.write(decoder.output)
                    decoder.removeOutput()
                    if console.outputHasEnded { throw OutputEnded() }
                }
            } catch is OutputEnded {
                // The reader, such as `head`, has seen enough.
                return
            } catch {
                // Interrupted: what has been decoded so far is shown.
                console.write(decoder.output)
                throw error
            }
            console.write(decoder.output)
        }
        try reading.end()
    }

    private struct OutputEnded: Error {}

    private func writePage(_ path: String, _ reading: inout CaptureReading, _ console: Console) throws {
        let descriptor: Int32
        do throws(StateFileError) { descriptor = try OutputPlace.open(path, isSecret: false).descriptor } catch {
            throw Failure("\(path): \(error.code.map(systemErrorText) ?? error.outputCause)", code: .fileNotWritten)
        }
        defer { close(descriptor) }
        // A pipe cannot be truncated.
        ftruncate(descriptor, 0)
        var page = HTMLReport(filter: filter, keys: try keys.linkLayerKeys())
        func flush(_ page: inout HTMLReport) throws {
            guard let number = Console.writeAll(descriptor, page.output) else { return page.removeOutput() }
            throw Failure("\(path): \(systemErrorText(number))", code: .fileNotWritten)
        }
        page.begin(title: file.split(separator: "/").last.map(String.init) ?? file)
        try reading.readAll { record in
            page.add(record)
            if page.output.byteCount > 256 << 10 { try flush(&page) }
        }
        page.end()
        try flush(&page)
        console.print(
            ["event": "written", "file": .string(path), "packets": JSONValue(page.rowCount)],
            text: "\(path): \(page.rowCount) packets")
    }
}
