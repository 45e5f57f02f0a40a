import BLEPackets

@testable import BLECapture

/// A record that outlives its reader.
struct Recorded: Equatable {
    var content: CaptureRecord.Content
    var bytes: [UInt8]
    var time: Int64
    var adapter: UInt16 = 0
    var originalByteCount: Int

    init(
        _ content: CaptureRecord.Content, _ bytes: [UInt8], at time: Int64, adapter: UInt16 = 0, original: Int? = nil
    ) {
        self.content = content
        self.bytes = bytes
        self.time = time
        self.adapter = adapter
        originalByteCount = original ?? bytes.count
    }

    init(_ record: borrowing CaptureRecord) {
        self.init(
            record.content, record.bytes.copied(), at: record.timestampMicroseconds, adapter: record.adapter,
            original: record.originalByteCount)
    }
}

/// What could be read of a capture, and the errors on the way.
struct Reading {
    var records: [Recorded] = []
    var errors: [CaptureError] = []
    var format: CaptureFormat?

    init(_ bytes: [UInt8], maximumReadByteCount: Int = .max) {
        do throws(CaptureError) {
            var reader = try CaptureReader(InputFile(memory: bytes, maximumReadByteCount: maximumReadByteCount))
            readAll(&reader)
        } catch { errors.append(error) }
    }

    init(path: String) {
        do throws(CaptureError) {
            var reader = try CaptureReader(path: path)
            readAll(&reader)
        } catch { errors.append(error) }
    }

    private mutating func readAll(_ reader: inout CaptureReader) {
        format = reader.format
        while true {
            do throws(CaptureError) {
                guard let record = try reader.next() else { return }
                records.append(Recorded(record))
            } catch {
                errors.append(error)
                if error.isFinal { return }
            }
        }
    }
}

/// Numbers that look random and are the same in each run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
