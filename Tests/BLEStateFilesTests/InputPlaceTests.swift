import BLEStateFiles
import Glibc
import Testing

/// Files that the user named for input: regular ones are read, up to a limit, and nothing waits for any other.
@Suite struct InputPlaceTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    @Test func `a file is read whole up to the limit, and not beyond it`() throws {
        let path = folder.path + "/file"
        for count in [0, 1, 1023, 1024, 65_535, 65_536, 65_537, 200_000] {
            let octets = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            try write(octets, path)
            #expect(try InputPlace.read(path, limit: count) == octets)
            #expect(try InputPlace.read(path, limit: .max) == octets)
            try InputPlace.check(path, limit: count)
            guard count > 0 else { continue }
            #expect(throws: StateFileError.tooLong(path: path)) { try InputPlace.read(path, limit: count - 1) }
            #expect(throws: StateFileError.tooLong(path: path)) { try InputPlace.check(path, limit: count - 1) }
        }
    }

    @Test func `links are followed, and the file may be another user's`() throws {
        let path = folder.path + "/file"
        try write([1, 2], path)
        #expect(unsafe symlink(path, folder.path + "/link") == 0)
        #expect(unsafe chmod(path, 0o666) == 0)
        #expect(try InputPlace.read(folder.path + "/link", limit: 10) == [1, 2])
    }

    @Test func `pipes, devices, folders and sockets are refused at once`() throws {
        let pipe = folder.path + "/pipe"
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        let cases: [(String, StateFileError.Kind)] = [
            (pipe, .pipe), ("/dev/zero", .device), ("/dev/null", .device), (folder.path, .folder),
        ]
        for (path, kind) in cases {
            let refusal = StateFileError.unexpected(path: path, kind, wanted: .file)
            #expect(throws: refusal) { try InputPlace.read(path, limit: 10) }
            #expect(throws: refusal) { try InputPlace.check(path, limit: 10) }
        }
        let socket = folder.path + "/socket"
        #expect(unsafe mknod(socket, S_IFSOCK | 0o600, 0) == 0)
        let refusal = StateFileError.unexpected(path: socket, .socket, wanted: .file)
        #expect(throws: refusal) { try InputPlace.read(socket, limit: 10) }
        #expect(refusal.inputCause == "is a socket, not a file")
    }

    @Test func `a file that is missing is an error that says so`() throws {
        let path = folder.path + "/none"
        do throws(StateFileError) {
            _ = try InputPlace.read(path, limit: 10)
            Issue.record("no error")
        } catch {
            #expect(error.isMissing && error.inputCause == "cannot be read: No such file or directory")
        }
    }

    private func write(_ octets: [UInt8], _ path: String) throws {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        #expect(file >= 0 && SafeFolder.write(octets, to: file) == 0)
        close(file)
    }
}
