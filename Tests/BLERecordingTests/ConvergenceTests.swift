import Testing

@testable import BLEHost
@testable import BLERecording

@Suite("Convergence of the radio")
struct ConvergenceTests {
    @Test(
        "after each input of a recording the controller does what is wanted: to converge once more sends and ends nothing",
        .enabled(if: !FixtureReplayTests.recordings.isEmpty, "Fixtures/ holds no recording; Tools/record makes them"),
        arguments: FixtureReplayTests.recordings)
    func isIdempotent(_ recording: String) throws {
        let files = RecordingFiles(FixtureReplayTests.folder.appendingPathComponent(recording).path)
        var reader = try RecordingReader(files)
        var host = Host(configuration: reader.configuration)
        while let (input, now) = try reader.nextInput() {
            host.apply(input, at: now)
            while host.nextCryptoRequest() != nil {}
            while host.nextEvent() != nil {}
            var packets: [[UInt8]] = []
            host.drainPackets { packets.append($0.copied()) }
            for packet in packets { #expect(try reader.nextSentPacket() == packet, "at \(now)") }
            guard host.isReady else { continue }
            #expect(!host.radio.isUnsettled, "at \(now)")
            let commands = Self.commands(in: host.effects)
            host.convergeRadio()
            #expect(Self.commands(in: host.effects) == commands, "at \(now)")
            #expect(host.effects.events.isEmpty, "at \(now)")
        }
    }

    private static func commands(in effects: Effects) -> [CommandPurpose] {
        var effects = effects
        return effects.commands.removeAll()
    }
}
