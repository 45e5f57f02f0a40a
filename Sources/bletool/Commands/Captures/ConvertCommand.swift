import ArgumentParser
import BLECapture
import BLEJSON
import Glibc

struct ConvertCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Convert a capture to another format.",
        discussion: """
            The ending of OUT selects the format: .btsnoop, .pcap, .pcapng or .pklg. Timestamps keep microseconds. \
            The notes of Linux monitor captures are kept in btsnoop, pcap and pcapng. Of a damaged file, what can be \
            read is converted and the exit status is 1. Of what a sniffer heard, that is what would have crossed HCI of \
            the central: advertising reports, connections and their data.

              bletool convert btsnoop_hci.log session.pcapng
            """)

    /// The kinds of records in the output file.
    enum Link: Int, CaseIterable, ExpressibleByArgument {
        case btsnoopHCI = 1001
        case btsnoopH4 = 1002
        case btsnoopMonitor = 2001
        case pcapH4 = 187
        case pcapH4WithDirection = 201
        case pcapMonitor = 254
    }

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Argument(help: "The capture, in any format; ‘-’ reads standard input.", completion: .file())
    var input: String

    @Argument(help: "The file to write.", completion: .file(extensions: ["btsnoop", "pcap", "pcapng", "pklg"]))
    var output: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The link type: 1001 (HCI), 1002 (H4) or 2001 (monitor) of btsnoop; 187 (H4), 201 (H4 with direction) or "
                + "254 (monitor) of pcap and pcapng.",
            discussion: "By default 1002 and 201; for captures of the Linux monitor 2001 and 254.",
            valueName: "number"))
    var link: Link?

    @OptionGroup var keys: LinkLayerKeyArguments

    @Flag(name: .long, help: "Write timestamps in nanoseconds (pcap and pcapng).")
    var nanoseconds = false

    func validate() throws {
        guard let format = CaptureFormat(ending: output) else {
            throw ValidationError(
                "The ending of ‘\(output)’ is not that of a capture format; use .btsnoop, .pcap, .pcapng or .pklg.")
        }
        guard let link else { return }
        let isPcap = format == .pcap || format == .pcapng
        let fits = link.rawValue < 1000 ? isPcap : format == .btsnoop
        if !fits { throw ValidationError("Link type \(link.rawValue) is not possible in the format of ‘\(output)’.") }
    }

    func run(in session: Session) async throws {
        let console = session.console
        try CaptureReading.checkDiffer(input, output)
        var reading = try CaptureReading(path: input, console: console)
        var (written, left, foreign): (UInt64, UInt64, UInt64) = (0, 0, 0)
        do {
            var writer = try open(holdsMonitorRecords: reading.holdsMonitorRecords)
            var translator = LinkLayerTranslator(keys: try keys.linkLayerKeys())
            try reading.readAll { record in
                guard case .linkLayer = record.content else {
                    try writer.append(record)
                    return
                }
                for packet in translator.packets(of: record) {
                    try writer.append(
                        packet: packet.bytes.span.bytes, direction: packet.direction,
                        timestampMicroseconds: record.timestampMicroseconds)
                }
            }
            try writer.close()
            (written, left) = (writer.recordCount, writer.unrepresentableCount)
            foreign = reading.foreignRecordCount
        } catch let error as CaptureError {
            throw Failure("\(output): \(error)", code: .fileNotWritten)
        }
        if left > 0 { console.note("\(left) records cannot be written in this format and were omitted") }
        console.print(
            [
                "event": "converted", "file": .string(output), "records": JSONValue(written),
                "leftOut": JSONValue(left + foreign),
            ],
            text: "\(output): \(written) records")
        try reading.end()
    }

    private func open(holdsMonitorRecords: Bool) throws -> CaptureWriter {
        var format = CaptureFormat(ending: output) ?? .btsnoop
        if format == .btsnoop {
            switch link {
            case .btsnoopHCI: format = .btsnoopUnencapsulated
            case .btsnoopMonitor: format = .btsnoopMonitor
            case nil where holdsMonitorRecords: format = .btsnoopMonitor
            default: break
            }
        }
        let frames: CaptureLink =
            switch link {
            case .pcapH4: .h4
            case .pcapMonitor: .linuxMonitor
            case nil where holdsMonitorRecords: .linuxMonitor
            default: .h4WithDirection
            }
        return try CaptureWriter(
            path: output, format: format, flushing: .bytes(256 << 10),
            resolution: nanoseconds ? .nanoseconds : .microseconds, link: frames)
    }
}
