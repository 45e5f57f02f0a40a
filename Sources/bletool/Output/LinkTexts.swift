import BLE

/// How the radio of a link reads.
enum LinkTexts {
    /// Such as `interval 30 ms, latency 0, timeout 5000 ms`.
    static func text(_ parameters: ConnectionParameters) -> String {
        "interval \(decimal(parameters.interval.milliseconds)) ms, latency \(parameters.peripheralLatency), "
            + "timeout \(decimal(parameters.supervisionTimeout.milliseconds)) ms"
    }

    /// Such as `4 dBm (greatest)`; `maximum` is what the controller can send with.
    static func text(_ power: TransmitPower, maximum: Int8? = nil) -> String {
        let level = power.level.map { "\($0) dBm" } ?? "unknown"
        let end = power.isGreatest ? " (greatest)" : power.isLeast ? " (least)" : ""
        return level + end + (maximum.map { ", at most \($0) dBm" } ?? "")
    }

    /// Such as `the device sends with 4 dBm`; `this side` is the adapter.
    static func text(_ report: LinkReport) -> String {
        switch report {
        case .transmitPower(let power, let isPeers):
            "\(isPeers ? "the device" : "this side") sends with "
                + (power.level == nil ? "unknown power" : text(power))
        case .pathLoss(let loss): "path loss \(loss.zone)\(loss.decibels.map { ", \($0) dB" } ?? "")"
        case .unauthenticated: "no packet has proved the device's key for too long"
        }
    }

    /// Such as `one of 4 connection events is used`.
    static func text(_ subrate: LinkSubrate) -> String {
        subrate.factor == 1
            ? "every connection event is used" : "one of \(subrate.factor) connection events is used"
    }

    private static func decimal(_ milliseconds: Double) -> String {
        LinkSummaryOutput.decimal(milliseconds, digits: 2)
    }
}
