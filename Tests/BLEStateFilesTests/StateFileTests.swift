import Foundation
import Testing

@testable import BLEStateFiles

@Suite("Files of state")
struct StateFileTests {
    let folder: Folder
    private let name = "bonds"

    init() throws { folder = try Folder() }

    /// What each way to open the file says.
    private func errors() throws -> Set<StateFileError?> {
        let state = try SafeFolder(path: folder.path, isMade: false)
        var errors: Set<StateFileError?> = []
        do throws(StateFileError) {
            _ = try state.read(name, limit: 100)
            errors.insert(nil)
        } catch {
            errors.insert(error)
        }
        do throws(StateFileError) {
            try state.replace(name, with: [1])
            errors.insert(nil)
        } catch {
            errors.insert(error)
        }
        for use in [StateFileUse.appending, .locking, .writing] {
            do throws(StateFileError) {
                close(try state.openOrMake(name, use))
                errors.insert(nil)
            } catch {
                errors.insert(error)
            }
        }
        return errors
    }

    @Test("a link is not followed, wherever it leads, and what it leads to is not touched")
    func links() throws {
        try folder.write("private", "target", mode: 0o644)
        for target in [folder.place("target"), folder.place("missing"), "/dev/null", "/", "bonds"] {
            unsafe unlink(folder.place(name))
            unsafe symlink(target, folder.place(name))
            #expect(try errors() == [.unexpected(path: folder.place(name), .link, wanted: .file)])
        }
        #expect(folder.read("target") == "private")
        #expect(folder.mode("target") == 0o644)
        #expect(folder.names == ["target", name])
    }

