extension L2CAPCreditBasedConnectionResult {
    /// Whether all requested channels are open. In the enhanced form some may be open even if this is `false`.
    @inlinable public var isSuccess: Bool { rawValue == 0 }
}

extension L2CAPReconfigureResult {
    /// Whether all channels have the new sizes.
    @inlinable public var isSuccess: Bool { rawValue == 0 }
}
