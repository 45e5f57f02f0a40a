import BLECapture
import BLEPackets

/// A whole file in memory.
enum CaptureBody {
    static func run(_ bytes: [UInt8]) -> String? {
        do throws(CaptureError) {
            var reader = try CaptureReader(bytes: bytes)
            var calls = 0
            var lastOffset = reader.byteOffset
            while calls <= 2 * bytes.count + 16 {
                calls += 1
                do throws(CaptureError) {
                    guard let record = try reader.next() else { return nil }
                    if record.bytes.byteCount > CaptureReader.maximumRecordByteCount { return "a record is too long" }
                    if case .packet = record.content { _ = record.bytes.contentHash() }
                } catch {
                    if error.isFinal { return nil }
                }
                if reader.byteOffset < lastOffset { return "the reader goes back" }
                lastOffset = reader.byteOffset
            }
            return "the reader does not come to the end of \(bytes.count) octets"
        } catch {
            return nil
        }
    }
}
