/// An event with its parameters as values: what the controller said, to keep or to look through
/// (Core 5.4, Vol 4, Part E, 7.7).
///
/// Events that an LE host has no use for, those of BR/EDR, of isochronous channels and of the makers, are kept as
/// bytes, so that nothing is lost. Where speed counts, `HCIEventPacketView` reads an event in place.
public enum HCIEventPacket: Equatable, Sendable {
    /// A link ended.
    case disconnectionComplete(DisconnectionComplete)
    /// A link is encrypted now, or no longer, or could not be.
    case encryptionChange(EncryptionChange)
    /// Maker and version of the other side's controller.
    case readRemoteVersionInformationComplete(ReadRemoteVersionInformationComplete)
    /// A command is done; its results.
    case commandComplete(CommandComplete)
    /// A command has begun, or was refused; its end comes as another event.
    case commandStatus(CommandStatus)
    /// The controller's hardware failed; only a reset may help.
    case hardwareError(HardwareError)
    /// Buffers of the controller are free again: the host may send so many more.
    case numberOfCompletedPackets(NumberOfCompletedPackets)
    /// The host sent more than the controller has room for.
    case dataBufferOverflow(DataBufferOverflow)
    /// An encrypted link goes on with a new key.
    case encryptionKeyRefreshComplete(EncryptionKeyRefreshComplete)
    /// No packet of an encrypted link was authenticated for the time that was set.
    case authenticatedPayloadTimeoutExpired(AuthenticatedPayloadTimeoutExpired)
    /// Like `encryptionChange`, and says how long the key is.
    case encryptionChangeV2(EncryptionChangeV2)
    /// There is a link, or it could not be made.
    case leConnectionComplete(LEConnectionComplete)
    /// Legacy advertisements and scan responses that were heard.
    case leAdvertisingReport(LEAdvertisingReport)
    /// A link has other connection parameters, or kept the old ones.
    case leConnectionUpdateComplete(LEConnectionUpdateComplete)
    /// What the other side's Link Layer can do.
    case leReadRemoteFeaturesComplete(LEReadRemoteFeaturesComplete)
    /// The controller of a peripheral asks for the key: the central wants to encrypt.
    case leLongTermKeyRequest(LELongTermKeyRequest)
    /// The other side asks for other connection parameters.
    case leRemoteConnectionParameterRequest(LERemoteConnectionParameterRequest)
    /// Packets of a link may be longer or shorter than before.
    case leDataLengthChange(LEDataLengthChange)
    /// The public key that the controller made.
    case leReadLocalP256PublicKeyComplete(LEReadLocalP256PublicKeyComplete)
    /// The shared secret that the controller worked out.
    case leGenerateDHKeyComplete(LEGenerateDHKeyComplete)
    /// Like `connectionComplete`, and tells the resolvable addresses that were used.
    case leEnhancedConnectionComplete(LEEnhancedConnectionComplete)
    /// An advertisement directed to a resolvable address that the controller could not resolve.
    case leDirectedAdvertisingReport(LEDirectedAdvertisingReport)
    /// A link runs on other PHYs, or does not, though that was asked for.
    case lePHYUpdateComplete(LEPHYUpdateComplete)
    /// Extended and legacy advertisements and scan responses that were heard.
    case leExtendedAdvertisingReport(LEExtendedAdvertisingReport)
    /// The controller follows a periodic train, or could not find it.
    case lePeriodicAdvertisingSyncEstablished(LEPeriodicAdvertisingSyncEstablished)
    /// Data of a periodic train that was heard.
    case lePeriodicAdvertisingReport(LEPeriodicAdvertisingReport)
    /// A periodic train was not heard for its timeout and is no longer followed.
    case lePeriodicAdvertisingSyncLost(LEPeriodicAdvertisingSyncLost)
    /// Scanning ended after the time that was set.
    case leScanTimeout(LEScanTimeout)
    /// A set stopped advertising: a link came of it, or its time or its events are used up.
    case leAdvertisingSetTerminated(LEAdvertisingSetTerminated)
    /// Somebody asked an advertising set for its scan response.
    case leScanRequestReceived(LEScanRequestReceived)
    /// How a new link chooses its channels.
    case leChannelSelectionAlgorithm(LEChannelSelectionAlgorithm)
    /// The other side of a link told of a periodic train, and the controller follows it or could not find it.
    case lePeriodicAdvertisingSyncTransferReceived(LEPeriodicAdvertisingSyncTransferReceived)
    /// How exact the other side's sleep clock is.
    case leRequestPeerSCAComplete(LERequestPeerSCAComplete)
    /// The loss on the way to the other side passed a limit that was set.
    case lePathLossThreshold(LEPathLossThreshold)
    /// The power of one side of a link changed, or was asked for.
    case leTransmitPowerReporting(LETransmitPowerReporting)
    /// Another share of its connection events is used by a link.
    case leSubrateChange(LESubrateChange)
    /// Like `enhancedConnectionComplete`, and names the set or train that the link came of.
    case leEnhancedConnectionCompleteV2(LEEnhancedConnectionCompleteV2)
    /// Any other event: its code and its parameters.
    case other(HCIEventCode, [UInt8])
    /// Any other event of the LE Meta family: its subevent code and what follows.
    case otherLEMeta(LESubeventCode, [UInt8])

