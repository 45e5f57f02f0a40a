import ArgumentParser
import BLEJSON
import BLERecording

struct ReplayCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Run the engine against a recording and compare every packet.",
        discussion: """
            A recording is written by --record NAME: NAME.btsnoop and NAME.inputs.jsonl. Requires no controller. \
            The exit status is 1 if the engine sends different packets than in the recording, or if the recording is \
            incomplete. The first difference is printed, one packet below the other.

              bletool --record session gatt Thermometer read 2A1C
              bletool replay session
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Argument(help: "The recording, without its endings.", completion: .file(extensions: ["jsonl"]))
    var name: String

    /// For Tools/CLibrary, which repeats recordings in C.
    @Flag(help: .private) var octets = false

    func validate() throws {
        if name.isEmpty { throw ValidationError("The name of the recording is empty.") }
    }

    func run(in session: Session) async throws {
        let outcome: Replayer.Outcome
        if octets {
            do throws(RecordingError) {
                return try Replayer.octets(of: RecordingFiles(name)) { session.console.printHelp($0) }
            } catch { throw Failure(error) }
        }
        do throws(RecordingError) { outcome = try Replayer.replay(RecordingFiles(name)) } catch {
            throw Failure(error)
        }
        if let mismatch = outcome.firstMismatch {
            session.console.note(lines: mismatch.description.split(separator: "\n"))
        }
        session.console.print(
            [
                "event": "replayed", "packets": JSONValue(outcome.packetCount),
                "mismatches": JSONValue(outcome.mismatchCount),
            ],
            text: "\(outcome.packetCount) packets, \(outcome.mismatchCount) mismatches")
        if outcome.unreachedPacketCount > 0 {
            throw Failure(
                "the recording ends early: \(outcome.unreachedPacketCount) packets were not replayed",
                code: .fileDamaged)
        }
        if outcome.isCut {
            throw Failure("the recording is incomplete: the program that wrote it was killed", code: .fileDamaged)
        }
        if outcome.mismatchCount > 0 {
            throw Failure("the engine sends packets that differ from the recording", code: .mismatch)
        }
    }
}
