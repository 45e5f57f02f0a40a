import SwiftProtobuf

/// What both sides of the socket agree on.
public enum BledProtocol {
    /// The version of the protocol in this module.
    public static let version: UInt32 = 1
    /// Which additions to the version this module knows, as `Welcome.revision` says.
    public static let revision: UInt32 = 4
    /// The maximum length of a message to the daemon, in octets.
    public static let requestLimit = 64 * 1024
    /// The maximum length of a message to a client, in octets; a device's whole database fits into one answer.
    public static let eventLimit = 8 * 1024 * 1024
}

extension SwiftProtobuf.Message {
    /// The message as a frame for the socket.
    public func framed() -> [UInt8] {
        // A message without required fields and with valid strings can always be encoded.
        guard let message: [UInt8] = try? serializedBytes() else { return FrameReader.frame([]) }
        return FrameReader.frame(message)
    }

    /// - Throws: `WireError.malformedMessage`.
    public init(octets: ArraySlice<UInt8>) throws(WireError) {
        do {
            try self.init(serializedBytes: Array(octets), options: Self.options)
        } catch { throw .malformedMessage }
    }

    private static var options: BinaryDecodingOptions {
        var options = BinaryDecodingOptions()
        // The deepest message of the schema: the services of a restored app, with descriptors.
        options.messageDepthLimit = 10
        // Unknown fields of a newer version are dropped.
        options.discardUnknownFields = true
        return options
    }
}
