/// Why a link or an operation on it failed.
public enum LinkFailure: Error, Equatable, Sendable {
    /// All slots are taken.
    case noSlot
    /// Another requester has a link to the device, or the last one has not ended yet.
    case inUse
    /// No adapter works.
    case noAdapter
    /// The requester has no link to the device.
    case notConnected
    /// Too many operations wait on the link.
    case tooManyOperations
    case timedOut
    /// The requester ended the attempt or the link.
    case cancelled
    /// The link ended, for this reason of HCI.
    case linkLost(UInt8)
    /// The link could not be established, for this reason of HCI.
    case connectionFailed(UInt8)
    /// The device answered with this ATT error.
    case att(UInt8)
    /// Any other cause: one word, and a text for people.
    case other(name: String, text: String)
}
