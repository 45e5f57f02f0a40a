import BLEChips
import Glibc

/// Where files of firmware are.
enum FirmwareFolder {
    /// More than any firmware has.
    private static let maximumByteCount = 1 << 20

    /// The folder that the user names, then the kernel's.
    static var usual: [String] {
        let named = unsafe getenv("JELLING_FIRMWARE").map { unsafe String(cString: $0) }
        return [named, "/lib/firmware"].compactMap { $0 }.filter { !$0.isEmpty }
    }

    /// Reads the first file that is there, in the first folder that has it.
    /// - Returns: `nil` if none is there, cannot be read or is longer than any firmware.
    static func read(_ names: [String], in folders: [String]) -> ChipFile? {
        for name in names {
            for folder in folders {
                if let octets = read(folder + "/" + name) { return ChipFile(name: name, octets: octets) }
            }
        }
        return nil
    }

    private static func read(_ path: String) -> [UInt8]? {
        // What is no file, such as a pipe, must not stop the loop.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var information = stat()
        guard unsafe fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
            information.st_size <= maximumByteCount
        else { return nil }
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while octets.count <= maximumByteCount {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? octets : nil }
            octets += chunk[..<count]
        }
        return nil
    }
}
