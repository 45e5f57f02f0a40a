/// LE Scan Timeout: an extended scan reached the duration that it was given (Core 5.4, Vol 4, Part E, 7.7.65.17).
public struct LEScanTimeout: LEMetaEvent {
    public static let subevent = LESubeventCode.scanTimeout

    public init() {}

    public init(decoding reader: inout PacketReader) throws(DecodingError) {}

    public func encode(into packet: inout PacketWriter) {}
}
