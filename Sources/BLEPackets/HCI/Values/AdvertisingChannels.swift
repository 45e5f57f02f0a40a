/// The primary channels that an advertiser uses (Core 5.4, Vol 4, Part E, 7.8.5).
public struct AdvertisingChannels: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let all: AdvertisingChannels = [.channel37, .channel38, .channel39]

    public static let channel37 = AdvertisingChannels(rawValue: 1 << 0)
    public static let channel38 = AdvertisingChannels(rawValue: 1 << 1)
    public static let channel39 = AdvertisingChannels(rawValue: 1 << 2)
}
