/// The primary channels that an advertiser uses (Core 5.4, Vol 4, Part E, 7.8.5).
public struct AdvertisingChannels: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The usual choice; with fewer channels, scanners take longer to find the advertiser.
    public static let all: AdvertisingChannels = [.channel37, .channel38, .channel39]

    /// At 2402 MHz.
    public static let channel37 = AdvertisingChannels(rawValue: 1 << 0)
    /// At 2426 MHz.
    public static let channel38 = AdvertisingChannels(rawValue: 1 << 1)
    /// At 2480 MHz.
    public static let channel39 = AdvertisingChannels(rawValue: 1 << 2)
}
