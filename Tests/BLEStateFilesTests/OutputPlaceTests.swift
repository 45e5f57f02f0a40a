import Foundation
import Testing

@testable import BLEStateFiles

@Suite("Files for output")
struct OutputPlaceTests {
    private func failure(_ path: String, isSecret: Bool) -> StateFileError? {
        do throws(StateFileError) {
            close(try OutputPlace.open(path, isSecret: isSecret).descriptor)
            return nil
        } catch {
            return error
        }
    }

    @Test("a new file is for this user only, and an existing one is left as it is", arguments: [true, false])
    func ordinary(_ isSecret: Bool) throws {
        let folder = try Folder(mode: 0o755)
        let made = try OutputPlace.open(folder.place("file"), isSecret: isSecret)
        defer { close(made.descriptor) }
        #expect(made.isNew && folder.mode("file") == 0o600)
        try folder.write("text", "file", mode: 0o644)
        let again = try OutputPlace.open(folder.place("file"), isSecret: isSecret)
        defer { close(again.descriptor) }
        #expect(!again.isNew && folder.read("file") == "text")
        #expect(folder.mode("file") == (isSecret ? 0o600 : 0o644))
    }

    @Test("a link that the user made is followed for data that is not secret, also where nothing is yet")
    func ownLinks() throws {
        let folder = try Folder()
        for target in ["file", "new"] {
            if target == "file" { try folder.write("text", target) }
            unsafe symlink(folder.place(target), folder.place("link"))
            #expect(failure(folder.place("link"), isSecret: false) == nil)
            #expect(
                failure(folder.place("link"), isSecret: true)
                    == .unexpected(path: folder.place("link"), .link, wanted: .file))
            #expect(folder.names.contains(target))
            unsafe unlink(folder.place("link"))
        }
        #expect(failure("/dev/null", isSecret: false) == nil)
        #expect(failure("/dev/null", isSecret: true) == .unexpected(path: "/dev/null", .device, wanted: .file))
        #expect(failure(folder.path, isSecret: false) != nil)
        #expect(failure(folder.path + "/", isSecret: false) != nil)
    }

    @Test("keys go into no pipe and no file with a second name", .timeLimit(.minutes(10)))
    func secrets() throws {
        let folder = try Folder()
        unsafe mkfifo(folder.place("pipe"), 0o600)
        #expect(
            failure(folder.place("pipe"), isSecret: true)
                == .unexpected(path: folder.place("pipe"), .pipe, wanted: .file))
        try folder.write("private", "one")
        unsafe link(folder.place("one"), folder.place("two"))
        #expect(failure(folder.place("two"), isSecret: true) == .severalNames(path: folder.place("two")))
        #expect(failure(folder.place("two"), isSecret: false) == nil)
    }

    @Test("a pipe that the user named is written into", .timeLimit(.minutes(10)))
    func pipes() throws {
        let folder = try Folder()
        unsafe mkfifo(folder.place("pipe"), 0o600)
        let reader = unsafe open(folder.place("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let file = try OutputPlace.open(folder.place("pipe"), isSecret: false).descriptor
        defer { close(file) }
        #expect(SafeFolder.write([7], to: file) == 0)
        var byte: UInt8 = 0
        #expect(unsafe read(reader, &byte, 1) == 1 && byte == 7)
    }

    @Test(
        "in a shared folder nothing of other users is used", .enabled(if: isRoot, "needs root"),
        .timeLimit(.minutes(10)), arguments: [0o1777, 0o777, 0o1733])
    func planted(_ mode: mode_t) throws {
        let folder = try Folder(mode: mode)
        let home = try Folder()
        try home.write("private", "secret")
        let path = folder.place("capture.btsnoop")
        func plant(_ make: () -> Void) -> [StateFileError?] {
            unsafe unlink(path)
            make()
            unsafe lchown(path, stranger, stranger)
            return [failure(path, isSecret: false)]
        }
        let foreign = [StateFileError.foreign(path: path, owner: stranger)]
        #expect(plant { unsafe symlink(home.place("secret"), path) } == foreign)
        #expect(plant { unsafe symlink(home.place("missing"), path) } == foreign)
        #expect(plant { unsafe mkfifo(path, 0o666) } == foreign)
        #expect(plant { close(unsafe open(path, O_CREAT | O_WRONLY, 0o666)) } == foreign)
        #expect(failure(path, isSecret: true) == foreign[0])
        // Where the kernel lets others link to our files, they are ours all the same.
        unsafe unlink(path)
        unsafe link(home.place("secret"), path)
        #expect(failure(path, isSecret: false) == .severalNames(path: path))
        #expect(home.read("secret") == "private" && home.names == ["secret"])
        // This user's own file there, and a new one, are.
        unsafe unlink(path)
        #expect(failure(path, isSecret: false) == nil)
        #expect(failure(path, isSecret: false) == nil)
        // A link of our own: in a folder without the sticky bit anybody could have put another in its place.
        unsafe unlink(path)
        unsafe symlink(home.place("secret"), path)
        #expect((failure(path, isSecret: false) == nil) == (mode & 0o1000 != 0))
    }

    @Test("another user's file in an ordinary folder takes a capture, and no keys", .enabled(if: isRoot, "needs root"))
    func foreign() throws {
        let folder = try Folder()
        try folder.write("", "file")
        unsafe chown(folder.place("file"), stranger, stranger)
        #expect(failure(folder.place("file"), isSecret: false) == nil)
        #expect(failure(folder.place("file"), isSecret: true) == .foreign(path: folder.place("file"), owner: stranger))
    }

    @Test("an unusable path is named")
    func nowhere() {
        #expect(failure("/nonexistent/file", isSecret: true) == .system(path: "/nonexistent/file", code: ENOENT))
    }
}
