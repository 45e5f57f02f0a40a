import BLEHost
import BLEPackets

/// The commands that a client may send, with the numbers of `Request`; those of the program itself are only recorded.
extension HostCommand: Choice {
    public static var blank: Self { .stop }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        // Before the others: of these there may be thousands a second.
        try c.option(
            7, "gatt", as: "GATT", &it, { .link($0, .gatt($1)) }, "link",
            rest: { if case .link(let link, .gatt(let operation)) = $0 { (link, operation) } else { nil } })
        try c.options(&it, HostCommand.channel) { if case .channel(let command) = $0 { command } else { nil } }
        try c.options(&it, HostCommand.radio) { if case .radio(let command) = $0 { command } else { nil } }
        try c.options(&it, HostCommand.server) { if case .server(let command) = $0 { command } else { nil } }
        try c.options(&it, HostCommand.security) { if case .security(let command) = $0 { command } else { nil } }
        try c.option(5, "cancel", as: "Cancel", &it, HostCommand.cancel, "operation") {
            if case .cancel(let operation) = $0 { operation } else { nil }
        }
        try c.option(
            6, "disconnect", as: "Disconnect", &it, { .link($0, .disconnect) }, "link",
            from: { if case .link(let link, .disconnect) = $0 { link } else { nil } })
        try c.option(
            8, "read_rssi", as: "ReadRSSI", &it, { .link($0, .procedure(.readRSSI)) }, "link",
            from: { if case .link(let link, .procedure(.readRSSI)) = $0 { link } else { nil } })
        try c.option(
            19, "update_parameters", as: "UpdateParameters", &it,
            { .link($0, .procedure(.updateParameters($1))) }, "link", "parameters",
            from: {
                guard case .link(let link, .procedure(.updateParameters(let wished))) = $0 else { return nil }
                return (link, wished)
            })
        try c.since(1) { c throws(MessageError) in
            try c.option(
                39, "procedure", as: "LinkProcedure", &it, { .link($0, .procedure($1)) }, "link",
                rest: { if case .link(let link, .procedure(let procedure)) = $0 { (link, procedure) } else { nil } })
            try c.option(
                40, "hci_command", as: "HCICommand", &it, HostCommand.sendHCICommand, "opcode", "parameters"
            ) { if case .sendHCICommand(let opcode, let parameters) = $0 { (opcode, parameters) } else { nil } }
        }
        try c.recorded { c throws(MessageError) in
            try c.option(100, "hold_indications", &it, HostCommand.withholdConfirmations) {
                if case .withholdConfirmations(let isHeld) = $0 { isHeld } else { nil }
            }
            try c.option(101, "stop", &it, .stop)
        }
    }
}

extension LinkProcedure: Choice {
    public static var blank: Self { .readPHY }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(2, "read_remote_version", &it, .readRemoteVersion)
        try c.option(3, "read_remote_features", &it, .readRemoteFeatures)
        try c.option(
            4, "set_data_length", as: "SetDataLength", &it, Self.setDataLength, "octets", "microseconds"
        ) { if case .setDataLength(let octets, let microseconds) = $0 { (octets, microseconds) } else { nil } }
        try c.option(5, "read_phy", &it, .readPHY)
        try c.option(6, "set_phy", as: "SetPHY", &it, Self.setPHY, "transmit", "receive") {
            if case .setPHY(let transmit, let receive) = $0 { (transmit, receive) } else { nil }
        }
        try c.option(7, "set_subrate", &it, Self.setSubrate) { if case .setSubrate(let a) = $0 { a } else { nil } }
        try c.option(8, "read_transmit_power", &it, Self.readTransmitPower) {
            if case .readTransmitPower(let phy) = $0 { phy } else { nil }
        }
        try c.option(9, "read_remote_transmit_power", &it, Self.readRemoteTransmitPower) {
            if case .readRemoteTransmitPower(let phy) = $0 { phy } else { nil }
        }
        try c.option(
            10, "report_transmit_power", as: "ReportTransmitPower", &it, Self.reportTransmitPower, "local", "remote",
            from: { if case .reportTransmitPower(let local, let remote) = $0 { (local, remote) } else { nil } })
        try c.option(11, "monitor_path_loss", as: "MonitorPathLoss", &it, Self.monitorPathLoss, "zones") {
            if case .monitorPathLoss(let zones) = $0 { .some(zones) } else { nil }
        }
        try c.option(12, "authenticated_payload_timeout_microseconds", &it, Self.setAuthenticatedPayloadTimeout) {
            if case .setAuthenticatedPayloadTimeout(let timeout) = $0 { timeout } else { nil }
        }
    }
}

extension SubrateParameters: Message {
    public static var blank: Self { Self(minimumFactor: 0, maximumFactor: 0, supervisionTimeout: .blank) }
    public static var schemaName: String { "SetSubrate" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "minimum_factor", &it.minimumFactor)
        try c.field(2, "maximum_factor", &it.maximumFactor)
        try c.field(3, "maximum_latency", &it.maximumLatency)
        try c.field(4, "continuation_number", &it.continuationNumber)
        try c.field(5, "supervision_timeout", &it.supervisionTimeout)
    }
}

extension PathLossZones: Message {
    public static var blank: Self { Self(low: 0, high: nil) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "high", &it.high)
        try c.field(2, "high_hysteresis", &it.highHysteresis)
        try c.field(3, "low", &it.low)
        try c.field(4, "low_hysteresis", &it.lowHysteresis)
        try c.field(5, "minimum_events", &it.minimumEvents)
    }
}
