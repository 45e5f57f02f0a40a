import BLEDecoder

/// What `decode --summary` prints.
enum SummaryOutput {
    static func object(_ summary: borrowing CaptureSummary) -> JSONValue {
        [
            "frames": JSONValue(summary.frames),
            "by_packet_type": [
                "command": JSONValue(summary.commands), "event": JSONValue(summary.events),
                "acl": JSONValue(summary.aclPackets), "sco": JSONValue(summary.scoPackets),
                "iso": JSONValue(summary.isoPackets), "other": JSONValue(summary.others),
            ],
            "commands_by_opcode": counts(summary.commandsByOpcode, digits: 4),
            "events_by_code": counts(summary.eventsByCode, digits: 2),
            "le_subevents": counts(summary.leSubevents, digits: 2),
            "le_adv_report_events": JSONValue(summary.advertisingReportEvents),
            "le_adv_distinct_addresses": JSONValue(summary.distinctAdvertisers),
            "att_opcodes": counts(summary.attByOpcode, digits: 2),
            "smp_opcodes": counts(summary.smpByCode, digits: 2),
            "l2cap_cids": counts(summary.l2capByChannel, digits: 4),
            "malformed": JSONValue(summary.malformed),
        ]
    }

    static func text(_ summary: borrowing CaptureSummary) -> String { "\(summary.frames) frames" }

    private static func counts(_ counts: [CaptureSummary.Count], digits: Int) -> JSONValue {
        .object(
            counts.map {
                .init(key: Hexadecimal.number($0.number, digits: digits), value: JSONValue($0.count))
            })
    }
}
