/// Reads the frames of the other side, whose octets come in any pieces; keeps no more than one message.
public struct WebSocketReader: Sendable {
    /// Who sends the frames.
    public enum Sender: Sendable {
        /// Its frames have a mask.
        case client
        /// Its frames have none.
        case server
    }

    public enum Event: Equatable, Sendable {
        /// A whole message of text.
        case message([UInt8])
        /// A whole message of any octets.
        case data([UInt8])
        case ping([UInt8])
        case pong
        /// The other side ends the connection.
        case closed
        /// The other side broke a rule, or sent something that nothing here takes: the connection ends with this code.
        case failed(WebSocketFrame.CloseCode)
    }

    private let limit: Int
    private let sender: Sender
    private let takesData: Bool
    private var head: [UInt8] = []
    private var frame: Frame?
    private var payload: [UInt8] = []
    /// The parts of a message that has not ended.
    private var message: (octets: [UInt8], isText: Bool)?
    private var hasEnded = false

    private struct Frame {
        var isLast: Bool
        var opcode: WebSocketFrame.Opcode
        var length: Int
        var mask: WebSocketFrame.Mask?
    }

    private struct Failure: Error {
        var code: WebSocketFrame.CloseCode
    }

    /// - Parameters:
    ///   - limit: the longest message, in octets.
    ///   - takesData: whether messages may be other than text.
    public init(limit: Int, from sender: Sender = .client, takesData: Bool = false) {
        self.limit = limit
        self.sender = sender
        self.takesData = takesData
    }

    /// Takes the next octets; nothing comes of those behind the end.
    public mutating func read(_ octets: some Sequence<UInt8>) -> [Event] {
        var events: [Event] = []
        for octet in octets {
            if hasEnded { break }
            do throws(Failure) {
                guard let event = try read(octet) else { continue }
                events.append(event)
                if event == .closed { hasEnded = true }
            } catch {
                hasEnded = true
                payload = []
                message = nil
                events.append(.failed(error.code))
            }
        }
        return events
    }

    private mutating func read(_ octet: UInt8) throws(Failure) -> Event? {
        if let frame {
            payload.append(frame.mask.map { octet ^ $0[payload.count & 3] } ?? octet)
            return payload.count == frame.length ? try end(frame) : nil
        }
        head.append(octet)
        guard let frame = try readHead() else { return nil }
        head.removeAll(keepingCapacity: true)
        if frame.length == 0 { return try end(frame) }
        self.frame = frame
        return nil
    }

    /// - Returns: the frame, when its head is whole.
    private func readHead() throws(Failure) -> Frame? {
        // No extension was agreed on that could give these bits a meaning.
        guard head[0] & 0x70 == 0, let opcode = WebSocketFrame.Opcode(rawValue: head[0] & 0x0F) else {
            throw Failure(code: .protocolError)
        }
        guard head.count >= 2 else { return nil }
        let isLast = head[0] & 0x80 != 0
        let short = Int(head[1] & 0x7F)
        // A client that does not mask could be made to write requests for others (RFC 6455, section 10.3).
        let isMasked = head[1] & 0x80 != 0
        guard isMasked == (sender == .client), !opcode.isControl || isLast && short < 126 else {
            throw Failure(code: .protocolError)
        }
        guard opcode != .binary || takesData else { throw Failure(code: .notText) }
        let extra = short == 126 ? 2 : short == 127 ? 8 : 0
        guard head.count >= 2 + extra else { return nil }
        var length = UInt64(short)
        if extra > 0 { length = head[2..<2 + extra].reduce(0) { $0 << 8 | UInt64($1) } }
        guard length <= UInt64(limit - (opcode.isControl ? 0 : message?.octets.count ?? 0)) else {
            throw Failure(code: .tooLong)
        }
        guard opcode.isControl || (opcode == .continuation) == (message != nil) else {
            throw Failure(code: .protocolError)
        }
        guard head.count == 2 + extra + (isMasked ? 4 : 0) else { return nil }
        return Frame(
            isLast: isLast, opcode: opcode, length: Int(length), mask: isMasked ? Array(head.suffix(4)) : nil)
    }

    private mutating func end(_ frame: Frame) throws(Failure) -> Event? {
        let octets = payload
        payload.removeAll(keepingCapacity: octets.count <= 1024)
        self.frame = nil
        switch frame.opcode {
        case .ping: return .ping(octets)
        case .pong: return .pong
        case .close: return .closed
        case .text, .continuation, .binary:
            let whole = (message?.octets ?? []) + octets
            let isText = message?.isText ?? (frame.opcode == .text)
            message = frame.isLast ? nil : (whole, isText)
            guard frame.isLast else { return nil }
            guard isText else { return .data(whole) }
            guard String(validating: whole, as: UTF8.self) != nil else { throw Failure(code: .invalidText) }
            return .message(whole)
        }
    }
}
