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
    private let pick: @Sendable (HostResult) -> Answer?

    private init(_ command: HostCommand, _ pick: @escaping @Sendable (HostResult) -> Answer?) {
        self.command = command
        self.pick = pick
    }

    /// The answer in the result of this command; `nil` for the result of another command.
    public func answer(in result: HostResult) -> Answer? { pick(result) }
}

extension HostOperation where Answer == LinkID {
    /// Connects; the link is usable when the operation ends.
    public static func connect(_ request: ConnectRequest) -> Self {
        Self(.radio(.connect(request))) { if case .connected(let link) = $0 { link } else { nil } }
    }
}

// MARK: Links

extension HostOperation where Answer == GATTResult {
    /// Carries out a GATT operation.
    public static func gatt(_ operation: GATTOperation, on link: LinkID) -> Self {
        Self(.link(link, .gatt(operation))) { if case .gatt(let result) = $0 { result } else { nil } }
    }
}

extension HostOperation where Answer == [DiscoveredService] {
    /// Discovers services.
    /// - Parameter uuids: only these; empty: all primary ones.
    public static func discoverServices(_ uuids: [BluetoothUUID], on link: LinkID) -> Self {
        Self(.link(link, .gatt(.discoverServices(uuids: uuids)))) {
            if case .gatt(.services(let found)) = $0 { found } else { nil }
        }
    }
}

extension HostOperation where Answer == [DiscoveredInclude] {
    /// Discovers the services that a service includes.
    public static func discoverIncludedServices(in range: AttributeHandleRange, on link: LinkID) -> Self {
        Self(.link(link, .gatt(.discoverIncludedServices(range)))) {
            if case .gatt(.includedServices(let found)) = $0 { found } else { nil }
        }
    }
}

extension HostOperation where Answer == [DiscoveredCharacteristic] {
    /// Discovers the characteristics of a service.
    /// - Parameter uuids: only these; empty: all.
    public static func discoverCharacteristics(
        _ uuids: [BluetoothUUID], in range: AttributeHandleRange, on link: LinkID
    ) -> Self {
        Self(.link(link, .gatt(.discoverCharacteristics(range, uuids: uuids)))) {
            if case .gatt(.characteristics(let found)) = $0 { found } else { nil }
        }
    }
}

extension HostOperation where Answer == [DiscoveredDescriptor] {
    /// Discovers the descriptors of a characteristic.
    public static func discoverDescriptors(in range: AttributeHandleRange, on link: LinkID) -> Self {
        Self(.link(link, .gatt(.discoverDescriptors(range)))) {
            if case .gatt(.descriptors(let found)) = $0 { found } else { nil }
        }
    }
}

extension HostOperation where Answer == [AttributeValue] {
    /// Reads all values with a type.
    public static func readUsingUUID(
        _ uuid: BluetoothUUID, in range: AttributeHandleRange, on link: LinkID
    ) -> Self {
        Self(.link(link, .gatt(.readUsingUUID(uuid, range)))) {
            if case .gatt(.attributeValues(let values)) = $0 { values } else { nil }
        }
    }
}

extension HostOperation where Answer == Int8 {
    /// Reads the RSSI, in dBm.
    public static func readRSSI(on link: LinkID) -> Self {
        Self(.link(link, .procedure(.readRSSI))) { if case .rssi(let rssi) = $0 { rssi } else { nil } }
    }
}

extension HostOperation where Answer == RemoteVersion {
    /// Reads the version of the peer's controller.
    public static func readRemoteVersion(on link: LinkID) -> Self {
        Self(.link(link, .procedure(.readRemoteVersion))) {
            if case .remoteVersion(let version) = $0 { version } else { nil }
        }
    }
}

extension HostOperation where Answer == LEFeatures {
    /// Reads the features of the peer's link layer.
    public static func readRemoteFeatures(on link: LinkID) -> Self {
        Self(.link(link, .procedure(.readRemoteFeatures))) {
            if case .remoteFeatures(let features) = $0 { features } else { nil }
        }
    }
}

extension HostOperation where Answer == ConnectionParameters {
    /// Sets the connection parameters, or asks the central for them; ends with those in force.
    public static func updateParameters(_ wanted: ConnectionParameterRequest, on link: LinkID) -> Self {
        Self(.link(link, .procedure(.updateParameters(wanted)))) {
            if case .connectionParameters(let parameters) = $0 { parameters } else { nil }
        }
    }
}

extension HostOperation where Answer == DataLength {
    /// Asks for another data length; ends with the one in force when the controller accepted the command.
    public static func setDataLength(octets: UInt16, microseconds: UInt16, on link: LinkID) -> Self {
        Self(.link(link, .procedure(.setDataLength(octets: octets, microseconds: microseconds)))) {
            if case .dataLength(let length) = $0 { length } else { nil }
        }
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
        Self(.link(link, .procedure(procedure))) {
            if case .phy(let transmit, let receive) = $0 { (transmit, receive) } else { nil }
        }
    }
}

// MARK: Channels

extension HostOperation where Answer == ChannelInformation {
    /// Opens a credit-based channel to the peer's SPSM.
    public static func openChannel(_ spsm: UInt16, _ settings: ChannelSettings, on link: LinkID) -> Self {
        Self(.channel(.open(link, spsm: spsm, settings))) {
            if case .channel(let information) = $0 { information } else { nil }
        }
    }
}

extension HostOperation where Answer == UInt16 {
    /// Accepts channels; ends with the SPSM.
    /// - Parameter spsm: `nil` for one that is free.
    public static func listen(
        spsm: UInt16?, _ settings: ChannelSettings, requiresEncryption: Bool, demanding demand: ChannelSecurity? = nil
    ) -> Self {
        Self(.channel(.listen(spsm: spsm, settings, requiresEncryption: requiresEncryption, demanding: demand))) {
            if case .listening(let spsm) = $0 { spsm } else { nil }
        }
    }
}

// MARK: Server and security

extension HostOperation where Answer == GATTPublishedService {
    /// Adds a service to the local database.
    public static func publish(_ service: GATTServiceDefinition) -> Self {
        Self(.server(.publish(service))) { if case .published(let service) = $0 { service } else { nil } }
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
        Self(command) { if case .accepted(let isAccepted) = $0 { isAccepted } else { nil } }
    }
}

extension HostOperation where Answer == PairingSummary {
    /// Pairs, or asks the central to pair.
    public static func pair(_ link: LinkID, _ options: PairingOptions?) -> Self {
        Self(.security(.pair(link, options))) { if case .paired(let summary) = $0 { summary } else { nil } }
    }
}

extension HostOperation where Answer == LocalOutOfBandData {
    /// Creates out-of-band data for a peer.
    public static var createOutOfBandData: Self {
        Self(.security(.createOutOfBandData)) { if case .outOfBandData(let data) = $0 { data } else { nil } }
    }
}

// MARK: Octets

extension HostOperation where Answer == [UInt8] {
    /// Reads the whole value, even a long one.
    public static func read(_ handle: AttributeHandle, on link: LinkID) -> Self {
        Self(.link(link, .gatt(.read(handle)))) { if case .gatt(.value(let value)) = $0 { value } else { nil } }
    }

    /// Sends any HCI command; ends with the return parameters of Command Complete, or the status octet of Command
    /// Status.
    public static func sendHCICommand(_ opcode: HCIOpcode, _ parameters: [UInt8]) -> Self {
        Self(.sendHCICommand(opcode: opcode, parameters: parameters)) {
            if case .hciAnswer(let octets) = $0 { octets } else { nil }
        }
    }
}
