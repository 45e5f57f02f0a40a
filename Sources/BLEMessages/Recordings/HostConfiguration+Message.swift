import BLEHost
import BLEPackets

/// A setting that a recording lacks has its default value, so that old recordings remain readable.
extension HostConfiguration: Message {
    public static var blank: Self { Self() }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.setting(1, "ownership", &it.ownership)
        try c.setting(2, "own_address", &it.ownAddress)
        try c.setting(3, "timing", &it.timing)
        try c.setting(4, "limits", &it.limits)
        try c.setting(5, "device_name", &it.deviceName)
        try c.setting(6, "advertising", &it.advertising)
        try c.setting(7, "has_toolbox", &it.hasCryptoProvider)
        try c.setting(8, "security", &it.security)
        try c.setting(9, "pending_connections", &it.pendingConnections)
        try c.setting(10, "private_address_lifetime", &it.privateAddressLifetime)
        try c.setting(11, "uses_controller_resolution", &it.usesControllerResolution)
        try c.field(12, "enhanced_bearers", &it.enhancedBearers)
        try c.setting(13, "tells_address_resolution", &it.reportsAddressResolution)
        try c.setting(14, "keeps_shared_advertisement", &it.keepsSharedAdvertisement)
        try c.field(15, "controller", &it.controller)
        try c.setting(16, "experience", &it.experience)
        // Recordings of earlier engines lack it.
        try c.field(17, "adapts_to_controller", &it.adaptsToController)
    }
}

extension ControllerIdentity: Message {
    public static var blank: Self { Self(usbVendor: 0, usbProduct: 0) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "usb_vendor", &it.usbVendor)
        try c.field(2, "usb_product", &it.usbProduct)
        try c.field(3, "usb_release", &it.usbRelease)
    }
}

extension ControllerExperience: Message {
    public static var blank: Self { Self() }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "found", &it.found)
        try c.field(2, "refuted", &it.refuted)
    }
}

extension HostConfiguration.Ownership: CaseList {
    public static var cases: [Self] { [.exclusive, .shared] }
}

extension HostConfiguration.OwnAddress: Choice {
    public static var blank: Self { .public }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(1, "automatic", as: "Fallback", &it, Self.automatic, "fallback") {
            if case .automatic(let fallback) = $0 { fallback } else { nil }
        }
        try c.option(2, "public", &it, .public)
        try c.option(3, "random", &it, Self.random) { if case .random(let address) = $0 { address } else { nil } }
        try c.option(4, "resolvable", as: "Fallback", &it, Self.resolvable, "fallback") {
            if case .resolvable(let fallback) = $0 { fallback } else { nil }
        }
    }
}

extension HostConfiguration.PendingConnectionPolicy: Choice {
    public static var blank: Self { .acceptList }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(1, "accept_list", &it, .acceptList)
        try c.option(
            2, "directed_turns", &it, Self.directedTurns, { if case .directedTurns(let a) = $0 { a } else { nil } })
    }
}

extension HostLimits: Message {
    public static var blank: Self { Self() }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.setting(1, "scanned_devices", &it.scannedDevices)
        try c.setting(2, "scanned_device_age", &it.scannedDeviceAge)
        try c.setting(3, "parked_packets", &it.parkedPackets)
        try c.setting(4, "reassembled_bytes", &it.reassembledBytes)
        try c.setting(5, "links", &it.links)
        try c.setting(6, "pending_connections", &it.pendingConnections)
        try c.setting(7, "bonds", &it.bonds)
        try c.setting(8, "unasked_bonds", &it.unaskedBonds)
        try c.setting(9, "bonds_of_user", &it.bondsOfUser)
        try c.setting(10, "reserved_bonds", &it.reservedBonds)
    }
}

extension EnhancedBearerSettings: Message {
    public static var blank: Self { Self() }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.setting(1, "opened", &it.opened)
        try c.setting(2, "maximum_transmission_unit", &it.maximumTransmissionUnit)
        try c.setting(3, "maximum_payload_size", &it.maximumPayloadSize)
        try c.setting(4, "credits", &it.credits)
    }
}

extension AdvertisingPackerSettings: Message {
    public static var blank: Self { Self() }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.setting(1, "flags", &it.flags)
        try c.setting(2, "overflow", &it.overflow)
    }
}

extension AdvertisingFlags: Scalar {}
