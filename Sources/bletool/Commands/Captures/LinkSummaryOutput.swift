import BLE
import BLEDecoder
import BLEJSON
import BLEScripts
import BLEText

/// Connections of a capture, as `summary` and `decode --summary` print them.
enum LinkSummaryOutput {
    /// Connections that the text of `decode --summary` lists.
    static let shownLimit = 40

    // MARK: Programs

    /// The keys of a connection, the same in an event and in the list of `decode --summary`.
    static func members(_ link: LinkSummary, number: Int) -> JSONValue {
        let address = address(of: link)
        return [
            "number": JSONValue(number), "index": JSONValue(link.adapter), "handle": JSONValue(link.handle),
            "accessAddress": JSONValue(link.accessAddress.map { Hexadecimal.number($0, digits: 8) }),
            "central": JSONValue(link.central.map { DeviceAddress(value: $0, kind: .public).addressText }),
            "address": JSONValue(address?.addressText), "addressType": JSONValue(address?.kindText),
            "name": JSONValue(link.name), "role": JSONValue(role(link)),
            "began": .string(Timestamp.text(unixMicroseconds: link.began)),
            "durationMicroseconds": JSONValue(link.duration), "ending": .string(ending(link).key),
            "reason": JSONValue(reason(link).map { Hexadecimal.number($0, digits: 2) }),
            "endingText": .string(ending(link).text),
            "mtu": JSONValue(link.isClassic ? nil : link.mtu),
            "intervalMilliseconds": link.interval > 0 ? .number(Double(link.interval) * 1.25) : .null,
            "latency": JSONValue(link.interval > 0 ? link.latency : nil),
            "timeoutMilliseconds": JSONValue(link.timeout > 0 ? Int(link.timeout) * 10 : nil),
            "parameterUpdates": JSONValue(link.parameterUpdates),
            "txPHY": JSONValue(phy(link.transmitPHY)), "rxPHY": JSONValue(phy(link.receivePHY)),
            "txOctets": JSONValue(link.transmitOctets > 0 ? link.transmitOctets : nil),
            "rxOctets": JSONValue(link.receiveOctets > 0 ? link.receiveOctets : nil),
            "encrypted": .boolean(link.isEncrypted), "failedAttempts": JSONValue(link.failedAttempts),
            "packets": JSONValue(link.packets), "sentBytes": JSONValue(link.sentOctets),
            "receivedBytes": JSONValue(link.receivedOctets), "requests": JSONValue(link.requests),
            "answers": JSONValue(link.answers), "repeatedRequests": JSONValue(link.repeatedRequests),
            "meanLatencyMicroseconds": JSONValue(link.meanLatency),
            "worstLatencyMicroseconds": JSONValue(link.answers > 0 ? link.worstLatency : nil),
            "attErrors": .object(
                link.errors.map { .init(key: Hexadecimal.number($0.code, digits: 2), value: JSONValue($0.count)) }),
            "values": JSONValue(link.values), "valueBytes": JSONValue(link.valueOctets),
        ]
    }

    /// The event of a connection.
    static func object(_ link: LinkSummary, number: Int) -> JSONValue {
        guard case .object(let members) = members(link, number: number) else { return ["event": "linkSummary"] }
        return .object([.init(key: "event", value: "linkSummary")] + members)
    }

    // MARK: People

    /// A few lines: who and when, how the link was, what crossed it, what went wrong.
    static func text(_ link: LinkSummary, number: Int) -> String {
        var who =
            address(of: link).map { "\($0.addressText) \($0.kindText)" }
            ?? link.accessAddress.map { "access address \(Hexadecimal.number($0, digits: 8))" }
            ?? "handle \(Hexadecimal.number(link.handle, digits: 4))"
        if let name = link.name { who += "  " + name.printable(limit: 64) }
        if let central = link.central {
            who += "  (central \(DeviceAddress(value: central, kind: .public).addressText))"
        }
        if let role = role(link) { who += "  (\(role == "central" ? "peripheral" : "central"))" }
        var lines = ["#\(number)  \(who)"]
        let time = Timestamp.text(unixMicroseconds: link.began)
        let clock = time.dropFirst(11).prefix(12)
        lines.append("    \(clock) UTC, for \(duration(link.duration)); \(ending(link).text)")
        lines.append("    " + settings(link).joined(separator: ", "))
        if let traffic = traffic(link) { lines.append("    " + traffic) }
        if let trouble = trouble(link) { lines.append("    " + trouble) }
        return lines.joined(separator: "\n")
    }

