/// Who may do what with an attribute's value (Core 5.4, Vol 3, Part F, 3.2.5; SPEC PER-5).
///
/// A security requirement implies the access that it protects: a value with only `readEncryption` may be read over an
/// encrypted link. Without any permission, only the attribute's handle and type are visible.
public struct AttributePermissions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Allows every kind of read, on any link.
    public static let readable = AttributePermissions(rawValue: 0x0001)
    /// Allows Write Request and prepared writes.
    public static let writeable = AttributePermissions(rawValue: 0x0002)
    /// Allows Write Command.
    public static let commandWriteable = AttributePermissions(rawValue: 0x0004)
    /// Allows Signed Write Command, and on an encrypted link Write Command, which replaces it there (Core 5.4, Vol 3,
    /// Part G, 4.9.2).
    public static let signedWriteable = AttributePermissions(rawValue: 0x0008)
    /// Reading needs an encrypted link.
    public static let readEncryption = AttributePermissions(rawValue: 0x0010)
    /// Writing needs an encrypted link.
    public static let writeEncryption = AttributePermissions(rawValue: 0x0020)
    /// Reading needs an encrypted link whose key is protected against a man in the middle.
    public static let readAuthentication = AttributePermissions(rawValue: 0x0040)
    /// Writing needs an encrypted link whose key is protected against a man in the middle.
    public static let writeAuthentication = AttributePermissions(rawValue: 0x0080)
    /// Reading needs the user's authorization (`GATTLinkSecurity.isAuthorized`).
    public static let readAuthorization = AttributePermissions(rawValue: 0x0100)
    /// Writing needs the user's authorization (`GATTLinkSecurity.isAuthorized`).
    public static let writeAuthorization = AttributePermissions(rawValue: 0x0200)

    static let anyRead: AttributePermissions = [.readable, .readEncryption, .readAuthentication, .readAuthorization]
    static let anyWrite: AttributePermissions = [
        .writeable, .writeEncryption, .writeAuthentication, .writeAuthorization,
    ]
    static let readSecurity: AttributePermissions = [.readEncryption, .readAuthentication, .readAuthorization]
    static let writeSecurity: AttributePermissions = [.writeEncryption, .writeAuthentication, .writeAuthorization]
}
