import BLEPackets

/// The one device that directed advertising calls (Core 5.4, Vol 3, Part C, 9.3.3; Vol 6, Part B, 4.4.2.4).
///
/// Everybody else passes over it. Where this device shows private addresses and the controller makes them, the peer is
/// called by a private address of its own, so that no observer learns which devices these are; a peer that does not resolve those in
/// its controller does not notice. Elsewhere it is called by its identity, which a peer that shows private addresses
/// does not answer to.
public struct AdvertisingTarget: Hashable, Sendable {
    /// How the peer is called.
    public enum Form: Hashable, Sendable {
        /// As often as can be, for 1.28 s at most: for a peer that is expected to listen just now.
        case highDutyCycle
        /// At the usual pace, until it comes.
        case lowDutyCycle
        /// With an extended advertisement, which may bear data; not every controller can, and not every peer hears it.
        case extended
    }

    /// The longest that `Form.highDutyCycle` lasts (Core 5.4, Vol 6, Part B, 4.4.2.4.3).
    public static let highDutyCycleSpan = Microseconds.milliseconds(1280)

    /// A bonded peer's identity, or any address.
    public var peer: DeviceAddress
    /// For how long, and by what kind of advertisement, the peer is called.
    public var form: Form

    public init(peer: DeviceAddress, form: Form = .lowDutyCycle) {
        self.peer = peer
        self.form = form
    }
}

#if !hasFeature(Embedded)
extension AdvertisingTarget: Codable {}
extension AdvertisingTarget.Form: Codable {}
#endif
