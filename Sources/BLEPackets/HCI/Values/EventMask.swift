/// Which events the controller may send; bits without a name are kept (Core 5.4, Vol 4, Part E, 7.3.1).
///
/// Command Complete, Command Status and Number Of Completed Packets cannot be masked.
public struct EventMask: OptionSet, Hashable, Sendable {
    public var rawValue: UInt64
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The mask after a reset: all events but those of extended inquiry and LE.
    public static let afterReset = EventMask(rawValue: 0x0000_1FFF_FFFF_FFFF)

    /// Links that end.
    public static let disconnectionComplete = EventMask(rawValue: 1 << 4)
    /// Encryption that begins, ends or fails.
    public static let encryptionChange = EventMask(rawValue: 1 << 7)
    /// Maker and version of the other side's controller.
    public static let readRemoteVersionInformationComplete = EventMask(rawValue: 1 << 11)
    /// A controller in trouble.
    public static let hardwareError = EventMask(rawValue: 1 << 15)
    /// Data for which the controller had no room.
    public static let dataBufferOverflow = EventMask(rawValue: 1 << 25)
    /// New keys of encrypted links.
    public static let encryptionKeyRefreshComplete = EventMask(rawValue: 1 << 47)
    /// All events of LE: without this bit `LEEventMask` has no effect.
    public static let leMeta = EventMask(rawValue: 1 << 61)
}
