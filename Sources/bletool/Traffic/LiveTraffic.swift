import BLE
import BLECapture
import BLEDaemonClient
import BLETransport
import Glibc

/// What crosses HCI as it happens, as records of a capture.
enum LiveTraffic {
    /// The kernel's monitor channel, which disturbs nothing.
    /// - Parameters:
    ///   - adapter: whose packets are wanted; `nil`: those of all.
    ///   - isOver: called several times a second.
    ///   - begin: called once the channel is open.
    ///   - body: returns whether to go on.
    /// - Throws: `Failure`, and what `body` throws.
    static func ofKernel(
        adapter: UInt16?, until isOver: @escaping @Sendable () -> Bool, begin: () throws -> Void = {},
        _ body: (borrowing CaptureRecord) throws -> Bool
    ) throws {
        let frames: MonitorFrames
        do throws(TransportError) { frames = try MonitorFrames(adapter: adapter) } catch {
            throw Failure.notOpened(error)
        }
        do { try begin() } catch {
            _ = frames.end()
            Glibc.close(frames.output)
            throw error
        }
        var failure: (any Error)?
        do throws(CaptureError) {
            var reader = try CaptureReader(fileDescriptor: frames.output, isCancelled: isOver)
            reading: while !isOver(), let record = try reader.next() {
                do { guard try body(record) else { break reading } } catch {
                    failure = error
                    break reading
                }
            }
        } catch {
            // ^C and --duration end the wait for the next frame.
            if !isOver() { failure = Failure("the monitor channel: \(error)") }
        }
        if let error = frames.end() { throw Failure.notOpened(error) }
        if let failure { throw failure }
    }

    /// The traffic of all adapters of `bled`, or of the one that `-t` names, to its operators.
    /// - Parameters:
    ///   - begin: gets the adapters and their numbers in the records.
    ///   - body: returns whether to go on.
    /// - Returns: how many packets were dropped, because they were read too slowly.
    /// - Throws: `Failure`, and what `body` throws.
    static func ofDaemon(
        _ session: Session, begin: ([(number: UInt16, transport: String)]) throws -> Void = { _ in },
        _ body: (borrowing CaptureRecord) throws -> Bool
    ) async throws -> UInt64 {
        var lost: UInt64 = 0
        var numbers: [UInt16] = []
        try await session.watch(.packets) { adapters in
            numbers = Self.numbers(of: adapters)
            try begin(zip(numbers, adapters).map { ($0, $1) })
        } _: { place, event in
            guard case .packet(let octets, let direction, let time, let before) = event else { return true }
            lost += UInt64(before)
            var goesOn = true
            var failure: (any Error)?
            do throws(CaptureError) {
                var reader = try CaptureReader(
                    bytes: MonitorRecord.capture(octets, direction, at: time, of: numbers[place]))
                while let record = try reader.next() {
                    do { goesOn = try body(record) } catch { failure = error }
                }
            } catch { throw Failure("a packet of the daemon: \(error)") }
            if let failure { throw failure }
            return goesOn
        }
        return lost
    }

    /// The numbers of adapters in a capture: the kernel's, or their places if some are not the kernel's.
    private static func numbers(of adapters: [String]) -> [UInt16] {
        let indexes = adapters.compactMap { (try? TransportAddress($0))?.kernelIndex }
        if adapters.count > 1, indexes.count == adapters.count { return indexes }
        return adapters.indices.map { UInt16(clamping: $0) }
    }
}
