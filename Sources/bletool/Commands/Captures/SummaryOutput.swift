import BLE
import BLECapture
import BLEDecoder
import BLEJSON
import BLEScripts
import BLEText

/// What `decode --summary` prints.
enum SummaryOutput {
    /// - Parameter damage: what could not be read of the capture.
    static func object(_ summary: borrowing CaptureSummary, damage: String?) -> JSONValue {
        let object = counted(summary)
        return damage.map { object.adding("error", .string($0)) } ?? object
    }

    private static func counted(_ summary: borrowing CaptureSummary) -> JSONValue {
        [
            "event": "summary", "frames": JSONValue(summary.frames),
            "by_packet_type": [
                "command": JSONValue(summary.commands), "event": JSONValue(summary.events),
                "acl": JSONValue(summary.aclPackets), "sco": JSONValue(summary.scoPackets),
                "iso": JSONValue(summary.isoPackets), "ll": JSONValue(summary.linkLayer.packets),
                "other": JSONValue(summary.others),
            ],
            "ll_packets": linkLayer(summary.linkLayer),
            "commands_by_opcode": counts(summary.commandsByOpcode, digits: 4),
            "events_by_code": counts(summary.eventsByCode, digits: 2),
            "le_subevents": counts(summary.leSubevents, digits: 2),
            "le_adv_report_events": JSONValue(summary.advertisingReportEvents),
            "le_adv_distinct_addresses": JSONValue(summary.distinctAdvertisers),
            "att_opcodes": counts(summary.attByOpcode, digits: 2),
            "eatt_opcodes": counts(summary.enhancedATTByOpcode, digits: 2),
            "smp_opcodes": counts(summary.smpByCode, digits: 2),
            "l2cap_cids": counts(summary.l2capByChannel, digits: 4),
            "malformed": JSONValue(summary.malformed),
            "advertisers": .array(summary.advertisers.prefix(advertiserLimit).map(object)),
            "links": .array(
                summary.links.enumerated().map { LinkSummaryOutput.members($1, number: $0 + 1) }),
            "failedAttempts": JSONValue(summary.failedAttemptCount),
        ]
    }

    private static func linkLayer(_ counts: LinkLayerCounts) -> JSONValue {
        [
            "advertising": JSONValue(counts.advertising), "data": JSONValue(counts.data),
            "empty": JSONValue(counts.empty), "repeated": JSONValue(counts.repeated),
            "control": JSONValue(counts.control), "encrypted": JSONValue(counts.encrypted),
            "deciphered": JSONValue(counts.deciphered), "isochronous": JSONValue(counts.isochronous),
            "damaged": JSONValue(counts.damaged),
            "advertising_pdus": .object(
                counts.advertisingByName.map { .init(key: $0.name.description, value: JSONValue($0.count)) }),
            "control_opcodes": Self.counts(counts.controlByOpcode, digits: 2),
        ]
    }

    /// Advertisers that are listed with `--json`, and in the text.
    static let advertiserLimit = 10_000
    private static let shownAdvertiserLimit = 40

    private static func object(_ advertiser: CaptureSummary.Advertiser) -> JSONValue {
        let address = address(of: advertiser)
        return [
            "address": JSONValue(address?.addressText), "addressType": JSONValue(address?.kindText),
            "reports": JSONValue(advertiser.reports), "rssi": JSONValue(advertiser.strongestRSSI),
            "connectable": .boolean(advertiser.isConnectable), "name": JSONValue(advertiser.name),
        ]
    }

    /// `nil` for those that advertise without one.
    private static func address(of advertiser: CaptureSummary.Advertiser) -> DeviceAddress? {
        guard advertiser.addressType != 0xFF else { return nil }
        return DeviceAddress(value: advertiser.address, kind: advertiser.addressType & 1 == 0 ? .public : .random)
    }

    private static func text(_ advertiser: CaptureSummary.Advertiser) -> String {
        let address = address(of: advertiser).map { "\($0.addressText) \($0.kindText)" } ?? "(anonymous)"
        let strength = advertiser.strongestRSSI.map { "\($0) dBm" } ?? "? dBm"
        let name = advertiser.name.map { "  " + $0.printable(limit: 64) } ?? ""
        return row(
            advertiser.reports,
            address.padded(to: 24) + "  " + strength.padded(to: 8)
                + (advertiser.isConnectable ? name : name + "  not connectable")
        ).trimmedEnd
    }

