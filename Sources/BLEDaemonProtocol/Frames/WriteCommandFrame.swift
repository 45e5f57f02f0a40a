import BLEHost
import BLEPackets

/// A request for a write command, and its end, of which there may be thousands a second: encoded and decoded without
/// SwiftProtobuf. The octets are those of the schema; a message that has any other form is left to SwiftProtobuf.
public struct WriteCommandFrame: Equatable, Sendable {
    /// The client's number for it.
    public var operation: OperationID
    /// The link over which it goes.
    public var link: LinkID
    /// The handle of the characteristic value.
    public var handle: AttributeHandle
    /// What is written, at most ATT_MTU − 3 octets.
    public var value: [UInt8]

    public init(_ operation: OperationID, _ link: LinkID, _ handle: AttributeHandle, value: [UInt8]) {
        self.operation = operation
        self.link = link
        self.handle = handle
        self.value = value
    }

    /// Keys of fields in `Protocol/bled.proto`: of `FromClient`, `Request`, `GATT` and `Value`.
    private enum Key {
        static let request: UInt8 = 2 << 3 | 2
        static let operation: UInt8 = 1 << 3
        static let gatt: UInt8 = 7 << 3 | 2
        static let link: UInt8 = 1 << 3 | 1
        /// The key of field 16 takes two octets.
        static let writeCommand: [UInt8] = [0x82, 0x01]
        static let handle: UInt8 = 1 << 3
        static let value: UInt8 = 2 << 3 | 2
        /// Of `FromDaemon` and `Completed`.
        static let completed: UInt8 = 3 << 3 | 2
        static let written: UInt8 = 14 << 3 | 2
    }

    /// The request as a frame for the socket.
    public func framed() -> [UInt8] {
        let handleNumber = UInt64(handle.rawValue)
        let valueField = 1 + Varint.count(handleNumber) + 1 + Varint.count(UInt64(value.count)) + value.count
        let gatt = 1 + 8 + 2 + Varint.count(UInt64(valueField)) + valueField
        let request = 1 + Varint.count(operation.rawValue) + 1 + Varint.count(UInt64(gatt)) + gatt
        let message = 1 + Varint.count(UInt64(request)) + request
        var octets: [UInt8] = []
        octets.reserveCapacity(FrameReader.headerOctets + message)
        FrameReader.appendHeader(of: message, to: &octets)
        octets.append(Key.request)
        Varint.append(UInt64(request), to: &octets)
        octets.append(Key.operation)
        Varint.append(operation.rawValue, to: &octets)
        octets.append(Key.gatt)
        Varint.append(UInt64(gatt), to: &octets)
        octets.append(Key.link)
        for place in 0..<8 as Range<UInt64> { octets.append(UInt8(truncatingIfNeeded: link.wire >> (8 * place))) }
        octets += Key.writeCommand
        Varint.append(UInt64(valueField), to: &octets)
        octets.append(Key.handle)
        Varint.append(handleNumber, to: &octets)
        octets.append(Key.value)
        Varint.append(UInt64(value.count), to: &octets)
        octets += value
        return octets
    }

    /// The request in a message of a client.
    /// - Returns: `nil` if SwiftProtobuf has to say what it is.
    public init?(message: ArraySlice<UInt8>) {
        var reader = WireReader(octets: message)
        guard reader.skip(Key.request), reader.skipLengthOfRest(), reader.skip(Key.operation),
            let operation = reader.varint(), reader.skip(Key.gatt), reader.skipLengthOfRest(), reader.skip(Key.link),
            let link = reader.fixed64(), reader.skip(Key.writeCommand[0]), reader.skip(Key.writeCommand[1]),
            reader.skipLengthOfRest(), reader.skip(Key.handle), let number = reader.varint(),
            let handle = UInt16(exactly: number), reader.skip(Key.value), reader.skipLengthOfRest()
        else { return nil }
        self.init(
            OperationID(rawValue: operation), LinkID(wire: link), AttributeHandle(rawValue: handle),
            value: Array(reader.rest))
    }

    /// The frame which says that the write command with the client's number has been sent.
    public static func written(_ operation: OperationID) -> [UInt8] {
        let completed = 1 + Varint.count(operation.rawValue) + 2
        var octets: [UInt8] = []
        FrameReader.appendHeader(of: 1 + Varint.count(UInt64(completed)) + completed, to: &octets)
        octets.append(Key.completed)
        Varint.append(UInt64(completed), to: &octets)
        octets.append(Key.operation)
        Varint.append(operation.rawValue, to: &octets)
        octets.append(Key.written)
        octets.append(0)
        return octets
    }

    /// The number of the client's operation which has ended with `written`, in a message of the daemon.
    /// - Returns: `nil` if SwiftProtobuf has to say what it is.
    public static func writtenOperation(in message: ArraySlice<UInt8>) -> OperationID? {
        var reader = WireReader(octets: message)
        guard reader.skip(Key.completed), reader.skipLengthOfRest(), reader.skip(Key.operation),
            let operation = reader.varint(), reader.skip(Key.written), reader.skip(0), reader.rest.isEmpty
        else { return nil }
        return OperationID(rawValue: operation)
    }
}
