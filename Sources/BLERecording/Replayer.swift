import BLEHost
import BLEPackets

/// Repeats a recorded run: a new engine gets the same inputs at the same times, and each packet that it sends is
/// compared with the one that was sent then.
public enum Replayer {
    /// Where a packet differs from the recorded one.
    public struct Mismatch: Equatable, Sendable {
        /// Among the packets that the engine sent, from 0.
        public var index: UInt64
        /// When the engine sent it, on its own time line.
        public var time: Instant
        /// What was sent then; `nil` where nothing was.
        public var expected: [UInt8]?
        /// What is sent now; `nil` where nothing is.
        public var sent: [UInt8]?
    }

    /// What came of a replay.
    public struct Outcome: Equatable, Sendable {
        /// Packets of both directions that the repeated run handled.
        public var packetCount: UInt64 = 0
        /// Inputs that the engine was given.
        public var inputCount: UInt64 = 0
        /// Packets of the host that differ from those that were recorded, are missing or are too many.
        public var mismatchCount: UInt64 = 0
        /// The first of them; `nil` where the run was the same.
        public var firstMismatch: Mismatch?
        /// Packets from the controller that the inputs end before: the recording was cut.
        public var unreachedPacketCount: UInt64 = 0
        /// The recording ends without its last line: the program that made it was killed.
        public var isCut = false
        /// From the first input to the last, on the engine's time line.
        public var duration: Microseconds = .microseconds(0)

        /// Of a run that has not begun.
        public init() {}
    }

    /// Runs to the end of the recording, past differences.
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
            while host.nextToolboxQuestion() != nil {}
            var packets: [[UInt8]] = []
            host.drainPackets { packets.append($0.copied()) }
            while host.nextEvent() != nil {}
            for packet in packets {
                let expected = try reader.nextSentPacket()
                outcome.packetCount += 1
                if packet != expected {
                    outcome.note(Mismatch(index: sentCount, time: now, expected: expected, sent: packet))
                }
                sentCount += 1
            }
        }
        while let missing = try reader.nextSentPacket() {
            outcome.note(Mismatch(index: sentCount, time: time, expected: missing, sent: nil))
            sentCount += 1
        }
        outcome.unreachedPacketCount = reader.unreachedPacketCount
        outcome.isCut = reader.isCut
        outcome.duration = (beginning ?? time).distance(to: time)
        return outcome
    }
}

extension Replayer.Outcome {
    mutating func note(_ mismatch: Replayer.Mismatch) {
        mismatchCount += 1
        firstMismatch = firstMismatch ?? mismatch
    }
}
