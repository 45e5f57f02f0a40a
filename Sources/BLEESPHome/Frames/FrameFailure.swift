/// Why a connection ends.
enum FrameFailure: Error, Equatable {
    /// A frame does not begin as it should, or is too long.
    case malformed
    /// The client encrypts, and this port does not.
    case encrypted
    /// The client does not encrypt, and this port does.
    case plain
    /// The handshake failed.
    case noise(NoiseFailure)
}

/// A message of a client, or to it.
struct Frame: Equatable {
    /// The number of its type.
    var type: UInt32
    var content: ArraySlice<UInt8>
}