    static func text(_ summary: borrowing CaptureSummary, format: CaptureFormat) -> String {
        var lines = ["\(format.name), \(summary.frames) frames"]
        let kinds = [
            ("commands", summary.commands), ("events", summary.events), ("ACL packets", summary.aclPackets),
            ("SCO packets", summary.scoPackets), ("ISO packets", summary.isoPackets),
            ("advertising PDUs", summary.linkLayer.advertising), ("data PDUs", summary.linkLayer.data),
            ("isochronous PDUs", summary.linkLayer.isochronous), ("with a wrong CRC", summary.linkLayer.damaged),
            ("others", summary.others),
            ("malformed", summary.malformed),
        ]
        lines += kinds.filter { $0.1 > 0 }.map { row($0.1, $0.0) }
        if summary.advertisingReportEvents > 0 {
            lines.append("advertising")
            lines.append(
                row(
                    summary.advertisingReportEvents,
                    summary.linkLayer.advertising > 0 ? "PDUs of advertisers" : "events with reports"))
            lines.append(row(summary.distinctAdvertisers, "devices"))
            let advertisers = summary.advertisers
            if !advertisers.isEmpty { lines.append("advertisers, by reports: the strongest signal, name") }
            lines += advertisers.prefix(shownAdvertiserLimit).map(text)
            if advertisers.count > shownAdvertiserLimit {
                lines.append("            and \(advertisers.count - shownAdvertiserLimit) more (--json lists them)")
            }
        }
        func table(_ title: String, _ counts: [CaptureSummary.Count], _ digits: Int, _ table: PacketNames.Table) {
            guard !counts.isEmpty else { return }
            lines.append(title)
            for count in counts.sorted(by: { ($1.count, $0.number) < ($0.count, $1.number) }) {
                let name = PacketNames.name(of: count.number, in: table)
                lines.append(
                    row(count.count, Hexadecimal.number(count.number, digits: digits) + (name.map { " " + $0 } ?? "")))
            }
        }
        let air = summary.linkLayer
        if !air.advertisingByName.isEmpty {
            lines.append("advertising PDUs")
            lines += air.advertisingByName.sorted { $0.count > $1.count }.map { row($0.count, $0.name.description) }
        }
        if air.data > 0 {
            lines.append("data PDUs")
            let kinds = [
                ("empty", air.empty), ("sent again", air.repeated), ("control", air.control),
                ("encrypted, without a key", air.encrypted), ("deciphered", air.deciphered),
            ]
            lines += kinds.filter { $0.1 > 0 }.map { row($0.1, $0.0) }
        }
        table("control PDUs", air.controlByOpcode, 2, .linkLayerControl)
        table("commands", summary.commandsByOpcode, 4, .command)
        table("events", summary.eventsByCode, 2, .event)
        table("LE Meta events", summary.leSubevents, 2, .leMetaEvent)
        table("L2CAP channels", summary.l2capByChannel, 4, .channel)
        table("ATT", summary.attByOpcode, 2, .att)
        table("ATT, enhanced", summary.enhancedATTByOpcode, 2, .att)
        table("SMP", summary.smpByCode, 2, .smp)
        let links = summary.links
        if !links.isEmpty || summary.failedAttemptCount > 0 {
            lines.append(LinkSummaryOutput.title(summary))
            let limit = LinkSummaryOutput.shownLimit
            lines += links.prefix(limit).enumerated().map { LinkSummaryOutput.text($1, number: $0 + 1) }
            if links.count > limit { lines.append("    and \(links.count - limit) more (bletool summary lists them)") }
        }
        return lines.joined(separator: "\n")
    }

    private static func row(_ count: Int, _ text: String) -> String {
        let number = String(count)
        return String(repeating: " ", count: max(0, 10 - number.count)) + number + "  " + text
    }

    private static func counts(_ counts: [CaptureSummary.Count], digits: Int) -> JSONValue {
        .object(
            counts.map {
                .init(key: Hexadecimal.number($0.number, digits: digits), value: JSONValue($0.count))
            })
    }
}

extension CaptureFormat {
    /// The format in words.
    var name: String {
        switch self {
        case .btsnoopUnencapsulated: "btsnoop (HCI)"
        case .btsnoop: "btsnoop"
        case .btsnoopMonitor: "btsnoop of the Linux monitor"
        case .pcap: "pcap"
        case .pcapng: "pcapng"
        case .packetLogger: "PacketLogger"
        case .hcidump: "hcidump"
        }
    }
}
