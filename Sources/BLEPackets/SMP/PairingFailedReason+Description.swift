extension PairingFailedReason: CustomStringConvertible {
    public var description: String { meaning ?? "reason \(rawValue)" }
}
