import BLE

// How numbers of links, attributes and channels look when they are printed or logged.

extension PHY: CustomStringConvertible {
    /// `LE 1M`, `LE 2M` or `LE Coded`.
    public var description: String {
        switch self {
        case .le1M: "LE 1M"
        case .le2M: "LE 2M"
        case .leCoded: "LE Coded"
        default: "PHY \(rawValue)"
        }
    }
}

extension AttributeHandle: CustomStringConvertible {
    /// Such as `0x000F`.
    public var description: String { hexadecimal(rawValue) }
}

extension HCIOpcode: CustomStringConvertible {
    /// Such as `0x200C`.
    public var description: String { hexadecimal(rawValue) }
}

extension ConnectionInterval: CustomStringConvertible {
    /// Such as `30.0 ms`.
    public var description: String { "\(milliseconds) ms" }
}

extension SupervisionTimeout: CustomStringConvertible {
    /// Such as `5000.0 ms`.
    public var description: String { "\(milliseconds) ms" }
}

extension LinkSubrate: CustomStringConvertible {
    /// Such as `one connection event in 4, 1 more after data, latency 0, timeout 5000.0 ms`.
    public var description: String {
        "one connection event in \(factor), \(continuationNumber) more after data, latency \(latency), timeout "
            + "\(supervisionTimeout)"
    }
}

extension SubrateParameters: CustomStringConvertible {
    /// Such as `one connection event in 2 to 4, 1 more after data, latency at most 0, timeout 5000.0 ms`.
    public var description: String {
        "one connection event in \(minimumFactor) to \(maximumFactor), \(continuationNumber) more after data, latency "
            + "at most \(maximumLatency), timeout \(supervisionTimeout)"
    }
}

extension PathLoss: CustomStringConvertible {
    /// Such as `high, 81 dB`.
    public var description: String { "\(zone)\(decibels.map { ", \($0) dB" } ?? "")" }
}

extension PathLossZones: CustomStringConvertible {
    /// Such as `low below 60 dB, high above 80 dB`.
    public var description: String { "low below \(low) dB" + (high.map { ", high above \($0) dB" } ?? "") }
}

extension ChannelMap: CustomStringConvertible {
    /// The data channels that are used, such as `channels 0-10, 36`.
    public var description: String {
        var ranges: [String] = []
        var channel = 0
        while channel < 37 {
            guard rawValue >> UInt64(channel) & 1 == 1 else {
                channel += 1
                continue
            }
            let first = channel
            while channel < 36, rawValue >> UInt64(channel + 1) & 1 == 1 { channel += 1 }
            ranges.append(first == channel ? "\(first)" : "\(first)-\(channel)")
            channel += 1
        }
        return ranges.isEmpty ? "no channels" : "channels " + ranges.joined(separator: ", ")
    }
}

extension ChannelInformation: CustomStringConvertible {
    /// Such as `SPSM 0x0080, at most 2048 octets out, 512 octets in`.
    public var description: String {
        "SPSM \(hexadecimal(spsm)), at most \(sendMTU) octets out, \(receiveMTU) octets in"
    }
}

/// Such as `0x00A0`.
func hexadecimal(_ value: UInt16) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return "0x" + String(repeating: "0", count: 4 - text.count) + text
}
