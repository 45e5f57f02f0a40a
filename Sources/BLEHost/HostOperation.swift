#if !hasFeature(Embedded)  // its only owner there, the C library, passes on results of every kind
import BLEPackets

/// A command together with the type of its answer.
///
/// `HostEvent.completed` reports results of every kind. An operation knows which kind its command ends with, so its
/// caller gets a value of that type only:
///
///     let reading = HostOperation.readRSSI(on: link)
///     let id = host.submit(reading.command, at: now)
///     …
///     case .completed(id, .success(let result)): print(reading.answer(in: result))
public struct HostOperation<Answer>: Sendable {
    /// The command for the engine.
    public let command: HostCommand
    private let kind: HostAnswer<Answer>

    private init(_ command: HostCommand, _ kind: HostAnswer<Answer>) {
        self.command = command
        self.kind = kind
    }

    /// The answer in the result of this command; `nil` for the result of another command.
    public func answer(in result: HostResult) -> Answer? { kind.value(in: result) }
}

extension HostOperation where Answer == LinkID {
    /// Connects; the link is usable when the operation ends.
    public static func connect(_ request: ConnectRequest) -> Self {
        Self(.radio(.connect(request)), .link)
    }
}

// MARK: Links

extension HostOperation where Answer == GATTResult {
    /// Carries out a GATT operation.
    public static func gatt(_ operation: GATTOperation, on link: LinkID) -> Self {
        Self(.link(link, .gatt(operation)), .gatt)
    }
}

extension HostOperation where Answer == [DiscoveredService] {
    /// Discovers services.
    /// - Parameter uuids: only these; empty: all primary ones.
    public static func discoverServices(_ uuids: [BluetoothUUID], on link: LinkID) -> Self {
        Self(.link(link, .gatt(.discoverServices(uuids: uuids))), .services)
    }
}

extension HostOperation where Answer == [DiscoveredInclude] {
    /// Discovers the services that a service includes.
    public static func discoverIncludedServices(in range: AttributeHandleRange, on link: LinkID) -> Self {
        Self(.link(link, .gatt(.discoverIncludedServices(range))), .includedServices)
    }
}

extension HostOperation where Answer == [DiscoveredCharacteristic] {
    /// Discovers the characteristics of a service.
    /// - Parameter uuids: only these; empty: all.
    public static func discoverCharacteristics(
        _ uuids: [BluetoothUUID], in range: AttributeHandleRange, on link: LinkID
    ) -> Self {
        Self(.link(link, .gatt(.discoverCharacteristics(range, uuids: uuids))), .characteristics)
    }
}

extension HostOperation where Answer == [DiscoveredDescriptor] {
    /// Discovers the descriptors of a characteristic.
    public static func discoverDescriptors(in range: AttributeHandleRange, on link: LinkID) -> Self {
        Self(.link(link, .gatt(.discoverDescriptors(range))), .descriptors)
    }
}

extension HostOperation where Answer == [AttributeValue] {
    /// Reads all values with a type.
    public static func readUsingUUID(_ uuid: BluetoothUUID, in range: AttributeHandleRange, on link: LinkID) -> Self {
        Self(.link(link, .gatt(.readUsingUUID(uuid, range))), .attributeValues)
    }
}

extension HostOperation where Answer == Int8 {
    /// Reads the RSSI, in dBm.
    public static func readRSSI(on link: LinkID) -> Self {
        Self(.link(link, .procedure(.readRSSI)), .rssi)
    }
}

extension HostOperation where Answer == RemoteVersion {
    /// Reads the version of the peer's controller.
    public static func readRemoteVersion(on link: LinkID) -> Self {
        Self(.link(link, .procedure(.readRemoteVersion)), .remoteVersion)
    }
}

extension HostOperation where Answer == LEFeatures {
    /// Reads the features of the peer's link layer.
    public static func readRemoteFeatures(on link: LinkID) -> Self {
        Self(.link(link, .procedure(.readRemoteFeatures)), .remoteFeatures)
    }
}

extension HostOperation where Answer == ConnectionParameters {
    /// Sets the connection parameters, or asks the central for them; ends with those in force.
    public static func updateParameters(_ wanted: ConnectionParameterRequest, on link: LinkID) -> Self {
        Self(.link(link, .procedure(.updateParameters(wanted))), .connectionParameters)
    }
}

extension HostOperation where Answer == LinkSubrate {
    /// Requests that a link uses a share of its connection events.
    public static func setSubrate(_ parameters: SubrateParameters, on link: LinkID) -> Self {
        Self(.link(link, .procedure(.setSubrate(parameters))), .subrate)
    }
}

extension HostOperation where Answer == TransmitPower {
    /// Reads the power with which this side sends on a link.
    public static func readTransmitPower(_ phy: PowerPHY, on link: LinkID) -> Self {
        Self(.link(link, .procedure(.readTransmitPower(phy: phy))), .transmitPower)
    }

