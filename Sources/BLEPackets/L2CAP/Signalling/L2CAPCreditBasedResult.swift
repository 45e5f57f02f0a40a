/// The result of a request for credit-based channels (Core 5.4, Vol 3, Part A, 4.23 and 4.26).
public struct L2CAPCreditBasedConnectionResult: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Whether all requested channels are open. In the enhanced form some may be open even if this is `false`.
    @inlinable public var isSuccess: Bool { rawValue == 0 }

    /// The channel is there; in the enhanced form: all channels are.
    public static let success = Self(rawValue: 0x0000)
    /// Nothing listens at this SPSM.
    public static let spsmNotSupported = Self(rawValue: 0x0002)
    /// No resources; in the enhanced form: some channels were refused for lack of resources.
    public static let noResourcesAvailable = Self(rawValue: 0x0004)
    /// The service requires pairing, or a key that is protected against a man in the middle; the client pairs and
    /// repeats the request.
    public static let insufficientAuthentication = Self(rawValue: 0x0005)
    /// The user or the application did not allow this device to use the service.
    public static let insufficientAuthorization = Self(rawValue: 0x0006)
    /// The link's encryption key is shorter than the service requires.
    public static let insufficientEncryptionKeySize = Self(rawValue: 0x0007)
    /// The service requires encryption and the link is not encrypted; the client encrypts it and repeats the request.
    public static let insufficientEncryption = Self(rawValue: 0x0008)
    /// In the enhanced form: some channels were refused for this.
    public static let invalidSourceChannelIdentifier = Self(rawValue: 0x0009)
    /// In the enhanced form: some channels were refused for this.
    public static let sourceChannelIdentifierAlreadyAllocated = Self(rawValue: 0x000A)
    /// MTU, MPS or credits are such that the other side cannot work with them.
    public static let unacceptableParameters = Self(rawValue: 0x000B)
    /// Enhanced form only.
    public static let invalidParameters = Self(rawValue: 0x000C)
    /// Enhanced form only: the final response follows.
    public static let pending = Self(rawValue: 0x000D)
    /// Enhanced form only.
    public static let authenticationPending = Self(rawValue: 0x000E)
    /// Enhanced form only.
    public static let authorizationPending = Self(rawValue: 0x000F)
}

/// The result of a request to reconfigure credit-based channels (Core 5.4, Vol 3, Part A, 4.28).
public struct L2CAPReconfigureResult: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Whether all channels have the new sizes.
    @inlinable public var isSuccess: Bool { rawValue == 0 }

    /// All channels have the new sizes.
    public static let success = Self(rawValue: 0x0000)
    /// The MTU of a channel must not become smaller.
    public static let mtuReductionNotAllowed = Self(rawValue: 0x0001)
    /// The MPS may not become smaller when several channels are named.
    public static let mpsReductionNotAllowed = Self(rawValue: 0x0002)
    /// At least one of the channels is not there.
    public static let invalidDestinationChannelIdentifier = Self(rawValue: 0x0003)
    /// The sizes cannot be had for another reason.
    public static let unacceptableParameters = Self(rawValue: 0x0004)
}
