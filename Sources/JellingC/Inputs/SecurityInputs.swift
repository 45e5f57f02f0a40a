import BLEHost
import BLEPackets
import CJelling

extension SecuritySettings {
    init?(_ pointer: UnsafePointer<jelling_security_settings>) {
        self.init()
        var settings = unsafe jelling_security_settings()
        guard unsafe read(&settings, from: pointer) else { return nil }
        let flags = unsafe settings.flags
        pairsOnDemand = !flags.has(JELLING_SECURITY_NO_PAIRING_ON_DEMAND)
        encryptsAtConnection = !flags.has(JELLING_SECURITY_NO_ENCRYPTION_AT_CONNECTION)
        requestsSecurity = flags.has(JELLING_SECURITY_REQUESTS)
        acceptsPairing = !flags.has(JELLING_SECURITY_REFUSES_PAIRING)
        followsSecurityRequests = !flags.has(JELLING_SECURITY_IGNORES_REQUESTS)
        if let pointer = unsafe settings.pairing {
            guard let options = unsafe PairingOptions(pointer) else { return nil }
            pairing = options
        }
        if let pointer = unsafe settings.identity_resolving_key {
            guard let key = unsafe key(pointer), key != .zero else { return nil }
            identityResolvingKey = key
        }
    }
}

extension PairingOptions {
    init?(_ pointer: UnsafePointer<jelling_pairing_options>) {
        self.init()
        var options = jelling_pairing_options()
        guard unsafe read(&options, from: pointer) else { return nil }
        switch Int(clamping: options.io_capability) {
        case JELLING_IO_NONE: ioCapability = .noInputNoOutput
        case JELLING_IO_DISPLAY: ioCapability = .displayOnly
        case JELLING_IO_YES_NO: ioCapability = .displayYesNo
        case JELLING_IO_KEYBOARD: ioCapability = .keyboardOnly
        case JELLING_IO_KEYBOARD_DISPLAY: ioCapability = .keyboardDisplay
        default: return nil
        }
        let flags = options.flags
        isBonding = !flags.has(JELLING_PAIRING_WITHOUT_BOND)
        requiresAuthentication = flags.has(JELLING_PAIRING_REQUIRES_AUTHENTICATION)
        prefersAuthentication = flags.has(JELLING_PAIRING_PREFERS_AUTHENTICATION)
        allowsSecureConnections = !flags.has(JELLING_PAIRING_LEGACY_ONLY)
        requiresSecureConnections = flags.has(JELLING_PAIRING_REQUIRES_SECURE_CONNECTIONS)
        asksConsent = flags.has(JELLING_PAIRING_ASKS_CONSENT)
        replacesBond = flags.has(JELLING_PAIRING_REPLACES_BOND)
        acceptsDebugKeys = flags.has(JELLING_PAIRING_ACCEPTS_DEBUG_KEYS)
        if flags.has(JELLING_PAIRING_HAS_PASSKEY) {
            guard options.passkey <= 999_999 else { return nil }
            passkey = options.passkey
        }
        if flags.has(JELLING_PAIRING_HAS_KEYS) {
            guard options.initiator_keys < 16, options.responder_keys < 16 else { return nil }
            initiatorKeys = KeyDistribution(rawValue: options.initiator_keys)
            responderKeys = KeyDistribution(rawValue: options.responder_keys)
        }
        minimumKeySize = options.minimum_key_size == 0 ? 16 : options.minimum_key_size
        maximumKeySize = options.maximum_key_size == 0 ? 16 : options.maximum_key_size
        guard (7...16).contains(minimumKeySize), (7...16).contains(maximumKeySize), minimumKeySize <= maximumKeySize
        else { return nil }
    }
}

extension OutOfBandData {
    init?(_ pointer: UnsafePointer<jelling_out_of_band_data>) {
        self.init()
        var data = unsafe jelling_out_of_band_data()
        guard unsafe read(&data, from: pointer) else { return nil }
        if unsafe data.temporary_key != nil { temporaryKey = unsafe key(data.temporary_key) }
        if unsafe data.peer_random != nil || data.peer_confirm != nil {
            guard let random = unsafe key(data.peer_random), let confirm = unsafe key(data.peer_confirm) else {
                return nil
            }
            peer = SecureConnectionsData(random: random, confirm: confirm)
        }
        guard
            unsafe data.local_random != nil || data.local_confirm != nil || data.local_private_key != nil
                || data.local_public_key != nil
        else { return }
        guard let random = unsafe key(data.local_random), let confirm = unsafe key(data.local_confirm),
            let privateKey = unsafe octets(data.local_private_key, 32, limit: 32),
            let publicKey = unsafe P256PublicKey(data.local_public_key)
        else { return nil }
        local = LocalOutOfBandData(random: random, confirm: confirm, privateKey: privateKey, publicKey: publicKey)
    }
}

extension P256PublicKey {
    /// 64 octets: x, then y, most significant first.
    init?(_ pointer: UnsafePointer<UInt8>?) {
        guard let octets = unsafe JellingC.octets(pointer, 64, limit: 64) else { return nil }
        self.init(x: Array(octets.prefix(32)), y: Array(octets.suffix(32)))
    }
}
