/// LE Extended Create Connection [v1]: connects to the first advertiser that fits, with parameters for each PHY
/// (Core 5.4, Vol 4, Part E, 7.8.66).
///
/// Command Status comes at once, `LEEnhancedConnectionComplete` when the link stands or the attempt was cancelled.
public struct LEExtendedCreateConnection: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0043)
    public static let answer = CommandAnswer.status

    /// How to initiate on one PHY.
    public struct Parameters: Hashable, Sendable {
        /// Does not count on LE 2M, where nothing is scanned.
        public var scanInterval: ScanInterval
        /// Does not count on LE 2M, where nothing is scanned.
        public var scanWindow: ScanInterval
        public var connection: LEConnectionParameters

        public init(
            scanInterval: ScanInterval = ScanInterval(rawValue: 0x0060),
            scanWindow: ScanInterval = ScanInterval(rawValue: 0x0030), connection: LEConnectionParameters
        ) {
            self.scanInterval = scanInterval
            self.scanWindow = scanWindow
            self.connection = connection
        }
    }

    public var filterPolicy: InitiatorFilterPolicy
    public var ownAddressType: OwnAddressType
    /// Ignored with the filter accept list.
    public var peerAddress: DeviceAddress
    public var initiatingPHYs: PHYSet
    /// One for each bit of `initiatingPHYs`, the lowest bit first.
    public var parameters: [Parameters]

    /// - Parameter parameters: As many as `initiatingPHYs` has bits.
    public init(
        filterPolicy: InitiatorFilterPolicy = .peerAddress, ownAddressType: OwnAddressType = .public,
        peerAddress: DeviceAddress = DeviceAddress(value: 0, kind: .public), initiatingPHYs: PHYSet,
        parameters: [Parameters]
    ) {
        self.filterPolicy = filterPolicy
        self.ownAddressType = ownAddressType
        self.peerAddress = peerAddress
        self.initiatingPHYs = initiatingPHYs
        self.parameters = parameters
    }

    /// Initiates on the PHYs for which there are parameters.
    public init(
        filterPolicy: InitiatorFilterPolicy = .peerAddress, ownAddressType: OwnAddressType = .public,
        peerAddress: DeviceAddress = DeviceAddress(value: 0, kind: .public), le1M: Parameters? = nil,
        le2M: Parameters? = nil, leCoded: Parameters? = nil
    ) {
        self.init(
            filterPolicy: filterPolicy, ownAddressType: ownAddressType, peerAddress: peerAddress, initiatingPHYs: [],
            parameters: [])
        if let le1M {
            initiatingPHYs.insert(.le1M)
            parameters.append(le1M)
        }
        if let le2M {
            initiatingPHYs.insert(.le2M)
            parameters.append(le2M)
        }
        if let leCoded {
            initiatingPHYs.insert(.leCoded)
            parameters.append(leCoded)
        }
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        filterPolicy = InitiatorFilterPolicy(rawValue: try reader.read())
        ownAddressType = try OwnAddressType(decoding: &reader)
        peerAddress = try DeviceAddress(decodingWithKind: &reader)
        initiatingPHYs = PHYSet(rawValue: try reader.read())
        parameters = []
        for _ in 0..<initiatingPHYs.rawValue.nonzeroBitCount {
            parameters.append(
                Parameters(
                    scanInterval: ScanInterval(rawValue: try reader.read()),
                    scanWindow: ScanInterval(rawValue: try reader.read()),
                    connection: try LEConnectionParameters(decoding: &reader)))
        }
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(filterPolicy.rawValue)
        packet.write(ownAddressType.rawValue)
        peerAddress.encodeWithKind(into: &packet)
        packet.write(initiatingPHYs.rawValue)
        for each in parameters {
            packet.write(each.scanInterval.rawValue)
            packet.write(each.scanWindow.rawValue)
            each.connection.encode(into: &packet)
        }
    }
}
