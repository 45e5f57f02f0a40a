/// What a signalling packet is (Core 5.4, Vol 3, Part A, 4, Table 4.2).
///
/// Codes that only BR/EDR links use have names here too, so that a capture can be read.
public struct L2CAPSignallingCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let commandReject = L2CAPSignallingCode(rawValue: 0x01)
    public static let connectionRequest = L2CAPSignallingCode(rawValue: 0x02)
    public static let connectionResponse = L2CAPSignallingCode(rawValue: 0x03)
    public static let configurationRequest = L2CAPSignallingCode(rawValue: 0x04)
    public static let configurationResponse = L2CAPSignallingCode(rawValue: 0x05)
    public static let disconnectionRequest = L2CAPSignallingCode(rawValue: 0x06)
    public static let disconnectionResponse = L2CAPSignallingCode(rawValue: 0x07)
    public static let echoRequest = L2CAPSignallingCode(rawValue: 0x08)
    public static let echoResponse = L2CAPSignallingCode(rawValue: 0x09)
    public static let informationRequest = L2CAPSignallingCode(rawValue: 0x0A)
    public static let informationResponse = L2CAPSignallingCode(rawValue: 0x0B)
    public static let connectionParameterUpdateRequest = L2CAPSignallingCode(rawValue: 0x12)
    public static let connectionParameterUpdateResponse = L2CAPSignallingCode(rawValue: 0x13)
    public static let leCreditBasedConnectionRequest = L2CAPSignallingCode(rawValue: 0x14)
    public static let leCreditBasedConnectionResponse = L2CAPSignallingCode(rawValue: 0x15)
    public static let flowControlCreditIndication = L2CAPSignallingCode(rawValue: 0x16)
    public static let creditBasedConnectionRequest = L2CAPSignallingCode(rawValue: 0x17)
    public static let creditBasedConnectionResponse = L2CAPSignallingCode(rawValue: 0x18)
    public static let creditBasedReconfigureRequest = L2CAPSignallingCode(rawValue: 0x19)
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
