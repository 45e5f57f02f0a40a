/// The process at the other end of a Unix socket, from the kernel (unix(7), SO_PEERCRED).
public struct PeerCredentials: Hashable, Sendable {
    /// The user who connected.
    public var user: UInt32
    /// The group that the user had.
    public var group: UInt32
    /// The process that connected, for logs: its number may be another's by now.
    public var process: Int32
    /// The other groups that the user had (SO_PEERGROUPS).
    public var otherGroups: [UInt32]

    public init(user: UInt32, group: UInt32, process: Int32, otherGroups: [UInt32] = []) {
        self.user = user
        self.group = group
        self.process = process
        self.otherGroups = otherGroups
    }
}
