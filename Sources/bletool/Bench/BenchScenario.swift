import ArgumentParser

/// What one side does in a run: `send` wants a peer that receives, `ping` one that answers.
enum BenchScenario: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// Sends packets as fast as the link takes them.
    case send
    /// Counts packets, and acknowledges the last.
    case receive
    /// Sends a packet, waits until it is acknowledged, and sends the next.
    case ping
    /// Acknowledges each packet.
    case pong

    /// Whether this side begins.
    var isActive: Bool { self == .send || self == .ping }
}

/// How much crosses the link in a run.
struct BenchPlan: Sendable {
    /// Octets of a packet, with what the bearer adds; `nil` for the most that fits, up to 500.
    var size: Int?
    var count: Int
    /// Milliseconds between packets; 0 for none.
    var pace: Int
    /// How long an acknowledgement is waited for.
    var patience: Duration

    /// Octets of a packet on this way.
    func byteCount(on port: BenchPort) throws -> Int {
        let count = size.map { $0 - port.overhead } ?? min(500 - port.overhead, port.maximumSize)
        guard count <= port.maximumSize else {
            throw Failure(
                "--size \(count + port.overhead) does not fit: \(port.text) takes \(port.maximumSize + port.overhead)",
                status: .usage)
        }
        return max(count, BenchPacket.headerByteCount)
    }
}
