/// A frame of the Simple Management Protocol, which mcumgr speaks: eight octets of header, most significant first, and a
/// map in CBOR (Zephyr, Device Management, SMP Protocol Specification).
///
/// That protocol is called SMP; here it is device management, since SMP of Bluetooth is the Security Manager Protocol.
public struct ManagementFrame: Hashable, Sendable {
    /// What a frame is.
    public enum Operation: UInt8, Sendable {
        case read = 0
        case readResponse = 1
        case write = 2
        case writeResponse = 3

        /// The operation of the response to a request.
        public var response: Operation { self == .read ? .readResponse : .writeResponse }
    }

    /// What is wrong with a frame.
    public enum Problem: Error, Hashable, Sendable {
        /// Shorter than its header, or than the header says.
        case truncated
        /// Longer than the header says.
        case trailingOctets
        /// An operation that does not exist.
        case unknownOperation(UInt8)
        /// The content is not CBOR.
        case content(CBORProblem)
        /// The content is CBOR, but no map.
        case notAMap
    }

    /// The length of a header in octets.
    public static let headerByteCount = 8

    /// What is done.
    public var operation: Operation
    /// 0 for the first version of the protocol, 1 for the second, which has error numbers of groups.
    public var version: UInt8
    /// Zero: no flag is defined.
    public var flags: UInt8
    /// The group of commands: 0 operating system, 1 images, 3 settings, 8 files, 9 shell; from 64 on the maker's.
    public var group: UInt16
    /// The response has the number of its request.
    public var sequence: UInt8
    /// The command within its group.
    public var command: UInt8
    /// A map.
    public var content: CBORValue

    public init(
        _ operation: Operation, group: UInt16, command: UInt8, sequence: UInt8 = 0, version: UInt8 = 1,
        content: CBORValue = .map([])
    ) {
        self.operation = operation
        self.version = version & 3
        flags = 0
        self.group = group
        self.sequence = sequence
        self.command = command
        self.content = content
    }

    /// The whole length of the frame that begins with these octets; `nil` if the header is not there yet.
    public static func byteCount(of octets: some RandomAccessCollection<UInt8>) -> Int? {
        guard octets.count >= headerByteCount else { return nil }
        let header = Array(octets.prefix(headerByteCount))
        return headerByteCount + (Int(header[2]) << 8 | Int(header[3]))
    }

    /// Reads one whole frame.
    public init(_ octets: [UInt8]) throws(Problem) {
        guard let count = Self.byteCount(of: octets), count <= octets.count else { throw .truncated }
        guard count == octets.count else { throw .trailingOctets }
        guard let operation = Operation(rawValue: octets[0] & 7) else { throw .unknownOperation(octets[0] & 7) }
        self.operation = operation
        version = octets[0] >> 3 & 3
        flags = octets[1]
        group = UInt16(octets[4]) << 8 | UInt16(octets[5])
        sequence = octets[6]
        command = octets[7]
        guard count > Self.headerByteCount else {
            content = .map([])
            return
        }
        do throws(CBORProblem) {
            content = try CBORReader.value(in: octets[Self.headerByteCount...])
        } catch { throw .content(error) }
        guard content.members != nil else { throw .notAMap }
    }

    /// The octets of the frame. A content that is longer than 65535 octets cannot be sent and is cut: keep it shorter.
    public var encoded: [UInt8] {
        let content = self.content.encoded.prefix(0xFFFF)
        return [
            operation.rawValue | version << 3, flags, UInt8(content.count >> 8), UInt8(content.count & 0xFF),
            UInt8(group >> 8), UInt8(group & 0xFF), sequence, command,
        ] + content
    }
}
