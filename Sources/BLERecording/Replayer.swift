import BLEHost
import BLEPackets

/// Replays a recording: a new engine gets the same inputs at the same times, and each packet that it sends is compared
/// with the recorded one.
public enum Replayer {
    /// Where a packet differs from the recorded one.
    public struct Mismatch: Equatable, Sendable {
        /// The number of the packet among those that the engine sent, from 0.
        public var index: UInt64
        /// The engine's time at which it was sent.
        public var time: Instant
        /// The recorded packet; `nil` if there was none.
        public var expected: [UInt8]?
        /// The packet of the replay; `nil` if there is none.
        public var sent: [UInt8]?
    }

    /// The result of a replay.
    public struct Outcome: Equatable, Sendable {
        /// The number of packets in both directions.
        public var packetCount: UInt64 = 0
        /// The number of inputs.
        public var inputCount: UInt64 = 0
        /// The number of packets that differ from the recorded ones, are missing or are extra.
        public var mismatchCount: UInt64 = 0
        /// The first of them; `nil` if there is none.
        public var firstMismatch: Mismatch?
        /// Packets from the controller without an input: the recording was cut.
        public var unreachedPacketCount: UInt64 = 0
        /// Whether the recording has no last line: the program that made it was killed.
        public var isCut = false
        /// The engine's time from the first input to the last.
        public var duration: Microseconds = .microseconds(0)

        /// The outcome before the first input.
        public init() {}
    }

    /// Replays the whole recording; does not stop at differences.
    /// - Throws: `RecordingError` when the recording cannot be read.
    public static func replay(_ files: RecordingFiles) throws(RecordingError) -> Outcome {
        var reader = try RecordingReader(files)
        var host = Host(configuration: reader.configuration)
        var outcome = Outcome()
        var sentCount: UInt64 = 0
        var time = Instant.zero
        var beginning: Instant?
        while let (input, now) = try reader.nextInput() {
            time = now
            beginning = beginning ?? now
            outcome.inputCount += 1
            if case .packet = input { outcome.packetCount += 1 }
            host.apply(input, at: now)
            // The answers are in the recording.
            while host.nextCryptoRequest() != nil {}
            var packets: [[UInt8]] = []
            host.drainPackets { packets.append($0.copied()) }
            while host.nextEvent() != nil {}
            for packet in packets {
                let expected = try reader.nextSentPacket()
                outcome.packetCount += 1
                if packet != expected {
                    outcome.record(Mismatch(index: sentCount, time: now, expected: expected, sent: packet))
                }
                sentCount += 1
            }
        }
        while let missing = try reader.nextSentPacket() {
            outcome.record(Mismatch(index: sentCount, time: time, expected: missing, sent: nil))
            sentCount += 1
        }
        outcome.unreachedPacketCount = reader.unreachedPacketCount
        outcome.isCut = reader.isCut
        outcome.duration = (beginning ?? time).distance(to: time)
        return outcome
    }
}

extension Replayer.Outcome {
    mutating func record(_ mismatch: Replayer.Mismatch) {
        mismatchCount += 1
        firstMismatch = firstMismatch ?? mismatch
    }
}
