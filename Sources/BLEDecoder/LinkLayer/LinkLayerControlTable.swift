/// PDUs of the Link Layer Control Protocol (Core 5.4, Vol 6, Part B, 2.4.2).
enum LinkLayerControlTable {
    enum Kind {
        case number
        case hexadecimal
        case octets
        /// Units of this many microseconds.
        case time(UInt64)
        case error
        case signed
    }

    struct Field {
        var name: StaticString
        var key: StaticString
        var width: Int
        var kind: Kind

        init(_ name: StaticString, _ key: StaticString, _ width: Int, _ kind: Kind = .number) {
            self.name = name
            self.key = key
            self.width = width
            self.kind = kind
        }
    }

    /// The fields of a PDU; `nil` where only the name is known.
    static func fields(of opcode: UInt8) -> [Field]? { opcode < layouts.count ? layouts[Int(opcode)] : nil }

    /// The name of a PDU; `nil` if the specification has none.
    static func name(of opcode: UInt8) -> StaticString? { opcode < names.count ? names[Int(opcode)] : nil }

    private static let names: [StaticString] = [
        "LL_CONNECTION_UPDATE_IND", "LL_CHANNEL_MAP_IND", "LL_TERMINATE_IND", "LL_ENC_REQ", "LL_ENC_RSP",
        "LL_START_ENC_REQ", "LL_START_ENC_RSP", "LL_UNKNOWN_RSP", "LL_FEATURE_REQ", "LL_FEATURE_RSP",
        "LL_PAUSE_ENC_REQ", "LL_PAUSE_ENC_RSP", "LL_VERSION_IND", "LL_REJECT_IND", "LL_PERIPHERAL_FEATURE_REQ",
        "LL_CONNECTION_PARAM_REQ", "LL_CONNECTION_PARAM_RSP", "LL_REJECT_EXT_IND", "LL_PING_REQ", "LL_PING_RSP",
        "LL_LENGTH_REQ", "LL_LENGTH_RSP", "LL_PHY_REQ", "LL_PHY_RSP", "LL_PHY_UPDATE_IND", "LL_MIN_USED_CHANNELS_IND",
        "LL_CTE_REQ", "LL_CTE_RSP", "LL_PERIODIC_SYNC_IND", "LL_CLOCK_ACCURACY_REQ", "LL_CLOCK_ACCURACY_RSP",
        "LL_CIS_REQ", "LL_CIS_RSP", "LL_CIS_IND", "LL_CIS_TERMINATE_IND", "LL_POWER_CONTROL_REQ",
        "LL_POWER_CONTROL_RSP", "LL_POWER_CHANGE_IND", "LL_SUBRATE_REQ", "LL_SUBRATE_IND",
        "LL_CHANNEL_REPORTING_IND", "LL_CHANNEL_STATUS_IND", "LL_PERIODIC_SYNC_WR_IND",
    ]

    private static let features = [Field("Features", "features", 8, .octets)]
    private static let parameters = [
        Field("Interval, least", "intervalMin", 2, .time(1250)), Field("Interval, most", "intervalMax", 2, .time(1250)),
        Field("Latency", "latency", 2), Field("Timeout", "timeout", 2, .time(10_000)),
        Field("Preferred Periodicity", "preferredPeriodicity", 1, .time(1250)),
        Field("Reference Event Count", "referenceEventCount", 2), Field("Offsets", "offsets", 12, .octets),
    ]
    private static let lengths = [
        Field("Receives, octets", "maxRxOctets", 2), Field("Receives for", "maxRxTime", 2, .time(1)),
        Field("Sends, octets", "maxTxOctets", 2), Field("Sends for", "maxTxTime", 2, .time(1)),
    ]
    private static let phys = [
        Field("Sends on", "txPHYs", 1, .hexadecimal), Field("Receives on", "rxPHYs", 1, .hexadecimal),
    ]
    private static let error = Field("Error Code", "errorCode", 1, .error)
    private static let instant = Field("Instant", "instant", 2)

    private static let layouts: [[Field]?] = [
        [
            Field("Window Size", "windowSize", 1, .time(1250)), Field("Window Offset", "windowOffset", 2, .time(1250)),
            Field("Interval", "interval", 2, .time(1250)), Field("Latency", "latency", 2),
            Field("Timeout", "timeout", 2, .time(10_000)), instant,
        ],
        [Field("Channel Map", "channelMap", 5, .octets), instant],
        [error],
        [
            Field("Random Number", "randomNumber", 8, .octets), Field("Encrypted Diversifier", "ediv", 2, .hexadecimal),
            Field("Session Key Diversifier", "skd", 8, .octets), Field("Initialization Vector", "iv", 4, .octets),
        ],
        [
            Field("Session Key Diversifier", "skd", 8, .octets), Field("Initialization Vector", "iv", 4, .octets),
        ],
        [], [],
        [Field("Unknown Type", "unknownType", 1, .hexadecimal)],
        features, features,
        [], [],
        [
            Field("Version", "version", 1), Field("Company", "company", 2, .hexadecimal),
            Field("Subversion", "subversion", 2, .hexadecimal),
        ],
        [error],
        features,
        parameters, parameters,
        [Field("Rejected", "rejectedOpcode", 1, .hexadecimal), error],
        [], [],
        lengths, lengths,
        phys, phys,
        [
            Field("Central to peripheral", "centralToPeripheralPHY", 1, .hexadecimal),
            Field("Peripheral to central", "peripheralToCentralPHY", 1, .hexadecimal), instant,
        ],
        [Field("PHYs", "phys", 1, .hexadecimal), Field("Channels, least", "minUsedChannels", 1)],
        nil, [], nil,
        [Field("Clock Accuracy", "clockAccuracy", 1)], [Field("Clock Accuracy", "clockAccuracy", 1)],
        nil, nil, nil,
        [Field("CIG", "cig", 1), Field("CIS", "cis", 1), error],
        [
            Field("PHY", "phy", 1, .hexadecimal), Field("Change", "delta", 1, .signed),
            Field("TX Power", "txPower", 1, .signed),
        ],
        [
            Field("Limits", "limits", 1, .hexadecimal), Field("Change", "delta", 1, .signed),
            Field("TX Power", "txPower", 1, .signed), Field("Acceptable Reduction", "apr", 1),
        ],
        [
            Field("PHY", "phy", 1, .hexadecimal), Field("Limits", "limits", 1, .hexadecimal),
            Field("Change", "delta", 1, .signed), Field("TX Power", "txPower", 1, .signed),
        ],
        [
            Field("Subrate Factor, least", "subrateFactorMin", 2), Field("Subrate Factor, most", "subrateFactorMax", 2),
            Field("Latency, most", "maxLatency", 2), Field("Continuation Number", "continuationNumber", 2),
            Field("Timeout", "timeout", 2, .time(10_000)),
        ],
        [
            Field("Subrate Factor", "subrateFactor", 2), Field("Subrate Base Event", "subrateBaseEvent", 2),
            Field("Latency", "latency", 2), Field("Continuation Number", "continuationNumber", 2),
            Field("Timeout", "timeout", 2, .time(10_000)),
        ],
        [
            Field("Enabled", "enable", 1), Field("Spacing, least", "minSpacing", 1, .time(200_000)),
            Field("Delay, most", "maxDelay", 1, .time(200_000)),
        ],
        [Field("Channel Classification", "channelClassification", 10, .octets)],
    ]
}