    @Test("a pipe, a device or a folder in its place is an error at once", .timeLimit(.minutes(10)))
    func kinds() throws {
        unsafe mkfifo(folder.place(name), 0o600)
        #expect(try errors() == [.unexpected(path: folder.place(name), .pipe, wanted: .file)])
        unsafe unlink(folder.place(name))
        unsafe mkdir(folder.place(name), 0o700)
        #expect(try errors() == [.unexpected(path: folder.place(name), .folder, wanted: .file)])
        unsafe rmdir(folder.place(name))
        if isRoot, unsafe mknod(folder.place(name), S_IFCHR | 0o600, 0x0103) == 0 {
            let errors = try errors()
            // A mount without devices refuses by itself.
            #expect(
                errors.allSatisfy {
                    $0 == .unexpected(path: folder.place(name), .device, wanted: .file)
                        || $0 == .system(path: folder.place(name), code: EACCES)
                }, "\(errors)")
        }
    }

    @Test("another user's file is neither read nor written", .enabled(if: isRoot, "needs root"))
    func foreign() throws {
        try folder.write("theirs", name)
        unsafe chown(folder.place(name), stranger, stranger)
        #expect(try errors() == [.foreign(path: folder.place(name), owner: stranger)])
        #expect(folder.read(name) == "theirs")
    }

    @Test("a file that others may write is refused; one that they may read is closed to them")
    func modes() throws {
        for mode: mode_t in [0o620, 0o602, 0o666] {
            try folder.write("text", name, mode: mode)
            #expect(try errors() == [.writableByOthers(path: folder.place(name), mode: UInt32(mode))])
            #expect(folder.mode(name) == mode)
        }
        try folder.write("text", name, mode: 0o644)
        let state = try SafeFolder(path: folder.path, isMade: false)
        #expect(try state.read(name, limit: 100) == Array("text".utf8))
        #expect(folder.mode(name) == 0o600)
    }

    @Test("a file with a second name is refused: what is written here would be written there")
    func hardLinks() throws {
        try folder.write("private", "other")
        unsafe link(folder.place("other"), folder.place(name))
        #expect(try errors() == [.severalNames(path: folder.place(name))])
        #expect(folder.read("other") == "private")
    }

    @Test("a maker that was killed between two names of its file leaves one that is used")
    func killedMaker() throws {
        let left = ".\(name).0123456789abcdef"
        try folder.write("whole", left)
        unsafe link(folder.place(left), folder.place(name))
        let state = try SafeFolder(path: folder.path, isMade: false)
        let content = try state.read(name, limit: 100)
        #expect(content == Array("whole".utf8))
        #expect(folder.names == [name])
    }

    @Test("a file is replaced as a whole, and nothing else stays")
    func replacing() throws {
        let state = try SafeFolder(path: folder.path, isMade: false)
        try state.replace(name, with: Array("one".utf8))
        let held = try #require(try state.open(name, .reading))
        defer { close(held) }
        try state.replace(name, with: Array("two".utf8))
        #expect(folder.read(name) == "two")
        #expect(folder.mode(name) == 0o600)
        #expect(folder.names == [name])
        var byte: UInt8 = 0
        #expect(unsafe read(held, &byte, 1) == 1 && byte == UInt8(ascii: "o"))
    }

    @Test("what cannot be replaced stays, and no part of the new one is left")
    func notReplaced() throws {
        // The name of the temporary file is longer than any may be.
        let long = String(repeating: "n", count: 250)
        try folder.write("old", long)
        let state = try SafeFolder(path: folder.path, isMade: false)
        let wanted = StateFileError.system(path: folder.place(long), code: ENAMETOOLONG)
        do throws(StateFileError) {
            try state.replace(long, with: Array("new".utf8))
            Issue.record("replaced")
        } catch {
            #expect(error == wanted)
        }
        #expect(folder.read(long) == "old")
        #expect(folder.names == [long])
    }

    @Test("what killed processes left is removed: at once under a lock, else when it is old")
    func sweeping() throws {
        let left = ".\(name).0123456789abcdef"
        let state = try SafeFolder(path: folder.path, isMade: false)
        try folder.write("part", left)
        try folder.write("", ".\(name).other")
        try state.replace(name, with: [])
        #expect(folder.names == [name, left, ".\(name).other"])
        try state.replace(name, with: [], isAlone: true)
        #expect(folder.names == [name, ".\(name).other"])
        try folder.write("part", left)
        let old = [timespec(tv_sec: 1000, tv_nsec: 0), timespec(tv_sec: 1000, tv_nsec: 0)]
        unsafe utimensat(AT_FDCWD, folder.place(left), old, 0)
        try state.replace(name, with: [])
        #expect(folder.names == [name, ".\(name).other"])
    }

    @Test("of several processes that create a file at once one does, and its content stays")
    func creating() async throws {
        let path = folder.path
        let made = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask { try SafeFolder(path: path, isMade: false).create("file", with: [UInt8(number)]) }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(made == 1)
        #expect(folder.names == ["file"])
        let state = try SafeFolder(path: folder.path, isMade: false)
        let content = try state.read("file", limit: 10)
        var isMade = try state.create("file", with: [255])
        #expect(!isMade)
        #expect(folder.read("file").map { Array($0.utf8) } == content)
        // A link that leads nowhere is a name as well.
        unsafe symlink(folder.place("missing"), folder.place("link"))
        isMade = try state.create("link", with: [1])
        #expect(!isMade)
        #expect(folder.names == ["file", "link"])
    }

    @Test("a file that is set aside gets the first free name, and follows nothing that is there")
    func keeping() throws {
        let state = try SafeFolder(path: folder.path, isMade: false)
        unsafe symlink(folder.place("missing"), folder.place("\(name).damaged-1"))
        let first = try state.preserve([1], of: name, "damaged")
        let second = try state.preserve([2], of: name, "damaged")
        #expect(first == folder.place("\(name).damaged-2"))
        #expect(second == folder.place("\(name).damaged-3"))
        #expect(folder.names.count == 3)
    }

    @Test("a file that is longer than it may be is not read whole")
    func tooLong() throws {
        try folder.write(String(repeating: "x", count: 101), name)
        let state = try SafeFolder(path: folder.path, isMade: false)
        do throws(StateFileError) {
            _ = try state.read(name, limit: 100)
            Issue.record("read")
        } catch {
            #expect(error == .tooLong(path: folder.place(name)))
        }
        let whole = try state.read(name, limit: 101)
        #expect(whole?.count == 101)
    }

    @Test("a removed file is read as nothing, and can be created again")
    func missing() throws {
        let state = try SafeFolder(path: folder.path, isMade: false)
        let nothing = try state.read(name, limit: 1)
        #expect(nothing == nil)
        let file = try state.openOrMake(name, .appending)
        #expect(SafeFolder.write([1, 2], to: file) == 0)
        close(file)
        let content = try state.read(name, limit: 2)
        #expect(content == [1, 2])
        #expect(folder.mode(name) == 0o600)
    }
}
