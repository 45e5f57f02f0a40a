/// The attributes of a device as one connection discovered them, and the hash by which a later one sees whether they
/// have changed.
public struct KnownDatabase: Equatable, Sendable {
    /// The Database Hash, 16 octets; `nil` when the device has none, so that each connection has to discover again.
    public var hash: [UInt8]?
    /// All services, in the order of their handles.
    public var contents: [ServiceContents]

    public init(hash: [UInt8]?, contents: [ServiceContents]) {
        self.hash = hash
        self.contents = contents
    }
}
