import SwiftProtobuf

/// What both sides of the socket agree on.
public enum BledProtocol {
    /// The version that this module speaks.
    public static let version: UInt32 = 1
    /// Octets of the longest message to the daemon.
    public static let requestLimit = 64 * 1024
    /// Octets of the longest message to a client: a device's whole database in one answer.
    public static let eventLimit = 8 * 1024 * 1024
}

extension SwiftProtobuf.Message {
    /// As it stands on the socket.
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
        // No message of the schema is deeper.
        options.messageDepthLimit = 8
        // What a newer side says besides is not kept.
        options.discardUnknownFields = true
        return options
    }
}
