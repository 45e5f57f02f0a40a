import BLEPackets

/// The one device that directed advertising addresses (Core 5.4, Vol 3, Part C, 9.3.3; Vol 6, Part B, 4.4.2.4).
///
/// All other devices ignore it. If this device uses private addresses and the controller generates them, the target
/// address is a private address of the peer, so that no observer learns which devices these are; a peer whose
/// controller does not resolve such addresses does not notice the advertising. Otherwise the target address is the
/// peer's identity address, which a peer with private addresses does not answer.
public struct AdvertisingTarget: Hashable, Sendable {
    /// The kind of directed advertising.
    public enum Form: Hashable, Sendable {
        /// High duty cycle, for 1.28 s at most: for a peer that is expected to be scanning now.
        case highDutyCycle
        /// Low duty cycle, at the usual interval, until the peer connects.
        case lowDutyCycle
        /// With an extended advertisement, which may contain data; not every controller can send it, and not every peer
        /// receives it.
        case extended
    }

    /// The longest that `Form.highDutyCycle` lasts (Core 5.4, Vol 6, Part B, 4.4.2.4.3).
    public static let highDutyCycleSpan = Microseconds.milliseconds(1280)

    /// A bonded peer's identity, or any address.
    public var peer: DeviceAddress
    /// The kind of directed advertising, which also decides how long it lasts.
    public var form: Form

    public init(peer: DeviceAddress, form: Form = .lowDutyCycle) {
        self.peer = peer
        self.form = form
    }
}