    /// Decodes a packet; what stands behind the last known parameter of an event does not count.
    /// - Parameter packet: The packet behind the H4 packet type.
    /// - Throws: `DecodingError.lengthMismatch` when the parameters are longer or shorter than the header says, and
    ///   what the decoders of the known events throw.
    public init(decoding packet: RawSpan) throws(DecodingError) {
        let view = try HCIEventPacketView(decoding: packet)
        var reader = PacketReader(view.parameters)
        try self.init(code: view.code, decoding: &reader)
    }

    /// Decodes the parameters of an event; what stands behind the last known one is left to the reader.
    /// - Throws: `DecodingError` when a known event is not whole or a field of it has no meaning.
    public init(code: HCIEventCode, decoding reader: inout PacketReader) throws(DecodingError) {
        switch code {
        case .disconnectionComplete: self = .disconnectionComplete(try DisconnectionComplete(decoding: &reader))
        case .encryptionChange: self = .encryptionChange(try EncryptionChange(decoding: &reader))
        case .readRemoteVersionInformationComplete:
            self = .readRemoteVersionInformationComplete(try ReadRemoteVersionInformationComplete(decoding: &reader))
        case .commandComplete: self = .commandComplete(try CommandComplete(decoding: &reader))
        case .commandStatus: self = .commandStatus(try CommandStatus(decoding: &reader))
        case .hardwareError: self = .hardwareError(try HardwareError(decoding: &reader))
        case .numberOfCompletedPackets:
            self = .numberOfCompletedPackets(try NumberOfCompletedPackets(decoding: &reader))
        case .dataBufferOverflow: self = .dataBufferOverflow(try DataBufferOverflow(decoding: &reader))
        case .encryptionKeyRefreshComplete:
            self = .encryptionKeyRefreshComplete(try EncryptionKeyRefreshComplete(decoding: &reader))
        case .authenticatedPayloadTimeoutExpired:
            self = .authenticatedPayloadTimeoutExpired(try AuthenticatedPayloadTimeoutExpired(decoding: &reader))
        case .encryptionChangeV2: self = .encryptionChangeV2(try EncryptionChangeV2(decoding: &reader))
        case .leMeta:
            let subevent = LESubeventCode(rawValue: try reader.read())
            try self.init(subevent: subevent, decoding: &reader)
        default: self = .other(code, reader.readRest().copied())
        }
    }

