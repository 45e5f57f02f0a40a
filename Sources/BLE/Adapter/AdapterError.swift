import BLEHost
import BLEPackets
import BLETransport

/// Errors of an adapter. The description of each names the cause and, if there is one, the remedy.
public enum AdapterError: Error, Equatable, Sendable {
    /// The transport could not be opened, or failed.
    case transport(TransportError)
    /// The engine or the peer reported an error.
    case host(HostFailure)
    /// The controller did not become ready in time.
    case startupTimeout
    /// The adapter was closed.
    case closed
    /// The peer has no such attribute: a service, characteristic or descriptor with this UUID.
    case notFound(BluetoothUUID)
    /// The characteristic neither notifies nor indicates (SPEC CEN-16).
    case notSubscribable(BluetoothUUID)
    /// An anonymous advertisement: a device without an address cannot be connected to.
    case noAddress
    /// The operation took longer than the limit that was given.
    case timedOut(Duration)
    /// Bonds could not be read or saved.
    case bondStore(BondStoreError)
    /// The engine ended an operation with the result of another: a defect of this library.
    case unexpectedResult(HostResult)
}

extension AdapterError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .transport(let error): error.description
        case .host(let failure): failure.description
        case .startupTimeout:
            "the controller did not become ready; check that a controller answers HCI commands there"
        case .closed: "the adapter has been closed"
        case .notFound(let uuid): "the peer has no attribute \(uuid)"
        case .notSubscribable(let uuid): "\(uuid) neither notifies nor indicates"
        case .noAddress: "the advertisement is anonymous; wait for one with an address"
        case .timedOut(let limit):
            "nothing came of it within \(limit); check that the device is switched on, in range and not connected elsewhere"
        case .bondStore(let error): error.description
        case .unexpectedResult(let result):
            "an operation ended with the result of another, \(result): this is a defect; please report it"
        }
    }
}

extension HostFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cancelled: "the operation was cancelled"
        case .controllerLost: "the controller was lost while the operation ran"
        case .controllerUnresponsive:
            "the controller does not respond, even after a reset; unplug it or switch it off and on"
        case .controller(let status, let opcode):
            "the controller refused command \(hexadecimal(opcode.rawValue, digits: 4)): \(status.text)"
        case .commandTimeout(let opcode):
            "the controller did not answer command \(hexadecimal(opcode.rawValue, digits: 4))"
        case .linkLost(let reason): "the link ended: \(reason)"
        case .notConnected: "there is no link to the device; connect first"
        case .connectionFailed(let status): "the connection could not be made: \(status.text)"
        case .gatt(let failure): failure.description
        case .channel(let failure): failure.description
        case .security(let failure): failure.description
        case .publishing(let error): "the service cannot be published: \(error)"
        case .invalidRequest(.advertisementTooLong):
            "advertising data and scan response hold at most 31 bytes each"
        case .invalidRequest(.connectionParameters):
            "invalid connection parameters: the interval must be 7.5 ms to 4 s, the latency at most 499, and the "
                + "supervision timeout longer than 2 × (latency + 1) × interval"
        case .invalidRequest(.parametersTooLong): "an HCI command takes at most 255 bytes of parameters"
        case .invalidRequest(.stopped): "the adapter has been stopped"
        case .invalidRequest(.notAvailableOnSharedController):
            "this controller is shared, with the kernel (raw:) or with other programs (bled); this needs one of its own "
                + "(user:N)"
        case .invalidRequest(.notPermitted):
            "the daemon lets only root, its own user and the group of its operators do this"
        case .procedureTimeout: "the controller did not report the end of the procedure"
        case .rejectedByPeer: "the peer refused the connection parameters"
        case .limitReached: "too many links or operations at the same time"
        }
    }
}

extension GATTFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .att(let error, let handle):
            "the device answered \(hexadecimal(error.rawValue, digits: 2)) (\(error.text)) for handle "
                + hexadecimal(handle.rawValue, digits: 4)
        case .invalidResponse(let detail): "the device sent an invalid response: \(detail)"
        case .transactionTimeout: "the device did not answer within 30 s; the link was closed"
        case .disconnected(let status): "the link ended: \(status.text)"
        case .bearerClosed: "the link no longer carries requests"
        case .notConnected: "there is no link to the device; connect first"
        case .cancelled: "the operation was cancelled"
        case .valueTooLong(let limit): "the value is longer than \(limit) bytes"
        case .invalidParameters: "the parameters of the request contradict each other"
        case .queueFull: "too many operations are waiting"
        case .reliableWriteMismatch(let handle):
            "the device received a different value for handle \(hexadecimal(handle.rawValue, digits: 4)); nothing was "
                + "written"
        case .discoveryTooLong:
            "the device reports more attributes than any real device has, or too slowly; specify the service or the "
                + "handle instead"
        case .notSubscribed: "there is no subscription to end"
        case .security(let failure): failure.description
        }
    }
}

extension ChannelFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused(.spsmNotSupported): "the device does not offer a channel on this SPSM"
        case .refused(.insufficientAuthentication), .refused(.insufficientEncryption):
            "the device requires encryption for this channel; pair first"
        case .refused(let result):
            "the device refused the channel with result \(hexadecimal(result.rawValue, digits: 4))"
        case .notReconfigurable: "the channel cannot be changed to these sizes"
        case .invalidAnswer: "the device sent an invalid response to the channel request"
        case .notOpen: "the channel is not open"
        case .noResources: "too many channels, or too much data is waiting on this one"
        case .unitTooLong: "the data is longer than the device accepts at once"
        case .invalidSPSM: "the SPSM must be 0x0001 to 0x00FF and not in use"
        }
    }
}

extension DisconnectionReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .releasedByClient: "closed by this side"
        case .controller(let status): status.text
        case .controllerLost: "the controller was reset or lost"
        }
    }
}

/// `0x` and upper-case digits.
func hexadecimal(_ value: some UnsignedInteger, digits: Int) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return "0x" + String(repeating: "0", count: max(0, digits - text.count)) + text
}

extension SecurityFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refusedByUs(let reason): "this side aborted pairing: \(reason)"
        case .refusedByPeer(let reason): "the device aborted pairing: \(reason)"
        case .timedOut: "the device stopped answering during pairing; disconnect before you try again"
        case .keyMissingAtPeer:
            "the device has lost the keys of the bond; if you know why, replace the bond or "
                + "remove it, and pair again"
        case .wouldReplaceBond:
            "the device claims to be a bonded device without proof; if it has lost its keys, replace the bond "
                + "or remove it, and pair again"
        case .keyTooWeak:
            "the key of the link is weaker than required; pair again, or require less"
        case .encryptionFailed(let status):
            "the link could not be encrypted: \(status.text); if the device has lost its keys, replace the bond "
                + "or remove it, and pair again"
        case .noKey: "there is no key to encrypt the link with; pair first"
        case .notAvailable: "pairing is not available: no cryptography is configured, or the controller is shared"
        case .alreadyPairing: "pairing is already in progress"
        case .repeatedAttempts(let wait):
            "an earlier attempt failed; try again in \(max(1, (wait.rawValue + 999_999) / 1_000_000)) s"
        case .passkeyLocked:
            "too many pairings with this fixed passkey failed, so it is locked; choose another one, or unlock it "
                + "once the attempts have stopped"
        case .tooManyBonds: "the bond store is full; remove a bond and pair again"
        case .linkLost: "the link ended"
        case .cancelled: "pairing was cancelled"
        }
    }
}
