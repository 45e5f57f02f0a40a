import BLE

// How links, security and the adapter look when they are printed or logged.

extension LinkID: CustomStringConvertible {
    /// Such as `link 3`.
    public var description: String { "link \(handle.rawValue)" }
}

extension ConnectionParameters: CustomStringConvertible {
    /// Such as `interval 30.0 ms, latency 0, timeout 2000.0 ms`.
    public var description: String {
        "interval \(interval.milliseconds) ms, latency \(peripheralLatency), timeout "
            + "\(supervisionTimeout.milliseconds) ms"
    }
}

extension LinkInformation: CustomStringConvertible {
    /// Such as `link 3 to C0:11:22:33:44:55/random as central, MTU 517, interval …`.
    public var description: String { "\(id) to \(peer) as \(role), MTU \(attMTU), \(parameters)" }
}

extension DataLength: CustomStringConvertible {
    /// Such as `251 octets out, 251 octets in`.
    public var description: String { "\(maxTransmitOctets) octets out, \(maxReceiveOctets) octets in" }
}

extension TransmitPower: CustomStringConvertible {
    /// Such as `4 dBm (greatest)`.
    public var description: String {
        let text = level.map { "\($0) dBm" } ?? "unknown"
        return isGreatest ? text + " (greatest)" : isLeast ? text + " (least)" : text
    }
}

extension LinkReport: CustomStringConvertible {
    public var description: String {
        switch self {
        case .transmitPower(let power, let isPeers): "\(isPeers ? "the peer" : "this side") sends with \(power)"
        case .pathLoss(let loss):
            "path loss \(loss.zone)\(loss.decibels.map { ", \($0) dB" } ?? "")"
        case .unauthenticated: "no packet has proved the peer's key for too long"
        }
    }
}

extension RemoteVersion: CustomStringConvertible {
    public var description: String {
        "link layer version \(version), company \(companyIdentifier), subversion \(subversion)"
    }
}

extension LinkSecurity: CustomStringConvertible {
    /// Such as `encrypted, authenticated, LE Secure Connections, key of 16 octets, bonded`.
    public var description: String {
        guard isEncrypted else { return "not encrypted" }
        return strength(isAuthenticated, isSecureConnections, keySize) + (isBonded ? ", bonded" : "")
    }
}

extension PairingSummary: CustomStringConvertible {
    /// Such as `paired with C0:…/random: encrypted, authenticated, …`.
    public var description: String {
        "paired with \(identity): " + strength(isAuthenticated, isSecureConnections, keySize)
            + (isBonded ? ", bonded" : "")
    }
}

private func strength(_ isAuthenticated: Bool, _ isSecureConnections: Bool, _ keySize: UInt8) -> String {
    let words = [
        "encrypted", isAuthenticated ? "authenticated" : "not authenticated",
        isSecureConnections ? "LE Secure Connections" : "LE legacy pairing", "key of \(keySize) octets",
    ]
    return words.joined(separator: ", ")
}

extension PairingEvent: CustomStringConvertible {
    /// What happened. It does not show the passkey, so that events can be logged.
    public var description: String {
        switch self {
        case .started: "pairing has started"
        case .belongs(let client): "the pairing is for the client \(client.rawValue)"
        case .securityRequested: "the device asks for a secure link"
        case .displayPasskey: "a passkey must be entered on the other device"
        case .question(let question): question.kind.text
        case .paired(let summary): summary.description
        case .failed(let failure): "pairing failed: \(failure)"
        case .passkeyLocked: "the fixed passkey is locked"
        }
    }
}

extension PairingQuestion.Kind {
    fileprivate var text: String {
        switch self {
        case .enterPasskey: "which passkey does the other device show?"
        case .compare(let number): "does the other device show \(digits(number))?"
        case .consent: "may the other device pair?"
        case .replaceBond(let identity): "may the bond with \(identity) be replaced?"
        }
    }
}

/// Six digits.
private func digits(_ number: UInt32) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, 6 - text.count)) + text
}

extension PairingPeer: CustomStringConvertible {
    public var description: String { "\(address) on \(link)" }
}

extension ControllerInformation: CustomStringConvertible {
    /// Such as `controller C0:…/public, HCI version 12, company 15`.
    public var description: String {
        "controller \((publicAddress ?? ownAddress).map { "\($0)" } ?? "without an address"), HCI version \(hciVersion), "
            + "company \(companyIdentifier)"
    }
}

extension HostCounters: CustomStringConvertible {
    /// The counters that are not zero, such as `advertisingReports 17, connectionRetries 1`.
    public var description: String {
        let counted = Mirror(reflecting: self).children.compactMap { child -> String? in
            guard let name = child.label, let count = child.value as? UInt64, count > 0 else { return nil }
            return "\(name) \(count)"
        }
        return counted.isEmpty ? "nothing counted" : counted.joined(separator: ", ")
    }
}

extension Adapter: CustomStringConvertible {
    /// Such as `adapter user:0`.
    nonisolated public var description: String { "adapter \(address)" }
}

extension Adapter: CustomReflectable {
    /// Empty: the parts belong to the adapter's own thread, and there are keys among them.
    nonisolated public var customMirror: Mirror { Mirror(self, children: []) }
}

extension AdapterConfiguration: CustomStringConvertible, CustomReflectable {
    /// Such as `adapter configuration “Jelling”: resolvable private addresses, bonds kept, pairing asks`.
    public var description: String {
        var words = ["\(ownAddress)"]
        if cryptoProvider == nil {
            words.append("no pairing")
        } else {
            words.append(bondStore == nil ? "bonds until closed" : "bonds kept")
            words.append(pairingAgent == nil ? "pairing asks nobody" : "pairing asks")
        }
        if enhancedBearers != nil { words.append("enhanced bearers") }
        if tap != nil { words.append("captured") }
        if recorder != nil { words.append("recorded") }
        return "adapter configuration “\(deviceName)”: " + words.joined(separator: ", ")
    }

    /// Empty: a description of the parts would be long, and may be written into logs.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension AdapterConfiguration.OwnAddress: CustomStringConvertible {
    public var description: String {
        switch self {
        case .automatic(let fallback): "the public address, otherwise \(fallback)"
        case .public: "the public address"
        case .random(let address): "\(address)"
        case .resolvable: "resolvable private addresses"
        }
    }
}

extension AdapterEvent: CustomStringConvertible {
    public var description: String {
        switch self {
        case .recovering(.reset): "the controller is being reset"
        case .recovering(.reopenTransport): "the transport is being reopened"
        case .recovering(.resetDevice): "the device is being reset"
        case .ready(let information): "ready: \(information)"
        case .connectionParametersChanged(let link, let parameters): "\(link): \(parameters)"
        case .phyChanged(let link, let transmit, let receive): "\(link): PHY \(transmit) out, \(receive) in"
        case .subrateChanged(let link, let subrate): "\(link): every \(subrate.factor) connection events"
        case .linkReport(let link, let report): "\(link): \(report)"
        case .dataLengthChanged(let link, let length): "\(link): \(length)"
        case .cleartextRefused(let link, let peer): "\(link): unencrypted data in the name of \(peer) was dropped"
        }
    }
}
