/// Whether a link is encrypted (Core 5.4, Vol 4, Part E, 7.7.8).
public struct EncryptionState: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Everybody can read the link.
    public static let off = EncryptionState(rawValue: 0x00)
    /// On LE: AES-CCM.
    public static let on = EncryptionState(rawValue: 0x01)
    /// BR/EDR with AES-CCM.
    public static let onWithAESCCM = EncryptionState(rawValue: 0x02)

    /// Whether the link is encrypted, with any cipher.
    @inlinable public var isOn: Bool { rawValue != 0 }
}