    private static func settings(_ link: LinkSummary) -> [String] {
        var parts = [link.isClassic ? "BR/EDR" : "MTU \(link.mtu)"]
        if let phy = link.phyText { parts.append("PHY \(phy)") }
        if link.interval > 0 {
            parts.append("interval \(decimal(Double(link.interval) * 1.25, digits: 2)) ms")
            if link.latency > 0 { parts.append("latency \(link.latency)") }
            parts.append("timeout \(decimal(Double(link.timeout) / 100, digits: 2)) s")
        }
        if link.parameterUpdates > 0 { parts.append(count(link.parameterUpdates, "update")) }
        if link.transmitOctets > 0 { parts.append("packets of up to \(link.transmitOctets)/\(link.receiveOctets) B") }
        parts.append(link.isEncrypted ? "encrypted" : "not encrypted")
        return parts
    }

    private static func traffic(_ link: LinkSummary) -> String? {
        var parts: [String] = []
        if link.packets > 0 {
            parts.append("\(link.sentOctets) B out, \(link.receivedOctets) B in")
        }
        if link.requests > 0 {
            var text = count(link.requests, "request")
            if let mean = link.meanLatency {
                text += ", answered in \(duration(mean)) on average, \(duration(link.worstLatency)) at worst"
            }
            if link.answers < link.requests { text += ", \(link.requests - link.answers) unanswered" }
            parts.append(text)
        }
        if link.values > 0 { parts.append(count(link.values, "notified value")) }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private static func trouble(_ link: LinkSummary) -> String? {
        var parts: [String] = []
        if !link.errors.isEmpty {
            let errors = link.errors.map { error in
                let number = Hexadecimal.number(error.code, digits: 2)
                let name = PacketNames.name(of: UInt16(error.code), in: .attError)
                return "\(error.count) × \(name.map { "\($0) (\(number))" } ?? number)"
            }
            parts.append("ATT errors: " + errors.joined(separator: ", "))
        }
        var retries: [String] = []
        if link.failedAttempts > 0 {
            retries.append(count(link.failedAttempts, "failed attempt") + " to connect before")
        }
        if link.repeatedRequests > 0 { retries.append(count(link.repeatedRequests, "request") + " sent again") }
        if !retries.isEmpty { parts.append("retries: " + retries.joined(separator: ", ")) }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    // MARK: Words

    /// What connections have in common, in a line.
    static func title(_ summary: borrowing CaptureSummary) -> String {
        let links = summary.links
        var parts = [count(links.count + summary.omittedLinkCount, "connection")]
        if summary.failedAttemptCount > 0 {
            parts.append(count(summary.failedAttemptCount, "attempt") + " that became none")
        }
        return parts.joined(separator: ", ")
    }

    private static func address(of link: LinkSummary) -> DeviceAddress? {
        link.address.map { DeviceAddress(value: $0, kind: link.addressType & 1 == 0 ? .public : .random) }
    }

    /// The role of this host.
    private static func role(_ link: LinkSummary) -> String? {
        link.isCentral.map { $0 ? "central" : "peripheral" }
    }

    private static func reason(_ link: LinkSummary) -> UInt8? {
        guard case .disconnected(let reason) = link.ending else { return nil }
        return reason
    }

    private static func ending(_ link: LinkSummary) -> (key: String, text: String) {
        switch link.ending {
        case .none: ("open", link.endingText)
        case .reset: ("reset", link.endingText)
        case .replaced: ("replaced", link.endingText)
        case .disconnected: ("disconnected", "ended: " + link.endingText)
        }
    }

    private static func phy(_ number: UInt8) -> String? {
        switch number {
        case 1: "1M"
        case 2: "2M"
        case 3: "Coded"
        default: nil
        }
    }

    /// Microseconds with a unit that suits them.
    static func duration(_ microseconds: Int64) -> String {
        switch microseconds {
        case ..<1000: "\(microseconds) µs"
        case ..<1_000_000: "\(decimal(Double(microseconds) / 1000, digits: 1)) ms"
        case ..<120_000_000: "\(decimal(Double(microseconds) / 1_000_000, digits: 2)) s"
        case ..<7_200_000_000: "\(microseconds / 60_000_000) min \(microseconds / 1_000_000 % 60) s"
        default: "\(microseconds / 3_600_000_000) h \(microseconds / 60_000_000 % 60) min"
        }
    }

    /// A number with at most `digits` decimals, without zeros at its end.
    static func decimal(_ value: Double, digits: Int) -> String {
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int((value * Double(scale)).rounded())
        guard scaled % scale != 0 else { return "\(scaled / scale)" }
        var fraction = String(abs(scaled % scale))
        fraction = String(repeating: "0", count: digits - fraction.count) + fraction
        while fraction.last == "0" { fraction.removeLast() }
        return "\(scaled < 0 && scaled / scale == 0 ? "-" : "")\(scaled / scale).\(fraction)"
    }

    private static func count(_ number: Int, _ what: String) -> String { "\(number) \(what)\(number == 1 ? "" : "s")" }
}
