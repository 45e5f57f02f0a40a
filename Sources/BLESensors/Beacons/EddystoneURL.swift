/// An address of the web as Eddystone sends it: one octet for its beginning, others for common endings.
public struct EddystoneURL: Hashable, Sendable {
    /// The most octets behind the one for the beginning.
    public static let greatestByteCount = 17
    static let schemes = ["http://www.", "https://www.", "http://", "https://"]
    static let endings = [".com", ".org", ".edu", ".net", ".info", ".biz", ".gov"]

    /// Why an address cannot be sent.
    public enum Mistake: Error, Hashable, Sendable {
        /// It begins with neither `http://` nor `https://`.
        case scheme
        /// A character that no address contains as it is.
        case character(Character)
        /// Nothing follows the beginning.
        case empty
        /// It needs so many octets, of which there are `greatestByteCount`.
        case tooLong(Int)
    }

    /// The octets of a frame.
    public let octets: [UInt8]

    /// - Throws: `Mistake`.
    public init(_ text: String) throws(Mistake) {
        guard let scheme = Self.schemes.firstIndex(where: { text.lowercased().hasPrefix($0) }) else { throw .scheme }
        var rest = text.dropFirst(Self.schemes[scheme].count)
        guard !rest.isEmpty else { throw .empty }
        var octets: [UInt8] = []
        while let character = rest.first {
            // The endings with a slash come first: they are longer.
            if let code = Self.codes.firstIndex(where: { rest.hasPrefix($0) }) {
                octets.append(UInt8(code))
                rest = rest.dropFirst(Self.codes[code].count)
                continue
            }
            guard let octet = character.asciiValue, (0x21...0x7E).contains(octet), !"\"<>\\^`{|}".contains(character)
            else { throw .character(character) }
            octets.append(octet)
            rest = rest.dropFirst()
        }
        guard octets.count <= Self.greatestByteCount else { throw .tooLong(octets.count) }
        self.octets = [UInt8(scheme)] + octets
    }

    /// What the octets 0 to 13 mean behind the first one.
    static let codes = endings.map { $0 + "/" } + endings
}
