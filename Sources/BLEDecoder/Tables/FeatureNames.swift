/// Names of the bits of feature masks, as decoded text has them.
public enum FeatureNames {
    /// The LE features that are set, lowest bit first; one without a name is `bit` and its number
    /// (Core 5.4, Vol 6, Part B, 4.6).
    /// - Parameter features: the mask as LE Read Local Supported Features returns it, first octet lowest.
    public static func leFeatures(_ features: UInt64) -> [String] {
        (0..<64).filter { features >> $0 & 1 == 1 }.map { leNames[$0] ?? "bit \($0)" }
    }

    private static let leNames: [Int: String] = {
        let line = MaskLines.text.description.split(separator: "\n").first { $0.hasPrefix("lefeatures|") } ?? ""
        return line.split(separator: "|").dropFirst().reduce(into: [:]) { names, entry in
            let parts = entry.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let bit = Int(parts[0], radix: 16) else { return }
            names[bit] = String(parts[1])
        }
    }()
}
