import BLERecording
import Testing

@Suite("Files of a recording")
struct RecordingFilesTests {
    @Test(
        "a recording is named without endings, or by either of its files",
        arguments: ["a/b", "a/b.btsnoop", "a/b.inputs.jsonl"])
    func names(_ name: String) {
        let files = RecordingFiles(name)
        #expect(files.packets == "a/b.btsnoop")
        #expect(files.inputs == "a/b.inputs.jsonl")
    }
}
