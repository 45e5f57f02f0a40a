import Glibc

/// Users and groups of the system. The functions of the C library that return a static buffer would mix up the users of
/// two daemons that look them up at the same time.
public enum Accounts {
    /// A user of the system.
    public struct User: Equatable, Sendable {
        public let id: UInt32
        /// The first group of the user.
        public let group: UInt32
        /// All groups of the user.
        public let groups: [UInt32]
        public let name: String
        public let home: String
    }

    /// Octets for the strings of one entry: at first, and at most.
    private static let leastOctets = 4096
    private static let mostOctets = 1 << 20

    /// - Parameter name: a name or a number.
    /// - Returns: `nil` if there is no such user.
    public static func user(_ name: String) -> User? {
        if let number = UInt32(name), let found = user(number) { return found }
        return unsafe user { unsafe getpwnam_r(name, $0, $1, $2, $3) }
    }

    /// - Returns: `nil` if there is no user with this number.
    public static func user(_ number: UInt32) -> User? { unsafe user { unsafe getpwuid_r(number, $0, $1, $2, $3) } }

    /// - Parameter name: a name or a number.
    /// - Returns: the number of the group; `nil` if there is no group with this name.
    public static func group(_ name: String) -> UInt32? {
        let found: UInt32? = unsafe lookUp(Glibc.group()) { entry, buffer, count, result in
            unsafe getgrnam_r(name, entry, buffer, count, result)
        } take: {
            unsafe $0.gr_gid
        }
        return found ?? UInt32(name)
    }

    private static func user(
        _ call: (
            UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
        ) -> Int32
    ) -> User? {
        unsafe lookUp(passwd(), call) { found in
            let name = unsafe String(cString: found.pw_name)
            return unsafe User(
                id: found.pw_uid, group: found.pw_gid, groups: groups(of: name, found.pw_gid), name: name,
                home: String(cString: found.pw_dir))
        }
    }

    private static func groups(of name: String, _ first: UInt32) -> [UInt32] {
        var groups = [gid_t](repeating: 0, count: 64)
        while true {
            var count = Int32(groups.count)
            if unsafe getgrouplist(name, first, &groups, &count) >= 0 { return Array(groups.prefix(Int(count))) }
            // The kernel gives a process at most 65,536 groups.
            guard groups.count < 65_536 else { return [first] }
            groups = [gid_t](repeating: 0, count: 4 * groups.count)
        }
    }

    /// Calls one of the functions that write into a buffer, with a longer one as often as that is too short.
    private static func lookUp<Entry, Value>(
        _ empty: Entry,
        _ call: (
            UnsafeMutablePointer<Entry>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
        ) -> Int32, take: (Entry) -> Value
    ) -> Value? {
        var octets = leastOctets
        while octets <= mostOctets {
            var entry = empty
            var result: UnsafeMutablePointer<Entry>?
            let (code, value) = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: octets) { buffer in
                // The buffer is never empty, so it has a base address.
                let code = unsafe call(&entry, buffer.baseAddress!, buffer.count, &result)
                // The entry refers to the buffer.
                return unsafe (code, result.map { unsafe take($0.pointee) })
            }
            guard code == ERANGE else { return value }
            octets *= 4
        }
        return nil
    }
}
