import BLEHost
import BLEPackets

// The texts of the failures inside a `BLEError`.

extension HostFailure: CustomStringConvertible {
    public var description: String { BLEError(self).description }
}

extension GATTFailure: CustomStringConvertible {
    public var description: String {
        if case .cancelled = self { return BLEError.cancelled.description }
        return BLEError(self).description
    }
}

extension HostFailure.InvalidRequest {
    /// What is wrong, in words.
    var text: String {
        switch self {
        case .advertisementTooLong: "advertising data and scan response hold at most 31 bytes each"
        case .advertisingSet(let fault): fault.text
        case .train:
            "there is no such train, or its parameters are out of range: SID 0 to 15, skip at most 499, a time-out of "
                + "100 ms to 163.84 s"
        case .subevents:
            "there is no such train with responses, or it has no such subevent or response slot, or the data of a subevent "
                + "are longer than 249 bytes, or those of a response longer than 247"
        case .channelMap: "at least two of the channels 0 to 36 must stay, and there are no others"
        case .pathLossZones:
            "the zones of path loss overlap or lie outside 0 to 254 dB: low plus hysteresis must not exceed high less "
                + "hysteresis"
        case .connectionParameters:
            "invalid connection parameters: the interval must be 7.5 ms to 4 s, the latency at most 499, and the "
                + "supervision timeout longer than 2 × (latency + 1) × interval"
        case .parametersTooLong: "an HCI command takes at most 255 bytes of parameters"
        case .stopped: "the adapter has been stopped"
        case .notAvailableOnSharedController:
            "this controller is shared, with the kernel (a raw channel) or with other programs (a daemon)"
        case .notPermitted: "the daemon lets only root, its own user and the group of its operators do this"
        }
    }
}

extension AdvertisingSetRequest.Fault {
    /// What is wrong, in words.
    var text: String {
        switch self {
        case .tooMuchData:
            "too much data for an advertising set: legacy PDUs hold 31 bytes, extended ones at most 1,650, and some "
                + "controllers less"
        case .misplacedData:
            "a scannable set with extended PDUs has its data in a scan response, others have no scan response"
        case .contradictoryProperties:
            "extended PDUs cannot be connectable and scannable, and anonymous ones are neither"
        case .needsExtendedPDUs: "anonymous, periodic and other PHYs than LE 1M need extended PDUs"
        case .primaryPHY: "the primary PHY is LE 1M or LE Coded"
        case .outOfRange:
            "an interval is 20 ms to 10,485 s (legacy: 10.24 s, periodic: 7.5 ms to 81.9 s), a duration 10 ms to "
                + "655 s, a SID 0 to 15, a power at most 20 dBm"
        case .address: "an advertising set takes a random address only"
        case .subevents:
            "a train with responses has 1 to 128 subevents of at least 7.5 ms, which fit into its interval together, and "
                + "each its response slots, and no data besides those of the subevents"
        case .train: "periodic advertising needs a set that is not connectable, scannable, anonymous or legacy"
        }
    }
}

extension ChannelFailure: CustomStringConvertible {
    /// The cause, and after a semicolon the remedy, if one is known.
    public var description: String { remedy.map { "\(cause); \($0)" } ?? cause }

    /// What to do about it.
    var remedy: String? {
        switch self {
        case .refused(.insufficientAuthentication), .refused(.insufficientEncryption): "pair first"
        default: nil
        }
    }

