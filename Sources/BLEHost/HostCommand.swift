import BLEPackets

/// What a client may ask of the engine. Each command gets an `OperationID`, by which its completion is reported.
public enum HostCommand: Equatable, Sendable {
    /// Scans until cancelled. A client may have several scans at the same time.
    case scan(ScanRequest)
    /// Changes the standing, filter or minimum RSSI of a running scan; devices already reported are not reported again
    /// (SPEC BGC-3, BGC-4).
    case changeScan(OperationID, ScanRequest)
    /// Advertises until it is cancelled, or until a central connects where the request says so (SPEC PER-8, PER-12).
    case advertise(AdvertiseRequest)
    /// Gives a request that stands another content or standing. One that comes to the foreground is the most recent
    /// there (SPEC BGP-5, 3.5).
    case changeAdvertising(OperationID, AdvertiseRequest)
    /// Waits for the device, without a time limit (SPEC CEN-9), and makes the client a holder of the link.
    case connect(ConnectRequest)
    /// Ends an operation that has not ended yet; nothing happens when it has.
    case cancel(OperationID)
    /// Releases the link for this client; the link is disconnected when its last client has released it (SPEC CEN-23,
    /// CEN-24).
    case disconnect(LinkID)
    /// Carries out a GATT operation; those of a link are carried out in their order. Ends with `HostResult.gatt`.
    case gatt(LinkID, GATTOperation)
    /// Leaves indications of values that this client holds unconfirmed from now on, or confirms again: their senders
    /// wait while it cannot take more. A peer gives the link up after 30 s without a confirmation.
    case holdIndications(Bool)
    /// Puts a service into the local database (SPEC PER-6).
    case publish(GATTServiceDefinition)
    /// Removes the service with this first handle from the local database.
    case removeService(AttributeHandle)
    /// The error for centrals that read or write values and descriptors of this client's services; `nil` enables access
    /// (SPEC FGO-3). Discovery goes on in any case.
    case disableServices(ATTError?)
    /// Changes what the Generic Access service calls this device.
    case setDeviceName(String)
    /// Answers a question of `GATTServerEvent`, once.
    case respond(GATTRequestID, GATTAnswer)
    /// Sends a value to those who subscribed to it, or to those of them that are named (SPEC PER-21).
    case updateValue(AttributeHandle, value: [UInt8], links: [LinkID]?)
    /// Accepts credit-based channels on an SPSM, 0x0001 to 0x00FF; without one, on a free one from 0x0080 on. Where
    /// encryption is required, the key in use has also to be what `SecuritySettings.pairing` and `ChannelSecurity`
    /// demand.
    case listenForChannels(
        spsm: UInt16?, ChannelSettings, requiresEncryption: Bool, demanding: ChannelSecurity? = nil)
    /// Stops accepting channels; open channels stay open.
    case stopListeningForChannels(spsm: UInt16)
    /// Opens a credit-based channel to the peer's SPSM (Core 5.4, Vol 3, Part A, 4.22).
    case openChannel(LinkID, spsm: UInt16, ChannelSettings)
    /// Sends one service data unit; ends when the controller has all of it.
    case sendOnChannel(ChannelID, [UInt8])
    /// The client has consumed this many received units, so the peer may send more.
    case consumeChannelData(ChannelID, units: Int)
    /// Closes a channel. Nothing more is taken or received; the peer is told when it has what was given before, or
    /// after 30 s.
    case closeChannel(ChannelID)
    /// Pairs (as the central), or asks the central to pair (as the peripheral). `nil` uses `SecuritySettings.pairing`.
    /// Ends with `paired`; cancelling it ends the pairing.
    case pair(LinkID, PairingOptions?)
    /// Answers a question of `PairingEvent`, once. Ends with `accepted`: whether it was still open
    /// and the answer is one to it; one of another kind leaves it open.
    case answerPairing(PairingQuestionID, PairingAnswer)
    /// Lets a fixed passkey be used again that was locked after too many failures, and ends the waits that failed
    /// pairings cost. For an operator alone: who does so after each failure gives the passkey away.
    case unlockPasskey
    /// Encrypts a link with the key of its bond; never pairs as the central.
    case encrypt(LinkID)
    /// Changes how links are made secure from now on.
    case setSecurity(SecuritySettings)
    /// Replaces all bonds. Submit it before the first connection.
    case restoreBonds([Bond])
    /// Keeps with a bond what its user calls the device, at most 248 octets of UTF-8. Ends with `accepted`: whether
    /// there is such a bond.
    case nameBond(DeviceAddress, String)
    /// Forgets a peer and ends a link to it. Ends with `accepted`: whether there was a bond.
    case removeBond(DeviceAddress)
    /// Out-of-band data for pairing with this peer, until a pairing with it has succeeded; `nil` removes it.
    case setOutOfBandData(DeviceAddress, OutOfBandData?)
    /// Creates out-of-band data for a peer. Ends with `outOfBandData`.
    case createOutOfBandData
    /// Ends with `HostResult.rssi`.
    case readRSSI(LinkID)
    /// Ends with `HostResult.remoteVersion`.
    case readRemoteVersion(LinkID)
    /// Ends with `HostResult.remoteFeatures`.
    case readRemoteFeatures(LinkID)
    /// Sets the parameters (as the central) or requests them (as the peripheral). Ends with
    /// `HostResult.connectionParameters`, or with `HostFailure.rejectedByPeer`.
    case updateConnectionParameters(LinkID, ConnectionParameterRequest)
    /// Payload octets, 27 to 251, and microseconds, 328 to 17040, that this side may send in one packet.
    case setDataLength(LinkID, octets: UInt16, microseconds: UInt16)
    /// Ends with `HostResult.phy`.
    case readPHY(LinkID)
    /// Requests other PHYs; the controllers negotiate. Ends with `HostResult.phy`.
    case setPHY(LinkID, transmit: PHYSet, receive: PHYSet)
    /// Any HCI command with at most 255 octets of parameters; the engine does not interpret it.
    case sendHCICommand(opcode: HCIOpcode, parameters: [UInt8])
    /// Stops scanning and connecting, ends all links, then tells `HostEvent.stopped`.
    case stop
}

