import FoundationEssentials
import Glibc

/// A cgroup of version 2 whose processes are one app's: they are frozen, resumed and killed together, with everything
/// that they have started (Linux, Documentation/admin-guide/cgroup-v2.rst).
struct ControlGroup: Equatable {
    /// Its folder.
    let path: String

    /// The last part of its path; of a systemd unit, the unit's name.
    var name: String { path.split(separator: "/").last.map(String.init) ?? "" }

    /// Whether it belongs to root: the system's own manager of services has made it.
    var isOfSystem: Bool {
        var information = stat()
        return unsafe stat(path, &information) == 0 && information.st_uid == 0
    }

    /// The group of a process; `nil` if the process does not exist or no cgroup of version 2 is mounted.
    init?(of process: Int32) {
        guard let mount = Self.mount, let text = Self.contents("/proc/\(process)/cgroup"),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })
        else { return nil }
        var name = line.dropFirst(3)
        if mount.root != "/" {
            guard name.hasPrefix(mount.root) else { return nil }
            name = name.dropFirst(mount.root.count)
        }
        path = mount.path + (name == "/" ? "" : name)
    }

    private init(path: String) { self.path = path }

    /// Makes the group of an app, or finds it.
    /// - Parameter folder: the group that the daemon may divide.
    /// - Returns: `nil` if that is not possible.
    static func make(for app: String, in folder: String) -> ControlGroup? {
        let name = app.utf8.map { octet in
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                return String(UnicodeScalar(octet))
            default: return (octet < 16 ? "%0" : "%") + String(octet, radix: 16, uppercase: true)
            }
        }.joined()
        // The kernel's limit of a file name is 255 octets.
        guard name.utf8.count <= 240 else { return nil }
        let group = ControlGroup(path: "\(folder)/app-\(name)")
        guard unsafe mkdir(group.path, 0o755) == 0 || errno == EEXIST else { return nil }
        // What an earlier run of the app left must not join the new one, and a frozen group would hold it at once.
        guard group.kill(), group.setFrozen(false) else { return nil }
        return group
    }

    /// The file through which processes join; close it. Negative if it cannot be opened.
    func openProcesses() -> Int32 { unsafe open(path + "/cgroup.procs", O_WRONLY | O_CLOEXEC) }

    /// Stops all processes of the group, or lets them continue. A frozen process can be killed.
    /// - Returns: whether the kernel accepted it.
    func setFrozen(_ isFrozen: Bool) -> Bool { write(isFrozen ? "1" : "0", to: "cgroup.freeze") }

    /// Kills all processes of the group.
    func kill() -> Bool { write("1", to: "cgroup.kill") }

    /// Limits the memory of all processes of the group together; beyond it, the kernel kills them all.
    /// - Parameter octets: `nil`: no limit.
    /// - Returns: whether there is the limit that was asked for; not if the group has no memory controller.
    func limitMemory(_ octets: UInt64?) -> Bool {
        let hasController = unsafe access(path + "/memory.max", F_OK) == 0
        guard let octets else { return hasController && write("max", to: "memory.max") }
        if !hasController {
            // Refused if processes are in the folder's own group.
            let folder = ControlGroup(path: String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
            guard folder.write("+memory", to: "cgroup.subtree_control") else { return false }
        }
        // What is swapped out would not count.
        _ = write("0", to: "memory.swap.max")
        _ = write("1", to: "memory.oom.group")
        return write(String(octets), to: "memory.max")
    }

    /// Removes the group if it is empty.
    func remove() { _ = unsafe rmdir(path) }

    private func write(_ text: String, to name: String) -> Bool {
        let descriptor = unsafe open("\(path)/\(name)", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return unsafe Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count
    }

    /// Where the hierarchy is mounted, and which of its groups is the root there.
    private static let mount: (path: String, root: String)? = {
        // proc_pid_mountinfo(5): number, parent, device, root, mount point, …, -, type, …
        for line in contents("/proc/self/mountinfo")?.split(separator: "\n") ?? [] {
            let fields = line.split(separator: " ")
            guard let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count, fields[dash + 1] == "cgroup2" else {
                continue
            }
            return (String(fields[4]), String(fields[3]))
        }
        return nil
    }()

    private static func contents(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
}
