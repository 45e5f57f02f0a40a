/// LE Encrypt: the controller encrypts one block with AES-128 (Core 5.4, Vol 4, Part E, 7.8.22).
public struct LEEncrypt: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0017)
    public static let answer = CommandAnswer.complete

    /// The AES-128 key for this block; the controller does not keep it.
    public var key: Key128
    /// The block as a number; its least significant octet is sent first.
    public var plaintext: UInt128

    public init(key: Key128, plaintext: UInt128) {
        self.key = key
        self.plaintext = plaintext
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        key = Key128(rawValue: try reader.read())
        plaintext = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(key.rawValue)
        packet.write(plaintext)
    }

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// The block as a number; its least significant octet is sent first.
        public var ciphertext: UInt128 = 0

        public init(status: HCIStatus = .success, ciphertext: UInt128 = 0) {
            self.status = status
            self.ciphertext = ciphertext
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            ciphertext = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(ciphertext)
        }
    }
}
