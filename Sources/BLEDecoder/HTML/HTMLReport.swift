public import BLECapture
import BLEText

/// Turns the records of a capture into one self-contained HTML page: a timeline, a message-sequence chart of each
/// connection, every packet with its fields, search, and zoom.
///
/// The page is written record by record, so that memory does not grow with the file. Call `begin`, then `add` for each
/// record, then `end`; write out `output` in between.
public struct HTMLReport: ~Copyable {
    private var decoder: CaptureDecoder
    private var buffer = TextBuffer()
    private var firstTime: Int64?
    private var summary: CaptureSummary
    /// The decoder's number of each connection of the summary; −1 if the page has no packet of it.
    private var connectionOfLink: [Int] = []
    private var series = MeasureSeries()

    /// So many rows are read without a pause.
    private static let pieceRowCount = 500

    /// How many packets the page shows.
    public private(set) var rowCount = 0

    /// - Parameters:
    ///   - filter: which packets the page shows.
    ///   - keys: of the connections that a sniffer captured.
    public init(filter: DecodingFilter = DecodingFilter(), keys: LinkLayerKeys? = nil) {
        decoder = CaptureDecoder(style: .text(isColoured: false), filter: filter, showsTime: false, keys: keys)
        summary = CaptureSummary(keys: keys)
        decoder.keepMeasures()
    }

    /// What has been written since the last `removeOutput()`.
    public var output: RawSpan {
        @_lifetime(borrow self)
        get { buffer.bytes }
    }

    /// Clears `output` after it was written elsewhere.
    public mutating func removeOutput() { buffer.truncate(to: 0) }

    /// Writes the head of the page.
    /// - Parameter title: the name of the capture.
    public mutating func begin(title: String) {
        let title = title.printable
        buffer.append(HTMLPage.head)
        buffer.append("<title>")
        appendHTML(title)
        buffer.append("</title>\n")
        buffer.append(HTMLPage.style)
        buffer.append(HTMLPage.body)
        buffer.append("<script>const NAME=")
        Self.appendString(Array(title.utf8).span.bytes, to: &buffer)
        // A browser reads data faster than a script that contains them.
        buffer.append("</script>\n")
    }

    /// Writes a record if it passes the filter.
    public mutating func add(_ record: borrowing CaptureRecord) {
        decoder.removeOutput()
        let isShown = decoder.decode(record)
        summary.count(record)
        let facts = decoder.facts
        if let connection = facts.connection, summary.connections.last >= 0,
            connectionOfLink.count <= summary.connections.last
        {
            while connectionOfLink.count < summary.connections.last { connectionOfLink.append(-1) }
            connectionOfLink.append(connection)
        }
        guard isShown else { return }
        if firstTime == nil { firstTime = facts.timestampMicroseconds }
        // The page reads them piece by piece.
        if rowCount % Self.pieceRowCount == 0 {
            if rowCount > 0 { buffer.append("\n]</script>\n") }
            buffer.append("<script type=\"application/json\" class=\"rows\">[\n")
        } else {
            buffer.append(",\n")
        }
        rowCount += 1
        buffer.append(UInt8(ascii: "["))
        buffer.append(decimal: UInt64(facts.frame))
        buffer.append(UInt8(ascii: ","))
        buffer.append(signed: facts.timestampMicroseconds &- (firstTime ?? 0))
        buffer.append(UInt8(ascii: ","))
        buffer.append(facts.isFromHost == nil ? "2" : facts.isFromHost == true ? "0" : "1")
        buffer.append(UInt8(ascii: ","))
        buffer.append(decimal: UInt64(facts.kinds.rawValue))
        buffer.append(UInt8(ascii: ","))
        buffer.append(signed: Int64(facts.connection ?? -1))
        buffer.append(UInt8(ascii: ","))
        Self.appendTexts(of: decoder, to: &buffer)
        appendMeasures(facts.connection)
        buffer.append(UInt8(ascii: "]"))
    }

    /// Appends the numbers of a packet, each behind that of its series.
    private mutating func appendMeasures(_ connection: Int?) {
        var isFirst = true
        for var measure in decoder.measures {
            // What a sniffer has captured outside of connections is of its sender.
            if measure.address == nil, connection == nil { measure.address = decoder.facts.latestAddress }
            guard let place = series.place(of: measure, connection: connection) else { continue }
            buffer.append(isFirst ? ",[" : ",")
            isFirst = false
            buffer.append(decimal: UInt64(place))
            buffer.append(UInt8(ascii: ","))
            buffer.append(Array("\(measure.value)".utf8).span.bytes)
        }
        if !isFirst { buffer.append(UInt8(ascii: "]")) }
    }

