import BLEPackets
import Foundation

@testable import BLECapture

/// The package's folder.
let packageFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()  // Support
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// The captures of others, with counts that tshark made; from `JELLING_CAPTURES`, else beside the package.
let foreignCaptures =
    ProcessInfo.processInfo.environment["JELLING_CAPTURES"].map { URL(fileURLWithPath: $0) }
    ?? packageFolder.deletingLastPathComponent().appendingPathComponent("shared/captures")

/// Runs with the path of a file that is gone afterwards.
func withTemporaryPath<Result>(_ ending: String = "capture", _ body: (String) throws -> Result) rethrows -> Result {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).\(ending)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try body(path)
}

func contents(of path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
}

/// A capture of these records in this format.
func written(
    _ records: [Recorded], as format: CaptureFormat, resolution: CaptureTimeResolution = .microseconds,
    flushing: CaptureWriter.Flushing = .bytes(65536)
) throws -> [UInt8] {
    try withTemporaryPath { path in
        var writer = try CaptureWriter(path: path, format: format, flushing: flushing, resolution: resolution)
        for record in records { try append(record, to: &writer) }
        try writer.close()
        return try contents(of: path)
    }
}

@discardableResult
func append(_ record: Recorded, to writer: inout CaptureWriter) throws(CaptureError) -> Bool {
    switch record.content {
    case .linkLayer: false
    case .packet(let direction):
        try writer.append(
            packet: record.bytes.span.bytes, direction: direction, timestampMicroseconds: record.time,
            adapter: record.adapter, originalByteCount: record.originalByteCount)
    case .note(let note):
        try writer.append(
            note: note, payload: record.bytes.span.bytes, timestampMicroseconds: record.time, adapter: record.adapter)
    }
}

/// A session with each type of packet, times that need 64 bits, and notes.
enum Sample {
    static let start: Int64 = 1_700_000_000_123_457

    static let packets: [Recorded] = [
        Recorded(.packet(.hostToController), [0x01, 0x03, 0x0C, 0x00], at: start),
        Recorded(.packet(.controllerToHost), [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00], at: start + 1),
        Recorded(
            .packet(.hostToController), [0x02, 0x40, 0x00, 0x07, 0x00, 0x03, 0x00, 0x04, 0x00, 0x02, 0x05, 0x02],
            at: start + 999_999),
        Recorded(
            .packet(.controllerToHost), [0x02, 0x40, 0x20, 0x07, 0x00, 0x03, 0x00, 0x04, 0x00, 0x03, 0x17, 0x00],
            at: start + 86_400_000_000),
        Recorded(.packet(.hostToController), [0x03, 0x01, 0x00, 0x02, 0xAA, 0xBB], at: start + 86_400_000_001),
        Recorded(.packet(.controllerToHost), [0x03, 0x01, 0x00, 0x01, 0xCC], at: start + 86_400_000_002),
    ]

    static let isoPackets: [Recorded] = [
        Recorded(.packet(.hostToController), [0x05, 0x60, 0x20, 0x04, 0x00, 1, 2, 3, 4], at: start + 5),
        Recorded(.packet(.controllerToHost), [0x05, 0x60, 0x20, 0x04, 0x00, 5, 6, 7, 8], at: start + 6),
    ]

    static let monitorNotes: [Recorded] = [
        Recorded(
            .note(.monitor(.newIndex)), [0, 1, 6, 5, 4, 3, 2, 1] + [UInt8]("hci3\0\0\0\0".utf8), at: start, adapter: 3),
        Recorded(.note(.monitor(.openIndex)), [], at: start + 1, adapter: 3),
        Recorded(.note(.monitor(.indexInfo)), [6, 5, 4, 3, 2, 1, 0x3F, 0], at: start + 2, adapter: 3),
        Recorded(
            .note(.monitor(.systemNote)), [UInt8]("Linux\0".utf8), at: start + 3, adapter: CaptureRecord.noAdapter),
        Recorded(.note(.monitor(.userLogging)), [6, 4] + [UInt8]("abc\0text\0".utf8), at: start + 4, adapter: 3),
        Recorded(.note(.monitor(.vendorDiagnostic)), [1, 2, 3], at: start + 5, adapter: 3),
        Recorded(.note(.monitor(.controlOpen)), [1, 0, 0, 0, 0, 0], at: start + 6, adapter: CaptureRecord.noAdapter),
        Recorded(
            .note(.monitor(.controlCommand)), [1, 0, 0, 0, 3, 0], at: start + 7, adapter: CaptureRecord.noAdapter),
        Recorded(.note(.monitor(.controlEvent)), [1, 0, 0, 0, 1, 0], at: start + 8, adapter: CaptureRecord.noAdapter),
        Recorded(.note(.monitor(.controlClose)), [1, 0, 0, 0], at: start + 9, adapter: CaptureRecord.noAdapter),
        Recorded(.note(.monitor(.closeIndex)), [], at: start + 10, adapter: 3),
        Recorded(.note(.monitor(.deleteIndex)), [], at: start + 11, adapter: 3),
    ]
}
