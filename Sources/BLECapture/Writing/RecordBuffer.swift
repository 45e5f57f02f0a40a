/// Records that wait to be written to the file.
struct RecordBuffer: Sendable {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    mutating func append(_ octet: UInt8) { bytes.append(octet) }

    mutating func append<Value: FixedWidthInteger & BitwiseCopyable>(big value: Value) {
        unsafe withUnsafeBytes(of: value.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func append<Value: FixedWidthInteger & BitwiseCopyable>(little value: Value) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func append(_ span: RawSpan) {
        unsafe span.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func append(text: String) { bytes.append(contentsOf: text.utf8) }

    /// Zeros up to a multiple of four octets.
    mutating func pad(after count: Int) { bytes.append(contentsOf: repeatElement(0, count: -count & 3)) }
}
