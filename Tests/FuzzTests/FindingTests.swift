import Foundation
import FuzzBodies
import Testing

@Suite("Inputs of the fuzzers")
struct FindingTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Tools/Fuzz")

    /// Every file in `Findings` and `Corpus`, each in a folder that names its target.
    static let inputs: [String] = {
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return files.filter { file in
            let parts = file.split(separator: "/")
            return parts.count == 3 && (parts[0] == "Findings" || parts[0] == "Corpus")
                && FuzzTarget(rawValue: String(parts[1])) != nil
        }.sorted()
    }()

    @Test("everything that a fuzzer has found stays fixed, and its corpus passes", arguments: FuzzTarget.allCases)
    func replays(_ target: FuzzTarget) throws {
        let inputs = Self.inputs.filter { $0.split(separator: "/")[1] == target.rawValue }
        #expect(!inputs.isEmpty, "Tools/Fuzz/Corpus/\(target.rawValue) is empty; Tools/Fuzz/seeds fills it")
        for input in inputs {
            let bytes = try Data(contentsOf: Self.folder.appendingPathComponent(input))
            let violation = target.run([UInt8](bytes))
            #expect(violation == nil, "\(input)")
        }
    }

    @Test("an empty input is accepted, too", arguments: FuzzTarget.allCases)
    func empty(_ target: FuzzTarget) { #expect(target.run([]) == nil) }
}
