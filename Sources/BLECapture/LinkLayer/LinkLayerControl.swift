/// Opcodes of the Link Layer Control Protocol that change how a connection is followed (Core 5.4, Vol 6, Part B, 2.4.2).
enum LinkLayerControl {
    static let terminate: UInt8 = 0x02
    static let encryptionRequest: UInt8 = 0x03
    static let encryptionResponse: UInt8 = 0x04
    static let startEncryptionRequest: UInt8 = 0x05
    static let pauseEncryptionResponse: UInt8 = 0x0B

    /// Who sends a PDU that only one side may send; `nil` for others.
    static func direction(of pdu: RawSpan, isEncrypted: Bool) -> CaptureDirection? {
        guard !isEncrypted, pdu.octet(0) & 3 == 3 else { return nil }
        return switch (pdu.octet(2), pdu.octet(1)) {
        // Updates of the connection, and a request for encryption.
        case (0x00, 12), (0x01, 8), (encryptionRequest, 23): .hostToController
        case (encryptionResponse, 13), (startEncryptionRequest, 1): .controllerToHost
        default: nil
        }
    }
}
