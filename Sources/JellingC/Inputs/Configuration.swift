import BLEHost
import BLEPackets
import CJelling

extension HostConfiguration {
    /// `nil` where a number is out of its range.
    init?(_ pointer: UnsafePointer<jelling_config>?) {
        self.init()
        guard let pointer = unsafe pointer else { return }
        var config = unsafe jelling_config()
        guard unsafe read(&config, from: pointer) else { return nil }
        let flags = unsafe config.flags
        hasCryptoProvider = flags.has(JELLING_CONFIG_ANSWERS_QUESTIONS)
        ownership = flags.has(JELLING_CONFIG_SHARED_CONTROLLER) ? .shared : .exclusive
        usesControllerResolution = flags.has(JELLING_CONFIG_CONTROLLER_RESOLVES)
        if flags.has(JELLING_CONFIG_TIMING_OF_IOS) { timing = .ios }
        timing.allowsSubrating = flags.has(JELLING_CONFIG_SUBRATING)
        reportsAddressResolution = flags.has(JELLING_CONFIG_ADDRESS_RESOLUTION)
        if let name = unsafe config.device_name {
            guard let name = unsafe text(name, limit: 248) else { return nil }
            deviceName = name
        }
        if Features.pairing, let pointer = unsafe config.security {
            guard let settings = unsafe SecuritySettings(pointer) else { return nil }
            security = settings
        }
        guard let address = unsafe OwnAddress(config.own_address, config.address) else { return nil }
        ownAddress = address
        guard unsafe setTiming(config) else { return nil }
        if unsafe config.advertising_flags != 0 {
            advertising.flags = AdvertisingFlags(rawValue: unsafe config.advertising_flags)
        }
        if flags.has(JELLING_CONFIG_EMITS_OVERFLOW) {
            advertising.overflow = .on(company: unsafe config.overflow_company)
        }
        if flags.has(JELLING_CONFIG_DIRECTED_TURNS) {
            let span = unsafe config.directed_turn_ms
            guard (100...600_000).contains(span) else { return nil }
            pendingConnections = .directedTurns(.microseconds(Int64(span) * 1000))
        }
        if unsafe config.private_address_seconds != 0 {
            guard unsafe (1...86_400).contains(config.private_address_seconds) else { return nil }
            privateAddressLifetime = .microseconds(unsafe Int64(config.private_address_seconds) * 1_000_000)
        }
        if Features.enhancedBearers, flags.has(JELLING_CONFIG_ENHANCED_BEARERS) {
            guard unsafe config.opened_bearers <= 5 else { return nil }
            enhancedBearers = EnhancedBearerSettings(opened: unsafe Int(config.opened_bearers))
        }
        guard unsafe setLimits(config) else { return nil }
        if unsafe config.usb_vendor != 0 {
            controller = unsafe ControllerIdentity(
                usbVendor: config.usb_vendor, usbProduct: config.usb_product, usbRelease: config.usb_release)
        }
        experience = unsafe ControllerExperience(
            found: ControllerTraits(rawValue: config.experience.found),
            refuted: ControllerTraits(rawValue: config.experience.refuted))
    }

    private mutating func setTiming(_ config: jelling_config) -> Bool {
        guard let foreground = unsafe ScanDuty(config.scan_interval, config.scan_window, timing.foregroundScan),
            let background = unsafe ScanDuty(
                config.background_scan_interval, config.background_scan_window, timing.backgroundScan)
        else { return false }
        timing.foregroundScan = foreground
        timing.backgroundScan = background
        if let wished = unsafe config.parameter_policy {
            guard let policy = unsafe ParameterPolicy(wished) else { return false }
            timing.parameterPolicy = policy
        }
        let wished = unsafe config.connection
        if wished.maximum_interval != 0 || wished.minimum_interval != 0 {
            guard let request = ConnectionParameterRequest(wished) else { return false }
            timing.connectionInterval = request.interval
            timing.peripheralLatency = request.peripheralLatency
            timing.supervisionTimeout = request.supervisionTimeout
        }
        let mtu = unsafe config.att_mtu
        if mtu != 0 {
            guard (23...517).contains(mtu) else { return false }
            timing.attMTU = mtu
        }
        return true
    }

    private mutating func setLimits(_ config: jelling_config) -> Bool {
        func set(_ limit: inout Int, _ value: UInt32, _ range: ClosedRange<UInt32>) -> Bool {
            guard value != 0 else { return true }
            guard range.contains(value) else { return false }
            limit = Int(value)
            return true
        }
        let seconds = unsafe config.scanned_device_seconds
        guard seconds <= 1_000_000 else { return false }
        if seconds != 0 { limits.scannedDeviceAge = .microseconds(Int64(seconds) * 1_000_000) }
        return unsafe set(&limits.links, config.links, 1...1024)
            && set(&limits.scannedDevices, config.scanned_devices, 1...1_000_000)
            && set(&limits.pendingConnections, config.pending_connections, 1...65_536)
            && set(&limits.bonds, config.bonds, 1...65_536)
            && set(&limits.unaskedBonds, config.unasked_bonds, 1...65_536)
            && set(&limits.reassembledBytes, config.reassembled_octets, 69...65_539)
            && set(&limits.parkedPackets, config.parked_packets, 1...1024)
    }
}

extension HostConfiguration.OwnAddress {
    fileprivate init?(_ kind: UInt32, _ address: jelling_address) {
        let address = DeviceAddress(address)
        switch Int(clamping: kind) {
        case JELLING_ADDRESS_AUTOMATIC where address.value == 0: self = .public
        case JELLING_ADDRESS_AUTOMATIC: self = .automatic(fallback: address)
        case JELLING_ADDRESS_PUBLIC: self = .public
        case JELLING_ADDRESS_RANDOM where address.isRandom: self = .random(address)
        case JELLING_ADDRESS_RESOLVABLE where address.isRandom: self = .resolvable(fallback: address)
        default: return nil
        }
    }
}

extension ScanDuty {
    fileprivate init?(_ interval: UInt16, _ window: UInt16, _ usual: ScanDuty) {
        self = usual
        if interval == 0 && window == 0 { return }
        guard window >= 4, window <= interval, interval <= 0x4000 else { return nil }
        self.init(interval: ScanInterval(rawValue: interval), window: ScanInterval(rawValue: window))
    }
}

extension ConnectionParameterRequest {
    init?(_ request: jelling_connection_request) {
        guard request.minimum_interval <= request.maximum_interval else { return nil }
        self.init(
            interval: ConnectionInterval(
                rawValue: request.minimum_interval)...ConnectionInterval(rawValue: request.maximum_interval),
            peripheralLatency: request.latency,
            supervisionTimeout: SupervisionTimeout(rawValue: request.supervision_timeout))
        guard isValid else { return nil }
    }
}
