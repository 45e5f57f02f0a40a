import BLEJSON
import Testing

@testable import bletool

@Suite("JSON of files: time and memory are bounded")
struct JSONLimitTests {
    private func read(_ text: String, limits: JSONReader.Limits = .init()) throws -> JSONValue {
        try JSONReader.value(in: Array(text.utf8), limits: limits)
    }

    private func object(_ count: Int, tail: String = "") -> String {
        "{" + (0..<count).map { "\"key \($0)\":\($0)" }.joined(separator: ",") + tail + "}"
    }

    @Test("an object with many keys takes no longer for each than one with few", .timeLimit(.minutes(10)))
    func manyKeys() throws {
        // Compared one by one these took half an hour: the limit, not a clock, tells.
        guard case .object(let members) = try read(object(700_000)) else {
            Issue.record("no object")
            return
        }
        #expect(members.count == 700_000)
        #expect(members[699_999] == .init(key: "key 699999", value: 699_999))
    }

    @Test("a duplicate key is named, in an object of any size", arguments: [1, 7, 8, 9, 10, 5000])
    func duplicates(_ count: Int) {
        for repeated in Set([0, count / 2, count - 1]) {
            do throws(JSONProblem) {
                _ = try JSONReader.value(in: Array(object(count, tail: ",\"key \(repeated)\":0").utf8))
                Issue.record("read")
            } catch {
                #expect(error.message == "‘key \(repeated)’ appears twice")
            }
        }
    }

    @Test("the same key may be in objects within each other, and behind an object with many")
    func sameKeyElsewhere() throws {
        _ = try read(#"[{"a":{"a":{"a":1}},"b":{"a":2}},\#(object(100)),\#(object(100))]"#)
    }

    @Test("a key that is written in two ways is the same key")
    func escapedDuplicate() {
        #expect(throws: JSONProblem(line: 1, message: "‘ab’ appears twice")) {
            try read(#"{"ab":1,"\u0061b":2}"#)
        }
    }

    @Test("a long key is shortened where a message names it")
    func longKey() {
        let key = String(repeating: "k", count: 100_000)
        do throws(JSONProblem) {
            _ = try JSONReader.value(in: Array("{\"\(key)\" 1}".utf8))
            Issue.record("read")
        } catch {
            #expect(error.message.utf8.count < 200)
        }
    }

    @Test("input beyond a limit is refused with a message")
    func limits() throws {
        var limits = JSONReader.Limits()
        limits.byteCount = 100
        limits.valueCount = 10
        limits.depth = 3
        limits.numberLength = 5
        let refused = [
            ("[" + String(repeating: " ", count: 99) + "]", "longer than 100"),
            ("[0,0,0,0,0,0,0,0,0,0]", "more than 10 values"), ("[[[0]]]", "too deeply nested: more than 3"),
            ("123456", "too many digits"),
        ]
        for (text, word) in refused {
            do throws(JSONProblem) {
                _ = try JSONReader.value(in: Array(text.utf8), limits: limits)
                Issue.record("read \(text)")
            } catch {
                #expect(error.message.contains(word), "\(error.message)")
            }
            _ = try? read(text)
        }
        _ = try read("[0,0,0,0,0,0,0,0,0]", limits: limits)
        _ = try read("[[0]]", limits: limits)
    }

    @Test("no nesting is too deep for the stack", arguments: ["[", "{\"a\":", "[{\"a\":["])
    func deep(_ opening: String) {
        #expect(throws: JSONProblem.self) { try read(String(repeating: opening, count: 1 << 20)) }
    }

    @Test(
        "texts that are truncated or changed anywhere are read or refused, never a crash, and what is read is written the same way"
    )
    func damaged() throws {
        let whole = Array(#"{"a":[1,-2.5e3,"\u00e9\ud83d\ude00\n",null,true,{"b":"c","d":[]}],"e":{}} "#.utf8)
        var generator = SystemRandomNumberGenerator()
        for round in 0..<20_000 {
            var bytes = round < whole.count ? Array(whole[..<round]) : whole
            for _ in 0..<Int.random(in: 0...3, using: &generator) where !bytes.isEmpty {
                bytes[.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            guard let value = try? JSONReader.value(in: bytes) else { continue }
            #expect(try JSONReader.value(in: Array(value.text.utf8)) == value)
        }
    }

    @Test("a profile with 60,000 keys is refused at once, and one with many services is read", .timeLimit(.minutes(10)))
    func bigProfiles() throws {
        #expect(throws: Failure.self) { try ServedProfile(Array(object(60_000).utf8)) }
        // Each includes the next: what was searched from the front for each took minutes.
        let count = 20_000
        let services = (0..<count).map { number in
            let uuid = String(number + 0x1000, radix: 16)
            let next = number + 1 < count ? "[\"\(String(number + 0x1001, radix: 16))\"]" : "[]"
            return "{\"uuid\":\"\(uuid)\",\"includes\":\(next)}"
        }
        let profile = try ServedProfile(Array("{\"services\":[\(services.joined(separator: ","))]}".utf8))
        #expect(profile.services.map(\.uuid) == (0..<count).reversed().map { .init(UInt16($0 + 0x1000)) })
    }

    @Test("services keep the order of the file where they can")
    func order() throws {
        let text = """
            {"services":[{"uuid":"1801","includes":["1804","1803"]},{"uuid":"1802"},{"uuid":"1803","includes":["1804"]},
            {"uuid":"1804"},{"uuid":"1805"},{"uuid":"1804"}]}
            """
        let uuids = try ServedProfile(Array(text.utf8)).services.map(\.uuid)
        #expect(uuids == [0x1802, 0x1804, 0x1803, 0x1801, 0x1805, 0x1804].map { .init(UInt16($0)) })
        #expect(throws: Failure.self) {
            try ServedProfile(
                Array(#"{"services":[{"uuid":"1801","includes":["1802"]},{"uuid":"1802","includes":["1801"]}]}"#.utf8))
        }
    }
}
