/// The code of a signalling packet (Core 5.4, Vol 3, Part A, 4, Table 4.2).
///
/// Codes of BR/EDR links also have names, for captures.
public struct L2CAPSignallingCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The packet with the same identifier was not understood, or cannot be right (Core 5.4, Vol 3, Part A, 4.1).
    public static let commandReject = L2CAPSignallingCode(rawValue: 0x01)
    /// BR/EDR only: requests a channel (Part A, 4.2).
    public static let connectionRequest = L2CAPSignallingCode(rawValue: 0x02)
    /// BR/EDR only: the channel, or the reason for the refusal (Part A, 4.3).
    public static let connectionResponse = L2CAPSignallingCode(rawValue: 0x03)
    /// BR/EDR only: how a channel is to work (Part A, 4.4).
    public static let configurationRequest = L2CAPSignallingCode(rawValue: 0x04)
    /// BR/EDR only: whether it is going to work so (Part A, 4.5).
    public static let configurationResponse = L2CAPSignallingCode(rawValue: 0x05)
    /// Ends a channel (Part A, 4.6).
    public static let disconnectionRequest = L2CAPSignallingCode(rawValue: 0x06)
    /// The channel is closed (Part A, 4.7).
    public static let disconnectionResponse = L2CAPSignallingCode(rawValue: 0x07)
    /// BR/EDR only: requests a response, as a test (Part A, 4.8).
    public static let echoRequest = L2CAPSignallingCode(rawValue: 0x08)
    /// BR/EDR only: the answer (Part A, 4.9).
    public static let echoResponse = L2CAPSignallingCode(rawValue: 0x09)
    /// BR/EDR only: asks for the features of the peer (Part A, 4.10).
    public static let informationRequest = L2CAPSignallingCode(rawValue: 0x0A)
    /// BR/EDR only: what it can do (Part A, 4.11).
    public static let informationResponse = L2CAPSignallingCode(rawValue: 0x0B)
    /// LE only: a peripheral requests other connection parameters (Part A, 4.20).
    public static let connectionParameterUpdateRequest = L2CAPSignallingCode(rawValue: 0x12)
    /// LE only: the response of the central (Part A, 4.21).
    public static let connectionParameterUpdateResponse = L2CAPSignallingCode(rawValue: 0x13)
    /// LE only: requests one channel with credit-based flow control (Part A, 4.22).
    public static let leCreditBasedConnectionRequest = L2CAPSignallingCode(rawValue: 0x14)
    /// LE only: the channel, or the reason for the refusal (Part A, 4.23).
    public static let leCreditBasedConnectionResponse = L2CAPSignallingCode(rawValue: 0x15)
    /// More credits for a channel, without a response (Part A, 4.24).
    public static let flowControlCreditIndication = L2CAPSignallingCode(rawValue: 0x16)
    /// Asks for up to five channels with credits, the enhanced form (Part A, 4.25).
    public static let creditBasedConnectionRequest = L2CAPSignallingCode(rawValue: 0x17)
    /// Which of the channels are there (Part A, 4.26).
    public static let creditBasedConnectionResponse = L2CAPSignallingCode(rawValue: 0x18)
    /// Other sizes for channels of the enhanced form (Part A, 4.27).
    public static let creditBasedReconfigureRequest = L2CAPSignallingCode(rawValue: 0x19)
    /// Whether the sizes hold (Part A, 4.28).
    public static let creditBasedReconfigureResponse = L2CAPSignallingCode(rawValue: 0x1A)

    /// Whether the packet answers another one. A response that is not understood is ignored, a request is rejected.
    public var isResponse: Bool {
        switch self {
        case .commandReject, .connectionResponse, .configurationResponse, .disconnectionResponse, .echoResponse,
            .informationResponse, .connectionParameterUpdateResponse, .leCreditBasedConnectionResponse,
            .creditBasedConnectionResponse, .creditBasedReconfigureResponse:
            true
        default: false
        }
    }
}
