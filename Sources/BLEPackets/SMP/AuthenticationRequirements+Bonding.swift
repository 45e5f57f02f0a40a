extension AuthenticationRequirements {
    /// Whether bonding is requested: the field has two bits, with two reserved values.
    @inlinable public var isBonding: Bool { rawValue & 0x03 == 0x01 }
}
