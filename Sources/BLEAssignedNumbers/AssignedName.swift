/// A name that lies in the program: nothing is copied until somebody wants a `String`.
@safe
public struct AssignedName: CustomStringConvertible {
    /// UTF-8 that lasts as long as the program.
    public let utf8: UnsafeBufferPointer<UInt8>

    init(utf8: UnsafeBufferPointer<UInt8>) { unsafe self.utf8 = utf8 }

    public var description: String { unsafe String(decoding: utf8, as: UTF8.self) }
}

// The octets are constants of the program: nothing writes them.
extension AssignedName: @unchecked Sendable {}
