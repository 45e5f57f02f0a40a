import Foundation
import Testing

@testable import BLECapture

@Suite("Capture writer")
struct CaptureWriterTests {
    static let formats: [CaptureFormat] = [.btsnoop, .btsnoopMonitor, .pcap, .pcapng, .packetLogger]

    @Test("the file can be read at any time: a killed process leaves a valid capture", arguments: formats)
    func readableAtEachMoment(format: CaptureFormat) throws {
        try withTemporaryPath { path in
            var writer = try CaptureWriter(path: path, format: format)
            for (number, packet) in Sample.packets.enumerated() {
                try append(packet, to: &writer)
                let reading = Reading(path: path)
                #expect(reading.errors == [])
                #expect(reading.records == Array(Sample.packets[...number]))
            }
            #expect(writer.recordCount == UInt64(Sample.packets.count))
        }
    }

    @Test("buffered records are written whole, at the latest when the buffer is full")
    func gathering() throws {
        try withTemporaryPath { path in
            var writer = try CaptureWriter(path: path, format: .btsnoop, flushing: .bytes(100))
            var lastSize = 0
            for number in 0..<200 {
                try append(Sample.packets[number % Sample.packets.count], to: &writer)
                let reading = Reading(path: path)
                #expect(reading.errors == [])
                #expect(number + 1 - reading.records.count <= 4)
                lastSize = reading.records.count
            }
            #expect(lastSize < 200)
            try writer.flush()
            #expect(Reading(path: path).records.count == 200)
        }
    }

    @Test("a writer that is released writes the rest")
    func deinitialization() throws {
        try withTemporaryPath { path in
            do {
                var writer = try CaptureWriter(path: path, format: .pcap, flushing: .bytes(65536))
                try append(Sample.packets[0], to: &writer)
            }
            #expect(Reading(path: path).records == [Sample.packets[0]])
        }
    }

    @Test("a full disk is reported once, and later records are counted")
    func fullDisk() throws {
        let full = unsafe open("/dev/full", O_WRONLY)
        try #require(full >= 0, "/dev/full is missing")
        var writer = try CaptureWriter(fileDescriptor: full, format: .packetLogger)
        var errors: [CaptureError] = []
        for packet in Sample.packets {
            do throws(CaptureError) { try append(packet, to: &writer) } catch { errors.append(error) }
        }
        try writer.flush()
        try writer.close()
        #expect(
            errors == [CaptureError(.cannotWrite(SystemError(number: ENOSPC)), byteOffset: 0, recordNumber: 1)])
        #expect(writer.lostRecordCount == UInt64(Sample.packets.count))
        #expect(writer.recordCount == 0)
    }

    @Test("a file that may not grow ends with its last whole record")
    func halfWrittenRecord() async {
        // A limit on the size of files belongs to a whole process: a child of its own has it.
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 100, rlim_max: 100)
            #expect(unsafe setrlimit(__rlimit_resource_t(1), &limit) == 0)  // RLIMIT_FSIZE
            try withTemporaryPath { path in
                var writer = try CaptureWriter(path: path, format: .btsnoop)
                var error: CaptureError?
                for packet in Sample.packets {
                    do throws(CaptureError) { try append(packet, to: &writer) } catch let thrown { error = thrown }
                }
                #expect(
                    error == CaptureError(.cannotWrite(SystemError(number: EFBIG)), byteOffset: 75, recordNumber: 3))
                #expect(Reading(path: path).records == Array(Sample.packets[..<2]))
                #expect(Reading(path: path).errors == [])
                #expect(writer.lostRecordCount == 4)
            }
        }
    }

    @Test("a full pipe is an error, not an endless wait")
    func fullPipe() {
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
        defer { close(ends[0]) }
        do throws(CaptureError) {
            var writer = try CaptureWriter(fileDescriptor: ends[1], format: .btsnoop)
            for _ in 0..<100_000 { try append(Sample.packets[2], to: &writer) }
            Issue.record("written")
        } catch { #expect(error.reason == .cannotWrite(SystemError(number: EAGAIN))) }
    }

    @Test("a pipe whose reader closes is an error, not the end of the process")
    func brokenPipe() throws {
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        var writer = try CaptureWriter(fileDescriptor: ends[1], format: .btsnoop)
        close(ends[0])
        do throws(CaptureError) {
            try append(Sample.packets[0], to: &writer)
            Issue.record("written")
        } catch {
            #expect(error == CaptureError(.cannotWrite(SystemError(number: EPIPE)), byteOffset: 16, recordNumber: 1))
        }
        #expect(try !append(Sample.packets[0], to: &writer))
        #expect(writer.lostRecordCount == 2)
    }

    @Test("captures are read from a pipe as they arrive")
    func readingPipe() throws {
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        var writer = try CaptureWriter(fileDescriptor: ends[1], format: .btsnoop)
        var reader = try CaptureReader(fileDescriptor: ends[0])
        for packet in Sample.packets {
            try append(packet, to: &writer)
            guard let record = try reader.next() else {
                Issue.record("the end")
                return
            }
            #expect(Recorded(record) == packet)
        }
        try writer.close()
        let isOver = try reader.next() == nil
        #expect(isOver)
    }

    @Test("only the owner may read a capture, also when the file was there before: it holds keys")
    func permissions() throws {
        try withTemporaryPath { path in
            #expect(
                FileManager.default.createFile(
                    atPath: path, contents: Data([1, 2, 3]), attributes: [.posixPermissions: 0o644]))
            var writer = try CaptureWriter(path: path, format: .btsnoop)
            try writer.close()
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try contents(of: path).count == 16)
        }
    }

    @Test("a path that cannot be opened says why")
    func cannotOpen() {
        do throws(CaptureError) {
            _ = try CaptureWriter(path: "/nonexistent/capture.pcap", format: .pcap)
            Issue.record("opened")
        } catch {
            #expect(error == CaptureError(.cannotOpen(SystemError(number: ENOENT))))
        }
    }

    @Test("an oversized packet is refused, and the next is written")
    func hugePacket() throws {
        try withTemporaryPath { path in
            var writer = try CaptureWriter(path: path, format: .pcapng)
            let greatest = [0x02] + [UInt8](repeating: 7, count: CaptureWriter.maximumPacketByteCount - 1)
            let huge = greatest + [7]
            do throws(CaptureError) {
                try writer.append(packet: huge.span.bytes, direction: .hostToController, timestampMicroseconds: 0)
                Issue.record("written")
            } catch {
                #expect(error.reason == .invalidLength(UInt64(huge.count)))
                #expect(!error.isFinal)
            }
            try writer.append(packet: greatest.span.bytes, direction: .hostToController, timestampMicroseconds: 0)
            try writer.close()
            #expect(Reading(path: path).records.map(\.bytes) == [greatest])
        }
    }

    @Test("after close nothing is written, and closing again is no error")
    func closedTwice() throws {
        try withTemporaryPath { path in
            var writer = try CaptureWriter(path: path, format: .btsnoop)
            try append(Sample.packets[0], to: &writer)
            try writer.close()
            try writer.close()
            #expect(try !append(Sample.packets[1], to: &writer))
            #expect(writer.lostRecordCount == 1)
            #expect(Reading(path: path).records == [Sample.packets[0]])
        }
    }
}
