import Glibc

/// Finds processes that use an adapter or a device, as far as `/proc` shows them to this user.
package enum HoldingProcesses {
    /// BlueZ's daemon, if it runs. It powers adapters up by itself.
    static func bluetoothDaemon() -> HoldingProcess? {
        processIdentifiers().lazy.compactMap(named).first { $0.name == "bluetoothd" }
    }

    /// Other processes with open HCI sockets. The kernel lists the sockets, but not what they are bound to. The daemon
    /// is left out if there are others, because it never opens a user channel.
    static func withHCISockets() -> [HoldingProcess] {
        let inodes = Set(hciSocketInodes().map { "socket:[\($0)]" })
        guard !inodes.isEmpty else { return [] }
        let holders = processes { inodes.contains($0) }
        let others = holders.filter { $0.name != "bluetoothd" }
        return others.isEmpty ? holders : others
    }

    /// Other processes that have this file open.
    package static func withOpenFile(_ path: String) -> [HoldingProcess] {
        guard let resolved = unsafe realpath(path, nil) else { return [] }
        defer { unsafe free(resolved) }
        let name = unsafe String(cString: resolved)
        return processes { $0 == name }
    }

    /// The path of this program, for a remedy that can be pasted.
    static func ownProgram() -> String { linkTarget("/proc/self/exe") ?? "PROGRAM" }

    private static func processes(withDescriptor isWanted: (String) -> Bool) -> [HoldingProcess] {
        let own = getpid()
        return processIdentifiers().filter { identifier in
            guard identifier != own else { return false }
            let folder = "/proc/\(identifier)/fd"
            return entries(of: folder).contains { linkTarget("\(folder)/\($0)").map(isWanted) ?? false }
        }.compactMap(named)
    }

    /// The inode is the sixth column of `/proc/net/hci`.
    private static func hciSocketInodes() -> [Substring] {
        contents(of: "/proc/net/hci").split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: " ", omittingEmptySubsequences: true)
            return columns.count > 5 ? columns[5] : nil
        }
    }

    private static func named(_ identifier: Int32) -> HoldingProcess? {
        let name = contents(of: "/proc/\(identifier)/comm")
        guard !name.isEmpty else { return nil }
        return HoldingProcess(identifier: identifier, name: String(name.prefix { $0 != "\n" }))
    }

    private static func processIdentifiers() -> [Int32] { entries(of: "/proc").compactMap { Int32($0) }.sorted() }

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

    private static func linkTarget(_ path: String) -> String? {
        unsafe withUnsafeTemporaryAllocation(byteCount: Int(PATH_MAX), alignment: 1) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = unsafe readlink(path, start, buffer.count)
            guard count >= 0 else { return nil }
            return unsafe String(decoding: UnsafeRawBufferPointer(buffer)[..<count], as: UTF8.self)
        }
    }

    /// At most 64 KiB: the kernel's lists are short.
    private static func contents(of path: String) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        var count = 0
        while count < bytes.count {
            let more = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe read(descriptor, buffer.baseAddress.map { unsafe $0 + count }, buffer.count - count)
            }
            guard more > 0 else { break }
            count += more
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
