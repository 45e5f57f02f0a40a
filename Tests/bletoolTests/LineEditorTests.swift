import BLE
import Testing

@testable import bletool

@Suite("Lines of the shell")
struct LineEditorTests {
    private func run(_ keys: [Key], history: [String] = [], words: [String] = []) -> (LineEditor, [LineEditor.Outcome])
    {
        var editor = LineEditor(history: history)
        let outcomes = keys.map { key in
            editor.press(key) { text in
                let word = text.split(separator: " ", omittingEmptySubsequences: false).last.map(String.init) ?? ""
                return (words.filter { $0.hasPrefix(word) }, word.count)
            }
        }
        return (editor, outcomes)
    }

    private func typed(_ text: String) -> [Key] { text.map { .character($0) } }

    @Test("keys move, insert and remove where the cursor is")
    func editing() {
        let (editor, outcomes) = run(
            typed("reed 2A19") + [.home, .right, .delete, .delete] + typed("ea") + [.end, .backspace] + typed("9 ")
                + [.control("w")] + typed("x") + [.control("a"), .control("k")] + typed("né") + [
                    .left, .backspace, .enter,
                ])
        #expect(outcomes.last == .line("é"))
        #expect(editor.text.isEmpty)
        #expect(editor.history == ["é"])
    }

    @Test("earlier lines come back, and what was being typed after them")
    func history() {
        let (editor, _) = run(typed("draft") + [.up, .up, .up, .down, .down, .down], history: ["one", "two"])
        #expect(String(editor.text) == "draft")
        let (second, outcomes) = run([.up, .up] + typed("!") + [.enter, .enter], history: ["one", "two"])
        #expect(outcomes.suffix(2) == [.line("one!"), .line("")])
        #expect(second.history == ["one", "two", "one!"])
        var long = LineEditor(history: (0..<2000).map(String.init))
        #expect(long.history.count == LineEditor.historyLimit)
        for letter in "again" { _ = long.press(.character(letter)) { _ in ([], 0) } }
        _ = long.press(.enter) { _ in ([], 0) }
        #expect(long.history.count == LineEditor.historyLimit && long.history.last == "again")
    }

    @Test("Tab completes the only word, what words share, or shows them")
    func completion() {
        let words = ["read", "ready", "write"]
        #expect(String(run(typed("w") + [.tab], words: words).0.text) == "write ")
        #expect(String(run(typed("r") + [.tab], words: words).0.text) == "read")
        #expect(run(typed("read") + [.tab], words: words).1.last == .choices(["read", "ready"]))
        #expect(String(run(typed("z") + [.tab], words: words).0.text) == "z")
    }

    @Test("^C gives the line up, ^D ends an empty one only")
    func ends() {
        #expect(run(typed("abc") + [.control("c")]).1.last == .cancelled)
        #expect(run([.control("d")]).1.last == .end)
        #expect(run(typed("a") + [.control("d")]).1.last == .edited)
    }

    @Test("a long line shows the part around its cursor", arguments: [10, 20, 80])
    func window(_ columns: Int) {
        var editor = LineEditor()
        for letter in String(repeating: "体a", count: 100) { _ = editor.press(.character(letter)) { _ in ([], 0) } }
        for _ in 0..<50 {
            let shown = editor.shown(prompt: "> ", columns: columns).replacing(/\u{1B}\[\d+D/, with: "")
            #expect(shown.displayWidth <= max(columns, 11))
            _ = editor.press(.left) { _ in ([], 0) }
        }
    }

    @Test("verbs, options and targets are completed where they may stand")
    func words() {
        let words = ShellWords()
        #expect(words.completions(of: "re").words == ["read"])
        #expect(words.completions(of: "write 2A39 --c").words == ["--command"])
        #expect(words.completions(of: "help ").words.isEmpty)
        let known = ShellWords(targets: ["'Battery Level'", "'Body Sensor Location'", "2A19", "0x0014"])
        #expect(known.completions(of: "read b").words == ["'Battery Level'", "'Body Sensor Location'"])
        #expect(known.completions(of: "read 'Bat").words == ["'Battery Level'"])
        #expect(known.completions(of: "read 'Bat").replaced == 4)
        #expect(known.completions(of: "read 'Battery Level' 'Body S").words == ["'Body Sensor Location'"])
        #expect(known.completions(of: "char-read-uuid 2").words == ["2A19"])
        #expect(known.completions(of: "subscribe 0X").words == ["0x0014"])
    }
}
