/// LE Set Extended Scan Parameters: how extended scanning shall run, for each PHY; disallowed while it does
/// (Core 5.4, Vol 4, Part E, 7.8.64).
public struct LESetExtendedScanParameters: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0041)
    public static let answer = CommandAnswer.complete

    /// How to scan on one PHY.
    public struct Parameters: Hashable, Sendable {
        public var type: ScanType
        /// From the start of one scan to the start of the next.
        public var interval: ScanInterval
        /// How long of each interval the radio listens; not above the interval.
        public var window: ScanInterval

        public init(type: ScanType = .passive, interval: ScanInterval, window: ScanInterval) {
            self.type = type
            self.interval = interval
            self.window = window
        }
    }

    public var ownAddressType: OwnAddressType
    public var filterPolicy: ScanningFilterPolicy
    public var scanningPHYs: PHYSet
    /// One for each bit of `scanningPHYs`, the lowest bit first.
    public var parameters: [Parameters]

    /// - Parameter parameters: As many as `scanningPHYs` has bits.
    public init(
        ownAddressType: OwnAddressType = .public, filterPolicy: ScanningFilterPolicy = .all,
        scanningPHYs: PHYSet, parameters: [Parameters]
    ) {
        self.ownAddressType = ownAddressType
        self.filterPolicy = filterPolicy
        self.scanningPHYs = scanningPHYs
        self.parameters = parameters
    }

    /// Scans on the PHYs for which there are parameters.
    public init(
        ownAddressType: OwnAddressType = .public, filterPolicy: ScanningFilterPolicy = .all,
        le1M: Parameters? = nil, leCoded: Parameters? = nil
    ) {
        self.init(ownAddressType: ownAddressType, filterPolicy: filterPolicy, scanningPHYs: [], parameters: [])
        if let le1M {
            scanningPHYs.insert(.le1M)
            parameters.append(le1M)
        }
        if let leCoded {
            scanningPHYs.insert(.leCoded)
            parameters.append(leCoded)
        }
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        ownAddressType = try OwnAddressType(decoding: &reader)
        filterPolicy = ScanningFilterPolicy(rawValue: try reader.read())
        scanningPHYs = PHYSet(rawValue: try reader.read())
        parameters = []
        for _ in 0..<scanningPHYs.rawValue.nonzeroBitCount {
            parameters.append(
                Parameters(
                    type: ScanType(rawValue: try reader.read()),
                    interval: ScanInterval(rawValue: try reader.read()),
                    window: ScanInterval(rawValue: try reader.read())))
        }
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(ownAddressType.rawValue)
        packet.write(filterPolicy.rawValue)
        packet.write(scanningPHYs.rawValue)
        for each in parameters {
            packet.write(each.type.rawValue)
            packet.write(each.interval.rawValue)
            packet.write(each.window.rawValue)
        }
    }
}
