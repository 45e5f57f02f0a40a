extension UInt16 {
    /// The nearest whole number, clamped to 0 and 0xFFFF; 0 if `units` is not a number.
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
