extension UInt16 {
    /// The nearest whole number, 0 where `units` is below it or no number, 0xFFFF where it is above.
    @usableFromInline
    init(roundingUnits units: Double) {
        let rounded = units + 0.5
        if rounded >= 65535 {
            self = 65535
        } else {
            self = rounded >= 1 ? UInt16(rounded) : 0
        }
    }
}
