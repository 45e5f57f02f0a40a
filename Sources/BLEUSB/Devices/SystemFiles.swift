import Glibc

/// Reads what the kernel says of devices: small files, folders and links.
enum SystemFiles {
    /// At most so many octets; `nil` if the file cannot be read.
    static func contents(of path: String, limit: Int = USBDescriptors.greatestByteCount) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count < limit {
            let count = unsafe read(descriptor, &chunk, min(chunk.count, limit - bytes.count))
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// The first line.
    static func line(of path: String) -> String? {
        guard let bytes = contents(of: path, limit: 4096) else { return nil }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// What is in a folder, in no order.
    static func entries(of folder: String) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            unsafe names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { name in
                    unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
                })
        }
        return names
    }

    /// The last part of what a link leads to.
    static func linkName(_ path: String) -> String? {
        unsafe withUnsafeTemporaryAllocation(byteCount: Int(PATH_MAX), alignment: 1) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = unsafe readlink(path, start, buffer.count)
            guard count >= 0 else { return nil }
            let target = unsafe String(decoding: UnsafeRawBufferPointer(buffer)[..<count], as: UTF8.self)
            return target.split(separator: "/").last.map(String.init)
        }
    }
}
