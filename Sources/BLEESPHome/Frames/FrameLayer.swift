/// The frames of a connection in both directions: in plain text, or encrypted.
///
///     plain: 0x00, length and type as varints, content
///     encrypted: hello ──▶ handshake ──▶ open; each frame 0x01, length of 16 bits
struct FrameLayer {
    private enum Phase {
        case plain
        case hello
        case handshake(prologue: [UInt8])
        case open(receiving: NoiseCipher, sending: NoiseCipher)
    }

    private static let plainMark: UInt8 = 0x00
    private static let noiseMark: UInt8 = 0x01
    /// The maximum length of a message of a client.
    private static let longestMessage = 32 << 10
    /// The maximum length of a frame before the client has shown that it has the key.
    private static let longestGreeting = 256
    private static let noiseHeader = 3
    /// The type and the length of a message within an encrypted frame.
    private static let innerHeader = 4

    private let security: NoiseSecurity?
    private var phase: Phase
    private var buffer = FrameBuffer()
    /// What is to be sent without being a message.
    private(set) var greetings: [UInt8] = []

    /// - Parameter security: `nil`: plain text.
    init(_ security: NoiseSecurity?) {
        self.security = security
        phase = security == nil ? .plain : .hello
    }

    mutating func append(_ octets: some Collection<UInt8>) { buffer.append(octets) }

    mutating func drainGreetings() -> [UInt8] {
        defer { greetings = [] }
        return greetings
    }

    // MARK: Receiving

    /// The next message; `nil` as long as it is not complete.
    mutating func next() throws(FrameFailure) -> Frame? {
        while true {
            switch phase {
            case .plain: return try nextPlain()
            case .hello:
                guard let content = try nextNoise(atMost: Self.longestGreeting) else { return nil }
                guard let security else { throw .malformed }
                phase = .handshake(prologue: Array("NoiseAPIInit".utf8) + bigEndian(content.count) + content)
                greetings += noise([0x01] + security.name.utf8 + [0] + security.address.utf8 + [0])
            case .handshake(let prologue):
                guard let content = try nextNoise(atMost: Self.longestGreeting) else { return nil }
                do throws(NoiseFailure) { try shakeHands(prologue, content) } catch {
                    // The text by which clients recognise that their key is another one.
                    greetings += noise([0x01] + "Handshake MAC failure".utf8)
                    throw .noise(error)
                }
            case .open(var receiving, let sending):
                let longest = Self.longestMessage + Self.innerHeader + NoiseCipher.tagCount
                guard let sealed = try nextNoise(atMost: longest) else { return nil }
                let opened: [UInt8]
                do throws(NoiseFailure) { opened = try receiving.open(sealed) } catch { throw .noise(error) }
                phase = .open(receiving: receiving, sending: sending)
                return try message(in: opened)
            }
        }
    }

    private mutating func nextPlain() throws(FrameFailure) -> Frame? {
        guard buffer.count > 0 else { return nil }
        guard buffer[0] == Self.plainMark else {
            if buffer[0] == Self.noiseMark {
                greetings += [Self.plainMark] + "This port does not encrypt".utf8
                throw .encrypted
            }
            throw .malformed
        }
        guard let (length, behindLength) = try varint(at: 1), let (type, header) = try varint(at: behindLength) else {
            return nil
        }
        guard length <= Self.longestMessage else { throw .malformed }
        return buffer.take(Int(length), behind: header).map { Frame(type: type, content: $0) }
    }

    /// - Returns: the number, and the place behind it; `nil` as long as it is not complete.
    private func varint(at place: Int) throws(FrameFailure) -> (UInt32, Int)? {
        var number: UInt64 = 0
        for index in 0..<5 {
            guard place + index < buffer.count else { return nil }
            let octet = buffer[place + index]
            number |= UInt64(octet & 0x7F) << (7 * UInt64(index))
            guard octet >= 0x80 else {
                guard let number = UInt32(exactly: number) else { throw .malformed }
                return (number, place + index + 1)
            }
        }
        throw .malformed
    }

    private mutating func nextNoise(atMost longest: Int) throws(FrameFailure) -> ArraySlice<UInt8>? {
        guard buffer.count > 0 else { return nil }
        guard buffer[0] == Self.noiseMark else {
            if buffer[0] == Self.plainMark, case .hello = phase {
                greetings += noise([0x01] + "This port encrypts".utf8)
                throw .plain
            }
            throw .malformed
        }
        guard buffer.count >= Self.noiseHeader else { return nil }
        let length = Int(buffer[1]) << 8 | Int(buffer[2])
        guard length <= longest else { throw .malformed }
        return buffer.take(length, behind: Self.noiseHeader)
    }

    private mutating func shakeHands(_ prologue: [UInt8], _ content: ArraySlice<UInt8>) throws(NoiseFailure) {
        guard let security, content.first == 0 else { throw .malformed }
        var handshake = NoiseHandshake(key: security.key, prologue: prologue, ephemeral: security.ephemeral)
        _ = try handshake.read(content.dropFirst())
        let answer = try handshake.write()
        let (receiving, sending) = handshake.split()
        greetings += noise([0x00] + answer)
        phase = .open(receiving: receiving, sending: sending)
    }

    private func message(in opened: [UInt8]) throws(FrameFailure) -> Frame {
        guard opened.count >= Self.innerHeader else { throw .malformed }
        let type = UInt32(opened[0]) << 8 | UInt32(opened[1])
        let length = Int(opened[2]) << 8 | Int(opened[3])
        guard opened.count - Self.innerHeader >= length, length <= Self.longestMessage else { throw .malformed }
        return Frame(type: type, content: opened[Self.innerHeader..<Self.innerHeader + length])
    }

    // MARK: Sending

    /// The octets of a message; `nil` if it cannot be sent: the handshake is not complete, or it is too long.
    mutating func encode(_ type: UInt32, _ content: [UInt8]) -> [UInt8]? {
        switch phase {
        case .plain: return [Self.plainMark] + varint(content.count) + varint(Int(type)) + content
        case .hello, .handshake: return nil
        case .open(let receiving, var sending):
            let inner = bigEndian(Int(type)) + bigEndian(content.count) + content
            guard inner.count + NoiseCipher.tagCount <= 0xFFFF else { return nil }
            guard let sealed = try? sending.seal(inner) else { return nil }
            phase = .open(receiving: receiving, sending: sending)
            return noise(sealed)
        }
    }

    private func noise(_ content: [UInt8]) -> [UInt8] { [Self.noiseMark] + bigEndian(content.count) + content }

    private func bigEndian(_ number: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    }

    private func varint(_ number: Int) -> [UInt8] {
        var (octets, rest): ([UInt8], Int) = ([], number)
        while rest > 0x7F {
            octets.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return octets + [UInt8(truncatingIfNeeded: rest)]
    }
}
