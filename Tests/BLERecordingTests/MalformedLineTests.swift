import BLERecording
import Foundation
import Testing

@Suite("Problems of a recording's lines")
struct MalformedLineTests {
    private static let header = #"{"recording":2,"configuration":{}}"#

    private func reason(of lines: [String], at line: Int) throws -> String {
        let folder = try TemporaryFolder()
        let session = try RecordedSession(folder: folder)
        try session.walk()
        try (lines.joined(separator: "\n") + "\n")
            .write(toFile: session.files.inputs, atomically: true, encoding: .utf8)
        do throws(RecordingError) { _ = try Replayer.replay(session.files) } catch {
            guard case .malformedLine(_, line, let reason) = error else { return "\(error)" }
            return reason
        }
        return ""
    }

    @Test(
        "a member of the configuration with a wrong value is named",
        arguments: [
            (#"{"limits":{"links":"many"}}"#, #"configuration.limits.links: a number is expected, not "many""#),
            (
                #"{"limits":{"links":1.5}}"#,
                "configuration.limits.links: a whole number of 64 bits is expected, not 1.5"
            ),
            (#"{"limits":[1]}"#, "configuration.limits: an object is expected, not a list"),
            (#"{"has_toolbox":1}"#, "configuration.has_toolbox: true or false is expected, not 1"),
            (#"{"ownership":9}"#, "configuration.ownership: it cannot be 9"),
            (#"{"own_address":{}}"#, "configuration.own_address: no member that this program knows"),
        ])
    func configuration(_ text: String, reason: String) throws {
        let header = #"{"recording":2,"configuration":\#(text)}"#
        #expect(try self.reason(of: [header], at: 1) == reason)
    }

    @Test(
        "a member of an input with a wrong value is named",
        arguments: [
            (#"{"at":"x","advance":{}}"#, #"at: a number is expected, not "x""#),
            (#"{"at":1,"fly":{}}"#, "no input that this program knows"),
            (#"{"at":1}"#, "no input that this program knows"),
            (#"{"at":1,"end":{},"packet":0}"#, "‘packet’ and ‘end’ exclude each other"),
            (#"{"at":1,"advance":{},"packet":0}"#, "‘packet’ and ‘advance’ exclude each other"),
            (#"{"at":1,"advance":true}"#, "advance: an object is expected, not true"),
            (#"{"at":1,"command":{"client":1}}"#, "command: no member that this program knows"),
            (
                #"{"at":1,"command":{"client":1,"scan":{"services":"180D"}}}"#,
                #"command.scan.services: a list is expected, not "180D""#
            ),
            ("[]", "an object is expected, not a list"),
        ])
    func input(_ line: String, reason: String) throws {
        #expect(try self.reason(of: [Self.header, #"{"at":0,"advance":{},"newer":[1]}"#, line], at: 3) == reason)
    }
}
