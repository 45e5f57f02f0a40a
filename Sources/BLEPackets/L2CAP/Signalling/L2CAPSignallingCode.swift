/// The code of a signalling packet (Core 5.4, Vol 3, Part A, 4, Table 4.2).
///
/// Codes of BR/EDR links also have names, for captures.
public struct L2CAPSignallingCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

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