    /// Asks the peer for the power with which it sends.
    public static func readRemoteTransmitPower(_ phy: PowerPHY, on link: LinkID) -> Self {
        Self(.link(link, .procedure(.readRemoteTransmitPower(phy: phy))), .transmitPower)
    }
}

extension HostOperation where Answer == DataLength {
    /// Asks for another data length; ends with the one in force when the controller accepted the command.
    public static func setDataLength(octets: UInt16, microseconds: UInt16, on link: LinkID) -> Self {
        Self(.link(link, .procedure(.setDataLength(octets: octets, microseconds: microseconds))), .dataLength)
    }
}

extension HostOperation where Answer == (transmit: PHY, receive: PHY) {
    /// Reads the PHYs in use.
    public static func readPHY(on link: LinkID) -> Self { phys(.readPHY, link) }

    /// Asks for other PHYs; ends with those that both sides agreed on.
    public static func setPHY(transmit: PHYSet, receive: PHYSet, on link: LinkID) -> Self {
        phys(.setPHY(transmit: transmit, receive: receive), link)
    }

    private static func phys(_ procedure: LinkProcedure, _ link: LinkID) -> Self {
        Self(.link(link, .procedure(procedure)), .phy)
    }
}

// MARK: Channels

extension HostOperation where Answer == ChannelInformation {
    /// Opens a credit-based channel to the peer's SPSM.
    public static func openChannel(_ spsm: UInt16, _ settings: ChannelSettings, on link: LinkID) -> Self {
        Self(.channel(.open(link, spsm: spsm, settings)), .channel)
    }
}

extension HostOperation where Answer == [ChannelInformation] {
    /// Opens up to five channels of the enhanced form; ends with those that the peer accepted.
    public static func openEnhancedChannels(
        _ spsm: UInt16, _ settings: ChannelSettings, count: Int, on link: LinkID
    ) -> Self {
        Self(.channel(.openEnhanced(link, spsm: spsm, settings, count: count)), .channels)
    }
}

extension HostOperation where Answer == UInt16 {
    /// Accepts channels; ends with the SPSM.
    /// - Parameter spsm: `nil` for one that is free.
    public static func listen(
        spsm: UInt16?, _ settings: ChannelSettings, requiresEncryption: Bool, demanding demand: ChannelSecurity? = nil
    ) -> Self {
        Self(
            .channel(.listen(spsm: spsm, settings, requiresEncryption: requiresEncryption, demanding: demand)),
            .listening)
    }
}

// MARK: Server and security

extension HostOperation where Answer == GATTPublishedService {
    /// Adds a service to the local database.
    public static func publish(_ service: GATTServiceDefinition) -> Self {
        Self(.server(.publish(service)), .published)
    }
}

extension HostOperation where Answer == Bool {
    /// Answers a question of the server; ends with whether the question was still open.
    public static func respond(to question: GATTRequestID, with answer: GATTAnswer) -> Self {
        accepted(.server(.respond(question, answer)))
    }

    /// Sends a value to its subscribers; ends with whether there was room.
    /// - Parameter links: only these; `nil` for all.
    public static func updateValue(_ value: [UInt8], of handle: AttributeHandle, to links: [LinkID]?) -> Self {
        accepted(.server(.updateValue(handle, value: value, links: links)))
    }

    /// Answers a question of pairing; ends with whether the question was still open and this answer fits it.
    public static func answerPairing(_ question: PairingQuestionID, _ answer: PairingAnswer) -> Self {
        accepted(.security(.answerPairing(question, answer)))
    }

    /// Stores a name with a bond; ends with whether there is such a bond.
    public static func nameBond(_ identity: DeviceAddress, _ name: String) -> Self {
        accepted(.security(.nameBond(identity, name)))
    }

    /// Forgets a bond; ends with whether there was one.
    public static func removeBond(_ identity: DeviceAddress) -> Self { accepted(.security(.removeBond(identity))) }

    private static func accepted(_ command: HostCommand) -> Self {
        Self(command, .accepted)
    }
}

extension HostOperation where Answer == PairingSummary {
    /// Pairs, or asks the central to pair.
    public static func pair(_ link: LinkID, _ options: PairingOptions?) -> Self {
        Self(.security(.pair(link, options)), .paired)
    }
}

extension HostOperation where Answer == LocalOutOfBandData {
    /// Creates out-of-band data for a peer.
    public static var createOutOfBandData: Self {
        Self(.security(.createOutOfBandData), .outOfBandData)
    }
}

// MARK: Octets

extension HostOperation where Answer == [UInt8] {
    /// Reads the whole value, even a long one.
    public static func read(_ handle: AttributeHandle, on link: LinkID) -> Self {
        Self(.link(link, .gatt(.read(handle))), .value)
    }

    /// Sends any HCI command; ends with the return parameters of Command Complete, or the status octet of Command
    /// Status.
    public static func sendHCICommand(_ opcode: HCIOpcode, _ parameters: [UInt8]) -> Self {
        Self(.sendHCICommand(opcode: opcode, parameters: parameters), .hciAnswer)
    }
}
#endif
