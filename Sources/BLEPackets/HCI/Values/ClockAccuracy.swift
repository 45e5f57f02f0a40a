/// The greatest error of a device's sleep clock (Core 5.4, Vol 4, Part E, 7.7.65.1).
public struct ClockAccuracy: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// 500 for 0x00, the coarsest, down to 20 for 0x07; `nil` for values without meaning.
    public var partsPerMillion: Int? {
        switch rawValue {
        case 0: 500
        case 1: 250
        case 2: 150
        case 3: 100
        case 4: 75
        case 5: 50
        case 6: 30
        case 7: 20
        default: nil
        }
    }
}
