import BLEMessages

/// A connected operator: one request after the other, each answered. A value without I/O, like `ToolSession`.
package struct OperatorSession {
    private var frames: FrameReader
    private(set) var hasEnded = false

    /// - Parameter frames: the reader, with any octets that followed the greeting.
    package init(frames: FrameReader) { self.frames = frames }

    /// What the session may still decode, see `TurnLine`.
    var allowance = Int.max

    /// Whether a message waits to be decoded.
    var hasMessage: Bool { !hasEnded && frames.hasNext }

    package mutating func receive(_ bytes: RawSpan) {
        if !hasEnded { frames.append(bytes) }
    }

    /// Takes no more requests.
    mutating func end() { hasEnded = true }

    /// The next request; `nil` if more octets are needed.
    /// - Throws: `MessageError`; the session then ends.
    package mutating func next() throws(MessageError) -> OperatorRequest? {
        guard !hasEnded else { return nil }
        do throws(MessageError) {
            guard let message = try frames.nextMessage(&allowance) else { return nil }
            guard case .operatorRequest(let request) = message else { throw .unexpected }
            return request
        } catch {
            hasEnded = true
            throw error
        }
    }
}
