import BLEPackets

// What contains a key or a passkey neither prints it nor shows it among its parts, so that every value can be logged.

#if !hasFeature(Embedded)
extension PairingAnswer: CustomStringConvertible {
    /// Does not show the passkey.
    public var description: String {
        switch self {
        case .passkey: "a passkey"
        case .confirm(let isConfirmed): isConfirmed ? "yes" : "no"
        case .cancel: "cancelled"
        }
    }
}

extension CryptoRequest: CustomStringConvertible {
    /// Does not show keys and blocks.
    public var description: String {
        switch self {
        case .random(let count): "\(count) random octets"
        case .encrypt: "AES-128 of a block"
        case .authenticationCode(_, let message): "AES-CMAC of \(message.count) octets"
        case .generateKeyPair: "a new key pair"
        case .sharedSecret: "a Diffie-Hellman key"
        }
    }
}

extension CryptoResult: CustomStringConvertible {
    /// Does not show the octets, which may be a key.
    public var description: String {
        switch self {
        case .octets(let octets): "\(octets.count) octets"
        case .keyPair: "a key pair"
        case .failure(.invalidPublicKey): "failed: invalid public key"
        case .failure(.unavailable): "failed: not available"
        }
    }
}

extension PairingOptions: CustomReflectable {
    /// The properties, without the value of the passkey: also for code that prints the parts of a value.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "ioCapability": ioCapability, "isBonding": isBonding, "requiresAuthentication": requiresAuthentication,
                "prefersAuthentication": prefersAuthentication, "allowsSecureConnections": allowsSecureConnections,
                "requiresSecureConnections": requiresSecureConnections, "minimumKeySize": minimumKeySize,
                "maximumKeySize": maximumKeySize, "initiatorKeys": initiatorKeys, "responderKeys": responderKeys,
                "hasPasskey": passkey != nil, "acceptsDebugKeys": acceptsDebugKeys, "asksConsent": asksConsent,
                "replacesBond": replacesBond,
            ],
            displayStyle: .struct)
    }
}

extension PairingEvent: CustomReflectable {
    /// Empty for a passkey, so that code that prints the parts of a value never prints it.
    public var customMirror: Mirror {
        switch self {
        case .question(let question): Mirror(self, children: ["question": question], displayStyle: .enum)
        case .paired(let summary): Mirror(self, children: ["paired": summary], displayStyle: .enum)
        case .failed(let failure): Mirror(self, children: ["failed": failure], displayStyle: .enum)
        case .started, .belongs, .displayPasskey, .passkeyLocked, .securityRequested: Mirror(self, children: [])
        }
    }
}

extension PairingAnswer: CustomReflectable {
    /// Empty, so that code that prints the parts of a value never prints a passkey.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension OutOfBandData: CustomReflectable {
    /// Empty, so that code that prints the parts of a value never prints a key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension LocalOutOfBandData: CustomReflectable {
    /// Empty, so that code that prints the parts of a value never prints a key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CryptoRequest: CustomReflectable {
    /// Empty, so that code that prints the parts of a value never prints a key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CryptoResult: CustomReflectable {
    /// Empty, so that code that prints the parts of a value never prints a key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