    /// What went wrong.
    var cause: String {
        switch self {
        case .refused(.spsmNotSupported): "the device does not offer a channel on this SPSM"
        case .refused(.insufficientAuthentication), .refused(.insufficientEncryption):
            "the device requires encryption for this channel"
        case .refused(let result):
            "the device refused the channel with result \(hexadecimal(result.rawValue, digits: 4))"
        case .notReconfigurable: "the channel cannot be changed to these sizes"
        case .invalidAnswer:
            "the device does not support such channels: it rejected the request, or gave no valid answer"
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
extension ControllerFault {
    /// What is wrong.
    var cause: String {
        switch self {
        case .unanswered(let opcode):
            "the controller does not answer command \(hexadecimal(opcode.rawValue, digits: 4)), also after every recovery"
        case .refused(let status, let opcode):
            "the controller refuses command \(hexadecimal(opcode.rawValue, digits: 4)), without which it cannot be used: "
                + status.text
        case .noReports: "the controller reports nothing any more, also after every recovery"
        case .noLowEnergy: "this adapter has no Bluetooth LE"
        case .reportsItself: "the controller reports itself as the sender of every advertisement"
        case .stalledLinks: "the controller acknowledges no data on any link, also after every recovery"
        case .connectsToNobody: "the controller connects to no device any more, also after every recovery"
        case .forgetsState: "the controller forgets what it was told, again and again"
        case .hardwareError(let code):
            "the controller reports hardware error \(hexadecimal(code, digits: 2)) again and again"
        case .packetsLost: "packets of the controller get lost on the line again and again"
        }
    }

    /// What to do about it.
    var remedy: String {
        switch self {
        case .noLowEnergy: "use another adapter"
        case .reportsItself: "it is a faulty clone: use another adapter"
        case .refused: "use another adapter, or other firmware"
        case .packetsLost: "check the baud rate, the flow control and the wires, or use H5 (‘,h5’)"
        case .unanswered, .noReports, .stalledLinks, .connectsToNobody, .forgetsState, .hardwareError:
            "unplug it or switch it off and on"
        }
    }
}

package func hexadecimal(_ value: some UnsignedInteger, digits: Int) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return "0x" + String(repeating: "0", count: max(0, digits - text.count)) + text
}

extension SecurityFailure: CustomStringConvertible {
    /// The cause, and after a semicolon the remedy, if one is known.
    public var description: String { remedy.map { "\(cause); \($0)" } ?? cause }

    /// What to do about it.
    var remedy: String? {
        switch self {
        case .timedOut: "disconnect before you try again"
        case .keyMissingAtPeer: "if you know why, replace the bond or remove it, and pair again"
        case .wouldReplaceBond, .encryptionFailed:
            "if the device has lost its keys, replace the bond or remove it, and pair again"
        case .keyTooWeak: "pair again, or require less"
        case .noKey: "pair first"
        case .repeatedAttempts(let wait): "try again in \(max(1, (wait.rawValue + 999_999) / 1_000_000)) s"
        case .passkeyLocked: "choose another one, or unlock it once the attempts have stopped"
        case .refusedByUs(.confirmValueFailed), .refusedByPeer(.confirmValueFailed):
            "the passkey is the one that the device shows, or that is printed on it"
        case .refusedByUs(.authenticationRequirements), .refusedByPeer(.authenticationRequirements):
            "one of the two has to display or to enter a passkey: give this side a keyboard or a display"
        case .refusedByUs(.passkeyEntryFailed): "enter the passkey that the device shows, or that is printed on it"
        case .tooManyBonds: "remove a bond and pair again"
        default: nil
        }
    }

    /// What went wrong.
    var cause: String {
        switch self {
        case .refusedByUs(.confirmValueFailed):
            "the passkey was wrong, or another device has answered: this side aborted pairing: confirm value failed (0x04)"
        case .refusedByPeer(.confirmValueFailed):
            "the passkey was wrong, or the device refused it: the device aborted pairing: confirm value failed (0x04)"
        case .refusedByUs(let reason): "this side aborted pairing: \(reason)"
        case .refusedByPeer(let reason): "the device aborted pairing: \(reason)"
        case .timedOut: "the device stopped answering during pairing"
        case .keyMissingAtPeer:
            "the device has lost the keys of the bond"
        case .wouldReplaceBond:
            "the device claims to be a bonded device without proof"
        case .keyTooWeak:
            "the key of the link is weaker than required"
        case .encryptionFailed(let status):
            "the link could not be encrypted: \(status.text)"
        case .noKey: "there is no key to encrypt the link or to sign the value with"
        case .notAvailable: "pairing is not available: no cryptography is configured, or the controller is shared"
        case .alreadyPairing: "pairing is already in progress"
        case .repeatedAttempts: "an earlier attempt failed"
        case .passkeyLocked: "too many pairings with this fixed passkey failed, so it is locked"
        case .tooManyBonds: "the bond store is full"
        case .linkLost: "the link ended"
        case .cancelled: "pairing was cancelled"
        }
    }
}