    private init(subevent: LESubeventCode, decoding reader: inout PacketReader) throws(DecodingError) {
        switch subevent {
        case .connectionComplete: self = .leConnectionComplete(try LEConnectionComplete(decoding: &reader))
        case .advertisingReport: self = .leAdvertisingReport(try LEAdvertisingReport(decoding: &reader))
        case .connectionUpdateComplete:
            self = .leConnectionUpdateComplete(try LEConnectionUpdateComplete(decoding: &reader))
        case .readRemoteFeaturesComplete:
            self = .leReadRemoteFeaturesComplete(try LEReadRemoteFeaturesComplete(decoding: &reader))
        case .longTermKeyRequest: self = .leLongTermKeyRequest(try LELongTermKeyRequest(decoding: &reader))
        case .remoteConnectionParameterRequest:
            self = .leRemoteConnectionParameterRequest(try LERemoteConnectionParameterRequest(decoding: &reader))
        case .dataLengthChange: self = .leDataLengthChange(try LEDataLengthChange(decoding: &reader))
        case .readLocalP256PublicKeyComplete:
            self = .leReadLocalP256PublicKeyComplete(try LEReadLocalP256PublicKeyComplete(decoding: &reader))
        case .generateDHKeyComplete: self = .leGenerateDHKeyComplete(try LEGenerateDHKeyComplete(decoding: &reader))
        case .enhancedConnectionComplete:
            self = .leEnhancedConnectionComplete(try LEEnhancedConnectionComplete(decoding: &reader))
        case .directedAdvertisingReport:
            self = .leDirectedAdvertisingReport(try LEDirectedAdvertisingReport(decoding: &reader))
        case .phyUpdateComplete: self = .lePHYUpdateComplete(try LEPHYUpdateComplete(decoding: &reader))
        case .extendedAdvertisingReport:
            self = .leExtendedAdvertisingReport(try LEExtendedAdvertisingReport(decoding: &reader))
        case .periodicAdvertisingSyncEstablished:
            self = .lePeriodicAdvertisingSyncEstablished(try LEPeriodicAdvertisingSyncEstablished(decoding: &reader))
        case .periodicAdvertisingReport:
            self = .lePeriodicAdvertisingReport(try LEPeriodicAdvertisingReport(decoding: &reader))
        case .periodicAdvertisingSyncLost:
            self = .lePeriodicAdvertisingSyncLost(try LEPeriodicAdvertisingSyncLost(decoding: &reader))
        case .scanTimeout: self = .leScanTimeout(try LEScanTimeout(decoding: &reader))
        case .advertisingSetTerminated:
            self = .leAdvertisingSetTerminated(try LEAdvertisingSetTerminated(decoding: &reader))
        case .scanRequestReceived: self = .leScanRequestReceived(try LEScanRequestReceived(decoding: &reader))
        case .channelSelectionAlgorithm:
            self = .leChannelSelectionAlgorithm(try LEChannelSelectionAlgorithm(decoding: &reader))
        case .periodicAdvertisingSyncTransferReceived:
            self = .lePeriodicAdvertisingSyncTransferReceived(
                try LEPeriodicAdvertisingSyncTransferReceived(decoding: &reader))
        case .requestPeerSCAComplete: self = .leRequestPeerSCAComplete(try LERequestPeerSCAComplete(decoding: &reader))
        case .pathLossThreshold: self = .lePathLossThreshold(try LEPathLossThreshold(decoding: &reader))
        case .transmitPowerReporting: self = .leTransmitPowerReporting(try LETransmitPowerReporting(decoding: &reader))
        case .subrateChange: self = .leSubrateChange(try LESubrateChange(decoding: &reader))
        case .enhancedConnectionCompleteV2:
            self = .leEnhancedConnectionCompleteV2(try LEEnhancedConnectionCompleteV2(decoding: &reader))
        default: self = .otherLEMeta(subevent, reader.readRest().copied())
        }
    }

    public var code: HCIEventCode {
        switch self {
        case .disconnectionComplete: .disconnectionComplete
        case .encryptionChange: .encryptionChange
        case .readRemoteVersionInformationComplete: .readRemoteVersionInformationComplete
        case .commandComplete: .commandComplete
        case .commandStatus: .commandStatus
        case .hardwareError: .hardwareError
        case .numberOfCompletedPackets: .numberOfCompletedPackets
        case .dataBufferOverflow: .dataBufferOverflow
        case .encryptionKeyRefreshComplete: .encryptionKeyRefreshComplete
        case .authenticatedPayloadTimeoutExpired: .authenticatedPayloadTimeoutExpired
        case .encryptionChangeV2: .encryptionChangeV2
        case .other(let code, _): code
        default: .leMeta
        }
    }

    /// `nil` for events outside the LE Meta family.
    public var subevent: LESubeventCode? {
        switch self {
        case .leConnectionComplete: .connectionComplete
        case .leAdvertisingReport: .advertisingReport
        case .leConnectionUpdateComplete: .connectionUpdateComplete
        case .leReadRemoteFeaturesComplete: .readRemoteFeaturesComplete
        case .leLongTermKeyRequest: .longTermKeyRequest
        case .leRemoteConnectionParameterRequest: .remoteConnectionParameterRequest
        case .leDataLengthChange: .dataLengthChange
        case .leReadLocalP256PublicKeyComplete: .readLocalP256PublicKeyComplete
        case .leGenerateDHKeyComplete: .generateDHKeyComplete
        case .leEnhancedConnectionComplete: .enhancedConnectionComplete
        case .leDirectedAdvertisingReport: .directedAdvertisingReport
        case .lePHYUpdateComplete: .phyUpdateComplete
        case .leExtendedAdvertisingReport: .extendedAdvertisingReport
        case .lePeriodicAdvertisingSyncEstablished: .periodicAdvertisingSyncEstablished
        case .lePeriodicAdvertisingReport: .periodicAdvertisingReport
        case .lePeriodicAdvertisingSyncLost: .periodicAdvertisingSyncLost
        case .leScanTimeout: .scanTimeout
        case .leAdvertisingSetTerminated: .advertisingSetTerminated
        case .leScanRequestReceived: .scanRequestReceived
        case .leChannelSelectionAlgorithm: .channelSelectionAlgorithm
        case .lePeriodicAdvertisingSyncTransferReceived: .periodicAdvertisingSyncTransferReceived
        case .leRequestPeerSCAComplete: .requestPeerSCAComplete
        case .lePathLossThreshold: .pathLossThreshold
        case .leTransmitPowerReporting: .transmitPowerReporting
        case .leSubrateChange: .subrateChange
        case .leEnhancedConnectionCompleteV2: .enhancedConnectionCompleteV2
        case .otherLEMeta(let subevent, _): subevent
        default: nil
        }
    }

