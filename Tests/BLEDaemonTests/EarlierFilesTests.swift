import FoundationEssentials
import Synchronization
import Testing

@testable import BLEDaemon

@Suite("Earlier captures")
struct EarlierFilesTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "jelling-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private func write(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    private func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("each start keeps the file that is there, the newest as number 1; nine are kept")
    func kept() throws {
        try withFolder { folder in
            let files = EarlierFiles(path: folder + "/all.btsnoop")
            #expect(files.keep() == nil)
            for start in 1...12 {
                try write("\(start)", files.path)
                #expect(files.keep() == nil)
                #expect(text(files.path) == nil)
                #expect(text(files.name(1)) == "\(start)")
            }
            #expect(files.name(2) == folder + "/all.2.btsnoop")
            #expect((1...9).map { text(files.name($0)) } == (4...12).reversed().map { "\($0)" })
            #expect(text(files.name(10)) == nil)
            // A gap is filled.
            try FileManager.default.removeItem(atPath: files.name(3))
            try write("13", files.path)
            #expect(files.keep() == nil)
            #expect((1...4).map { text(files.name($0)) } == ["13", "12", "11", "9"])
        }
    }

    @Test("an empty file, a link and a folder stay as they are")
    func others() throws {
        try withFolder { folder in
            let files = EarlierFiles(path: folder + "/all.pcap")
            try write("", files.path)
            #expect(files.keep() == nil && text(files.path)?.isEmpty == true)
            try FileManager.default.removeItem(atPath: files.path)
            try write("of somebody", folder + "/other")
            try FileManager.default.createSymbolicLink(atPath: files.path, withDestinationPath: folder + "/other")
            #expect(files.keep() == nil)
            #expect(text(folder + "/other") == "of somebody" && text(files.name(1)) == nil)
            try FileManager.default.removeItem(atPath: files.path)
            try FileManager.default.createDirectory(atPath: files.path, withIntermediateDirectories: true)
            #expect(files.keep() == nil && text(files.name(1)) == nil)
        }
    }

    @Test("what somebody else has put in the place of a name is passed over, and stays")
    func taken() throws {
        try withFolder { folder in
            let files = EarlierFiles(path: folder + "/all.btsnoop")
            try FileManager.default.createDirectory(
                atPath: files.name(1) + "/in", withIntermediateDirectories: true)
            try write("of somebody", folder + "/other")
            try FileManager.default.createSymbolicLink(
                atPath: files.name(3), withDestinationPath: folder + "/other")
            for start in 1...9 {
                try write("\(start)", files.path)
                #expect(files.keep() == nil)
            }
            #expect([2, 4, 5, 6, 7, 8, 9].map { text(files.name($0)) } == (3...9).reversed().map { "\($0)" })
            #expect(FileManager.default.fileExists(atPath: files.name(1) + "/in"))
            #expect(text(folder + "/other") == "of somebody" && text(files.name(3)) == "of somebody")
        }
    }

    @Test("if every name is taken, bled begins without a capture and says so, and the file that is there stays")
    func allTaken() throws {
        try withFolder { folder in
            let files = EarlierFiles(path: folder + "/all.btsnoop")
            for number in 1...EarlierFiles.limit {
                try FileManager.default.createDirectory(
                    atPath: files.name(number) + "/in", withIntermediateDirectories: true)
            }
            try write("earlier", files.path)
            #expect(files.keep() == EarlierFiles.noName)
            let said = Mutex<[String]>([])
            let capture = try DaemonCapture(path: files.path) { line in said.withLock { $0.append(line) } }
            let lines = said.withLock { $0 }
            #expect(lines.count == 1 && lines[0].hasPrefix("nothing is captured: the earlier capture"), "\(lines)")
            #expect(text(files.path) == "earlier")
            try FileManager.default.removeItem(atPath: files.name(4))
            capture.reopen()
            #expect(text(files.name(4)) == "earlier")
            #expect(said.withLock { $0.count } == 1)
        }
    }

    @Test("the number stands before the ending of the file, not in its folder's name")
    func names() {
        #expect(EarlierFiles(path: "/var.d/log/all.btsnoop").name(3) == "/var.d/log/all.3.btsnoop")
        #expect(EarlierFiles(path: "/var.d/all").name(3) == "/var.d/all.3")
        #expect(EarlierFiles(path: "all.pcap").name(1) == "all.1.pcap")
    }
}
