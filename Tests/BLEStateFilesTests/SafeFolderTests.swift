import Foundation
import Testing

@testable import BLEStateFiles

@Suite("Folders of state")
struct SafeFolderTests {
    private func error(_ body: () throws -> Void) -> StateFileError? {
        do { try body() } catch { return error as? StateFileError }
        return nil
    }

    private func failure(opening path: String, isPrivate: Bool = false) -> StateFileError? {
        error { _ = try SafeFolder(path: path, isMade: true, isPrivate: isPrivate) }
    }

    @Test("missing folders of the path are created, for this user only, whatever the mask")
    func making() throws {
        let folder = try Folder()
        let state = try SafeFolder(path: folder.place("a/b"), isMade: true)
        _ = try state.folder("security")
        for name in ["a", "a/b", "a/b/security"] { #expect(folder.mode(name) == 0o700) }
    }

    @Test("looking at what is there creates nothing")
    func looking() throws {
        let folder = try Folder()
        let path = folder.place("none")
        let error = error { _ = try SafeFolder(path: path, isMade: false) }
        #expect(error == .system(path: path, code: ENOENT))
        #expect(folder.names.isEmpty)
    }

    @Test(
        "another user's folder is refused, with the user, the cause and the remedy", .enabled(if: isRoot, "needs root"))
    func foreign() throws {
        let folder = try Folder()
        unsafe mkdir(folder.place("theirs"), 0o700)
        unsafe chown(folder.place("theirs"), stranger, stranger)
        let error = try #require(failure(opening: folder.place("theirs")))
        #expect(error == .foreign(path: folder.place("theirs"), owner: stranger))
        #expect(error.description.contains("is owned by user 65534, not by you"))
        #expect(error.description.contains("--state"))
        #expect(error.description.contains(folder.place("theirs")))
        let state = try SafeFolder(path: folder.path, isMade: false)
        #expect(self.error { _ = try state.folder("theirs") } == error)
    }

    @Test("a folder in which everyone may write is refused and left as it is", arguments: [0o777, 0o1777, 0o702])
    func everybodys(_ mode: mode_t) throws {
        let folder = try Folder(mode: mode)
        defer { unsafe chmod(folder.path, 0o700) }
        #expect(failure(opening: folder.path) == .writableByOthers(path: folder.path, mode: UInt32(mode)))
        #expect(folder.mode("") == mode)
        // One that holds nothing else is closed, but for those that a system shares.
        if mode & 0o1000 == 0 {
            #expect(failure(opening: folder.path, isPrivate: true) == nil)
            #expect(folder.mode("") == 0o700)
        } else {
            #expect(failure(opening: folder.path, isPrivate: true) != nil)
            #expect(folder.mode("") == mode)
        }
    }

    @Test("the group loses its permission to write; others may look into a folder that the user chose")
    func group() throws {
        let folder = try Folder(mode: 0o775)
        #expect(failure(opening: folder.path) == nil)
        #expect(folder.mode("") == 0o755)
        unsafe mkdir(folder.place("security"), 0o755)
        _ = try SafeFolder(path: folder.path, isMade: false).folder("security")
        #expect(folder.mode("security") == 0o700)
    }

    @Test("the user's own folder may be a link; one below it may not")
    func links() throws {
        let folder = try Folder()
        unsafe mkdir(folder.place("real"), 0o700)
        unsafe symlink(folder.place("real"), folder.place("link"))
        #expect(failure(opening: folder.place("link")) == nil)
        let state = try SafeFolder(path: folder.path, isMade: false)
        #expect(
            error { _ = try state.folder("link") }
                == .unexpected(path: folder.place("link"), .link, wanted: .folder))
    }

    @Test("a link that another user made is not followed", .enabled(if: isRoot, "needs root"))
    func foreignLink() throws {
        let folder = try Folder()
        unsafe mkdir(folder.place("real"), 0o700)
        unsafe symlink(folder.place("real"), folder.place("link"))
        unsafe lchown(folder.place("link"), stranger, stranger)
        #expect(failure(opening: folder.place("link")) == .foreign(path: folder.place("link"), owner: stranger))
    }

    @Test(
        "another user's link or folder in the middle of the path is refused, and nothing is made where it leads",
        .enabled(if: isRoot, "needs root"))
    func foreignOnTheWay() throws {
        let folder = try Folder()
        let shared = folder.place("shared")
        unsafe mkdir(shared, 0o700)
        unsafe chmod(shared, 0o1777)
        unsafe mkdir(folder.place("real"), 0o700)
        // As in /tmp, another user makes them where this user is going to look.
        unsafe symlink("../real", shared + "/link")
        unsafe mkdir(shared + "/theirs", 0o755)
        for name in ["/link", "/theirs"] { unsafe lchown(shared + name, stranger, stranger) }
        #expect(failure(opening: shared + "/link/a/b") == .foreign(path: shared + "/link", owner: stranger))
        #expect(failure(opening: shared + "/theirs/a") == .foreign(path: shared + "/theirs", owner: stranger))
        // A link of ours that leads through theirs.
        unsafe symlink("shared/link", folder.place("ours"))
        #expect(failure(opening: folder.place("ours/a")) == .foreign(path: shared + "/link", owner: stranger))
        #expect(folder.names == ["shared", "real", "ours"])
        #expect((try? FileManager.default.contentsOfDirectory(atPath: folder.place("real"))) == [])
        // Our own in the same places.
        unsafe mkdir(shared + "/mine", 0o700)
        unsafe symlink(folder.place("real"), shared + "/mine/link")
        #expect(failure(opening: shared + "/mine/link/../real/./a") == nil)
        #expect(folder.mode("real/a") == 0o700)
    }

    @Test("a folder on the way in which everyone may write is refused, and a circle of links ends")
    func onTheWay() throws {
        let folder = try Folder()
        unsafe mkdir(folder.place("open"), 0o700)
        unsafe mkdir(folder.place("open/mine"), 0o700)
        unsafe mkdir(folder.place("open/mine/state"), 0o700)
        unsafe chmod(folder.place("open"), 0o777)
        #expect(
            failure(opening: folder.place("open/mine/state"))
                == .writableByOthers(path: folder.place("open"), mode: 0o777))
        unsafe symlink("circle", folder.place("circle"))
        #expect(failure(opening: folder.place("circle/a")) == .system(path: folder.place("circle/a"), code: ELOOP))
    }

    @Test("a folder that others could replace is refused, with the one above it")
    func parents() throws {
        let folder = try Folder()
        unsafe mkdir(folder.place("state"), 0o700)
        let path = folder.place("state")
        unsafe chmod(folder.path, 0o777)
        #expect(failure(opening: path) == .writableByOthers(path: folder.path, mode: 0o777))
        // As in /tmp, and with a mask of 002.
        for mode: mode_t in [0o1777, 0o775] {
            unsafe chmod(folder.path, mode)
            #expect(failure(opening: path) == nil)
        }
        guard isRoot else { return }
        unsafe chown(folder.path, stranger, stranger)
        #expect(failure(opening: path) == .foreign(path: folder.path, owner: stranger))
    }

    @Test("a file in the way is named")
    func fileInTheWay() throws {
        let folder = try Folder()
        try folder.write("", "file")
        for path in [folder.place("file"), folder.place("file/state")] {
            #expect(failure(opening: path) == .unexpected(path: folder.place("file"), .file, wanted: .folder))
        }
    }
}
