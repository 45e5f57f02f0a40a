/// Names of the bits in feature masks, as in decoded text.
public enum FeatureNames {
    /// The LE features that are set, lowest bit first; an unnamed one is `bit` and its number (Core 5.4, Vol 6, Part B,
    /// 4.6).
    /// - Parameter features: the mask of LE Read Local Supported Features, first octet lowest.
    public static func leFeatures(_ features: UInt64) -> [String] {
        (0..<64).filter { features >> $0 & 1 == 1 }.map { bit in
            guard let name = PacketTables.shared.name(ofBit: bit, in: PacketTables.Values.lefeatures) else {
                return "bit \(bit)"
            }
            return unsafe String(decoding: name.utf8, as: UTF8.self)
        }
    }
}