    /// Writes a whole H4 event packet: type, code, length, parameters.
    public func encodePacket(into packet: inout PacketWriter) {
        packet.write(H4PacketType.event.rawValue)
        encode(into: &packet)
    }

    /// Writes code, length and parameters.
    public func encode(into packet: inout PacketWriter) {
        packet.write(code.rawValue)
        let lengthOffset = packet.count
        packet.write(UInt8(0))
        if let subevent { packet.write(subevent.rawValue) }
        encodeParameters(into: &packet)
        packet.overwrite(UInt8(truncatingIfNeeded: packet.count - lengthOffset - 1), at: lengthOffset)
    }

    private func encodeParameters(into packet: inout PacketWriter) {
        switch self {
        case .disconnectionComplete(let event): event.encode(into: &packet)
        case .encryptionChange(let event): event.encode(into: &packet)
        case .readRemoteVersionInformationComplete(let event): event.encode(into: &packet)
        case .commandComplete(let event): event.encode(into: &packet)
        case .commandStatus(let event): event.encode(into: &packet)
        case .hardwareError(let event): event.encode(into: &packet)
        case .numberOfCompletedPackets(let event): event.encode(into: &packet)
        case .dataBufferOverflow(let event): event.encode(into: &packet)
        case .encryptionKeyRefreshComplete(let event): event.encode(into: &packet)
        case .authenticatedPayloadTimeoutExpired(let event): event.encode(into: &packet)
        case .encryptionChangeV2(let event): event.encode(into: &packet)
        case .leConnectionComplete(let event): event.encode(into: &packet)
        case .leAdvertisingReport(let event): event.encode(into: &packet)
        case .leConnectionUpdateComplete(let event): event.encode(into: &packet)
        case .leReadRemoteFeaturesComplete(let event): event.encode(into: &packet)
        case .leLongTermKeyRequest(let event): event.encode(into: &packet)
        case .leRemoteConnectionParameterRequest(let event): event.encode(into: &packet)
        case .leDataLengthChange(let event): event.encode(into: &packet)
        case .leReadLocalP256PublicKeyComplete(let event): event.encode(into: &packet)
        case .leGenerateDHKeyComplete(let event): event.encode(into: &packet)
        case .leEnhancedConnectionComplete(let event): event.encode(into: &packet)
        case .leDirectedAdvertisingReport(let event): event.encode(into: &packet)
        case .lePHYUpdateComplete(let event): event.encode(into: &packet)
        case .leExtendedAdvertisingReport(let event): event.encode(into: &packet)
        case .lePeriodicAdvertisingSyncEstablished(let event): event.encode(into: &packet)
        case .lePeriodicAdvertisingReport(let event): event.encode(into: &packet)
        case .lePeriodicAdvertisingSyncLost(let event): event.encode(into: &packet)
        case .leScanTimeout(let event): event.encode(into: &packet)
        case .leAdvertisingSetTerminated(let event): event.encode(into: &packet)
        case .leScanRequestReceived(let event): event.encode(into: &packet)
        case .leChannelSelectionAlgorithm(let event): event.encode(into: &packet)
        case .lePeriodicAdvertisingSyncTransferReceived(let event): event.encode(into: &packet)
        case .leRequestPeerSCAComplete(let event): event.encode(into: &packet)
        case .lePathLossThreshold(let event): event.encode(into: &packet)
        case .leTransmitPowerReporting(let event): event.encode(into: &packet)
        case .leSubrateChange(let event): event.encode(into: &packet)
        case .leEnhancedConnectionCompleteV2(let event): event.encode(into: &packet)
        case .other(_, let bytes), .otherLEMeta(_, let bytes): packet.write(bytes: bytes)
        }
    }
}
