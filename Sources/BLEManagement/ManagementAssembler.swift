/// Joins the pieces in which frames arrive: one is longer than what fits into a notification.
public struct ManagementAssembler: Sendable {
    /// The longest frame that is joined.
    private let limit: Int
    private var piece: [UInt8] = []

    /// - Parameter limit: the longest frame in octets.
    public init(limit: Int = 16 * 1024) { self.limit = limit }

    /// What is wrong with the pieces.
    public enum Problem: Error, Hashable, Sendable {
        /// A frame that is longer than the limit, in octets.
        case tooLong(Int)
    }

    /// Forgets a piece, as at the end of a link.
    public mutating func reset() { piece = [] }

    /// Adds a piece.
    /// - Returns: the octets of the frame that it completes. What follows a frame in its last piece is dropped, since
    ///   frames begin in pieces of their own.
    public mutating func add(_ octets: [UInt8]) throws(Problem) -> [UInt8]? {
        piece += octets
        guard let count = ManagementFrame.byteCount(of: piece) else { return nil }
        guard count <= limit else {
            piece = []
            throw .tooLong(count)
        }
        guard piece.count >= count else { return nil }
        defer { piece = [] }
        return Array(piece.prefix(count))
    }
}
