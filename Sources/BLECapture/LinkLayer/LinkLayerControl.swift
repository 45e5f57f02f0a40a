/// Opcodes of the Link Layer Control Protocol that change how a connection is followed (Core 5.4, Vol 6, Part B, 2.4.2).
enum LinkLayerControl {
    static let terminate: UInt8 = 0x02
    static let encryptionRequest: UInt8 = 0x03
    static let encryptionResponse: UInt8 = 0x04
    static let startEncryptionRequest: UInt8 = 0x05
    static let pauseEncryptionResponse: UInt8 = 0x0B
}
