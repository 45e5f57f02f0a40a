/// What a sniffer notes beside a packet of the link layer (Core 5.4, Vol 6, Part B, 2).
///
/// The octets of such a record are the packet's: access address (4 octets, the least significant first), PDU and CRC (3),
/// without preamble and coding indicator.
public struct LinkLayerReading: Hashable, Sendable {
    /// What a sniffer says of a packet; what it does not say is not set.
    public struct Notes: OptionSet, Hashable, Sendable {
        public let rawValue: UInt16
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The central sent it.
        public static let fromCentral = Notes(rawValue: 1)
        /// The peripheral sent it.
        public static let fromPeripheral = Notes(rawValue: 2)
        /// Its CRC is that of its octets.
        public static let hasValidCRC = Notes(rawValue: 4)
        /// Its CRC is another one: octets were received wrong.
        public static let hasInvalidCRC = Notes(rawValue: 8)
        /// The sniffer has deciphered it.
        public static let isDeciphered = Notes(rawValue: 16)
        /// It is encrypted, and the sniffer could not decipher it.
        public static let isEncrypted = Notes(rawValue: 32)
        /// It is a PDU of advertising on a secondary channel or in a periodic train, whatever its access address.
        public static let isAuxiliary = Notes(rawValue: 64)
        /// It is a PDU of a periodic train.
        public static let isPeriodic = Notes(rawValue: 128)
        /// It answers a scan on a secondary channel.
        public static let isScanResponse = Notes(rawValue: 256)
        /// It goes on with the PDU before.
        public static let isChained = Notes(rawValue: 512)
        /// It is isochronous data.
        public static let isIsochronous = Notes(rawValue: 1024)
    }

    /// The channel index, 0 to 39, of which 37 to 39 are primary advertising channels; `nil` if the sniffer does not say.
    public var channel: UInt8? { storedChannel < 40 ? storedChannel : nil }
    /// The signal in dBm; `nil` if the sniffer does not say.
    public var strength: Int8? { storedStrength == 127 ? nil : storedStrength }
    /// 1 for LE 1M, 2 for LE 2M, 3 for LE Coded; 0 if the sniffer does not say.
    public var phy: UInt8 = 0
    public var notes: Notes = []

    // A record is passed from hand to hand: without optionals it fits into a register.
    private var storedChannel: UInt8 = 0xFF
    private var storedStrength: Int8 = 127

    public init(channel: UInt8? = nil, strength: Int8? = nil, phy: UInt8 = 0, notes: Notes = []) {
        storedChannel = channel ?? 0xFF
        storedStrength = strength ?? 127
        self.phy = phy
        self.notes = notes
    }

    /// Who sent it; `nil` if the sniffer does not say. The central counts as the host.
    public var direction: CaptureDirection? {
        if notes.contains(.fromCentral) { return .hostToController }
        return notes.contains(.fromPeripheral) ? .controllerToHost : nil
    }
}