    /// Appends the headline without its time and kind, and the fields.
    private static func appendTexts(of decoder: borrowing CaptureDecoder, to buffer: inout TextBuffer) {
        let start = decoder.headlineOffset + CaptureDecoder.kindWordByteCount
        appendString(decoder.output.part(start, decoder.fieldsOffset - start), to: &buffer)
        buffer.append(UInt8(ascii: ","))
        appendString(decoder.output.rest(decoder.fieldsOffset + 1), to: &buffer)
    }

    /// Writes the rest of the page.
    public mutating func end() {
        if rowCount > 0 { buffer.append("\n]</script>\n") }
        buffer.append("<script>const START=")
        buffer.append(signed: firstTime ?? 0)
        buffer.append(",COUNT=")
        buffer.append(decimal: UInt64(rowCount))
        buffer.append(",FAILED=")
        buffer.append(decimal: UInt64(summary.failedAttemptCount))
        buffer.append(",LINKS=[")
        for (index, link) in summary.links.enumerated() {
            if index > 0 { buffer.append(",\n") }
            append(link, connection: index < connectionOfLink.count ? connectionOfLink[index] : -1)
        }
        buffer.append("],OMITTED=")
        buffer.append(decimal: UInt64(series.omittedCount))
        buffer.append(",MEASURES=[")
        for (index, key) in series.keys.enumerated() {
            if index > 0 { buffer.append(",\n") }
            append(key)
        }
        buffer.append("]</script>\n<script>\n")
        buffer.append(HTMLPage.script)
        buffer.append(HTMLPage.plots)
        buffer.append(HTMLPage.overview)
        buffer.append("</script>\n</body>\n</html>\n")
    }

    private mutating func append(_ key: MeasureSeries.Key) {
        buffer.append("{c:")
        buffer.append(signed: Int64(key.connection))
        buffer.append(",address:\"")
        buffer.append(address: key.address)
        buffer.append("\",name:")
        Self.appendString(Array(key.name.utf8).span.bytes, to: &buffer)
        buffer.append(",unit:")
        Self.appendString(Array(key.unit.utf8).span.bytes, to: &buffer)
        buffer.append(UInt8(ascii: "}"))
    }

    private mutating func append(_ link: LinkSummary, connection: Int) {
        let numbers: [(StaticString, Int64)] = [
            ("c", Int64(connection)), ("handle", Int64(link.handle)), ("from", link.began &- (firstTime ?? 0)),
            ("lasted", link.duration), ("bad", link.isFailure ? 1 : 0), ("mtu", link.isClassic ? 0 : Int64(link.mtu)),
            ("interval", Int64(link.interval)), ("requests", Int64(link.requests)), ("answers", Int64(link.answers)),
            ("mean", link.meanLatency ?? 0), ("worst", link.worstLatency), ("errors", Int64(link.errorCount)),
            ("failed", Int64(link.failedAttempts)), ("repeated", Int64(link.repeatedRequests)),
            ("values", Int64(link.values)), ("octets", Int64(link.valueOctets)), ("sent", Int64(link.sentOctets)),
            ("received", Int64(link.receivedOctets)),
        ]
        let texts: [(StaticString, String)] = [
            ("address", link.addressText ?? ""), ("name", (link.name ?? "").printable), ("end", link.endingText),
            ("phy", link.phyText ?? ""),
        ]
        buffer.append(UInt8(ascii: "{"))
        for (key, number) in numbers {
            buffer.append(key)
            buffer.append(UInt8(ascii: ":"))
            buffer.append(signed: number)
            buffer.append(UInt8(ascii: ","))
        }
        for (index, (key, text)) in texts.enumerated() {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            buffer.append(key)
            buffer.append(UInt8(ascii: ":"))
            Self.appendString(Array(text.utf8).span.bytes, to: &buffer)
        }
        buffer.append(UInt8(ascii: "}"))
    }

    private mutating func appendHTML(_ text: String) {
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "<"): buffer.append("&lt;")
            case UInt8(ascii: "&"): buffer.append("&amp;")
            default: buffer.append(octet)
            }
        }
    }

    /// A string of JSON, and of JavaScript, that ends no script element.
    private static func appendString(_ bytes: RawSpan, to buffer: inout TextBuffer) {
        buffer.append(UInt8(ascii: "\""))
        for index in 0..<bytes.byteCount {
            let octet = bytes.octet(index)
            switch octet {
            case 0x0A: buffer.append("\\n")
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                buffer.append(UInt8(ascii: "\\"))
                buffer.append(octet)
            case UInt8(ascii: "<"): buffer.append("\\u003c")
            case 0..<0x20:
                buffer.append("\\u00")
                buffer.append(hexadecimal: UInt64(octet), digits: 2)
            default: buffer.append(octet)
            }
        }
        buffer.append(UInt8(ascii: "\""))
    }
}