/// Which devices a client wants to hear of, and how.
public struct ScanRequest: Hashable, Sendable {
    /// Whether scan responses are asked for.
    public var isActive: Bool
    /// Report every packet instead of every change (SPEC CEN-27).
    public var allowsDuplicates: Bool
    /// Only devices that advertise one of these services, visibly or in the overflow area; empty: all (SPEC CEN-4).
    public var serviceUUIDs: [BluetoothUUID]
    /// Devices that look for one of these are reported too; `nil` for none (SPEC 2.3).
    public var solicitedServiceUUIDs: [BluetoothUUID]?
    /// Only devices of this complete or shortened name.
    public var name: String?
    /// Only packets received with at least this strength, in dBm.
    public var minimumRSSI: Int8?
    /// Only this device.
    public var address: DeviceAddress?
    /// Whether the client is in the background, where the lower duty cycle is enough.
    public var isInBackground: Bool

    /// `solicitedServiceUUIDs` is `nil`, and may be set afterwards.
    public init(
        isActive: Bool = true, allowsDuplicates: Bool = false, serviceUUIDs: [BluetoothUUID] = [],
        name: String? = nil, minimumRSSI: Int8? = nil, address: DeviceAddress? = nil, isInBackground: Bool = false
    ) {
        self.isActive = isActive
        self.allowsDuplicates = allowsDuplicates
        self.serviceUUIDs = serviceUUIDs
        self.name = name
        self.minimumRSSI = minimumRSSI
        self.address = address
        self.isInBackground = isInBackground
    }
}

/// Which device a client wants to connect to, and how.
public struct ConnectRequest: Hashable, Sendable {
    /// The device; its identity where its private addresses are known.
    public var peer: DeviceAddress
    /// How often a link that could not be established (0x3E) is tried again at once before the operation fails.
    public var establishmentRetries: UInt8
    /// `nil`: as the engine's `Timing` says.
    public var parameters: ConnectionParameterRequest?

    public init(peer: DeviceAddress, establishmentRetries: UInt8 = 5, parameters: ConnectionParameterRequest? = nil) {
        self.peer = peer
        self.establishmentRetries = establishmentRetries
        self.parameters = parameters
    }
}

/// Requested connection parameters (Core 5.4, Vol 6, Part B, 4.5.1).
public struct ConnectionParameterRequest: Hashable, Sendable {
    /// The range of acceptable intervals.
    public var interval: ClosedRange<ConnectionInterval>
    /// Connection events that the peripheral may skip, 0 to 499.
    public var peripheralLatency: UInt16
    /// How long the link may be silent before it counts as lost.
    public var supervisionTimeout: SupervisionTimeout

    public init(
        interval: ClosedRange<ConnectionInterval>, peripheralLatency: UInt16, supervisionTimeout: SupervisionTimeout
    ) {
        self.interval = interval
        self.peripheralLatency = peripheralLatency
        self.supervisionTimeout = supervisionTimeout
    }

    /// Whether the specification allows these values together: 7.5 ms to 4 s, latency at most 499, 100 ms to 32 s, and
    /// a supervision timeout longer than twice the time that the peripheral may be silent
    /// (Core 5.4, Vol 4, Part E, 7.8.12).
    public var isValid: Bool {
        let silence = UInt64(interval.upperBound.rawValue) * (UInt64(peripheralLatency) + 1) * 2 * 1250
        return interval.lowerBound.rawValue >= 6 && interval.upperBound.rawValue <= 3200
            && peripheralLatency <= 499
            && (10...3200).contains(supervisionTimeout.rawValue)
            && UInt64(supervisionTimeout.rawValue) * 10_000 > silence
    }
}

#if !hasFeature(Embedded)
extension HostCommand: Codable {}
extension ScanRequest: Codable {}
extension ConnectRequest: Codable {}
extension ConnectionParameterRequest: Codable {}
#endif
