import BLE

/// The specification's names of LE features (Core 5.4, Vol 6, Part B, 4.6).
enum FeatureNames {
    private static let names = [
        "LE Encryption", "Connection Parameters Request Procedure", "Extended Reject Indication",
        "Peripheral-initiated Features Exchange", "LE Ping", "LE Data Packet Length Extension", "LL Privacy",
        "Extended Scanning Filter Policies", "LE 2M PHY", "Stable Modulation Index - Transmitter",
        "Stable Modulation Index - Receiver", "LE Coded PHY", "LE Extended Advertising", "LE Periodic Advertising",
        "Channel Selection Algorithm #2", "LE Power Class 1", "Minimum Number of Used Channels Procedure",
        "Connection CTE Request", "Connection CTE Response", "Connectionless CTE Transmitter",
        "Connectionless CTE Receiver", "Antenna Switching During CTE Transmission",
        "Antenna Switching During CTE Reception", "Receiving Constant Tone Extensions",
        "Periodic Advertising Sync Transfer - Sender", "Periodic Advertising Sync Transfer - Recipient",
        "Sleep Clock Accuracy Updates", "Remote Public Key Validation", "Connected Isochronous Stream - Central",
        "Connected Isochronous Stream - Peripheral", "Isochronous Broadcaster", "Synchronized Receiver",
        "Connected Isochronous Stream (Host Support)", "LE Power Control Request",
        "LE Power Control Request (second bit)", "LE Path Loss Monitoring", "Periodic Advertising ADI Support",
        "Connection Subrating", "Connection Subrating (Host Support)", "Channel Classification",
        "Advertising Coding Selection", "Advertising Coding Selection (Host Support)", nil,
        "Periodic Advertising with Responses - Advertiser", "Periodic Advertising with Responses - Scanner",
    ]

    /// The features that are set, lowest bit first; a bit without a name by its number.
    static func names(of features: LEFeatures) -> [String] {
        (0..<64).filter { features.rawValue >> $0 & 1 == 1 }.map { bit in
            (bit < names.count ? names[bit] : nil) ?? "bit \(bit)"
        }
    }
}
