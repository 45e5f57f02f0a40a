import BLEDaemonClient
import BLEMessages
import BLETransport

/// Asks `bled` which adapter it has, and which links there are: only operators are told. It uses the loop of its owner,
/// so that nothing of it is left when it has been answered.
final class StatusQuestion {
    private var stream: ByteStream?
    private var frames = FrameReader(limit: BledProtocol.eventLimit)
    private var deadline: EventLoop.Deadline?
    private var answered: ((OperatorAnswer?) -> Void)?

    private static let patience: UInt64 = 2_000_000

    /// - Parameter answered: called once, on the loop; with `nil` if there is no answer.
    init(_ path: String, on loop: EventLoop, answered: @escaping (OperatorAnswer?) -> Void) {
        self.answered = answered
        deadline = loop.makeDeadline { [weak self] in self?.end(nil) }
        deadline?.set(atMicroseconds: loop.nowMicroseconds + Self.patience)
        do throws(TransportError) {
            let stream = try DaemonClient.connect(to: path)
            try stream.start(
                on: loop, receive: { [weak self] in self?.receive($0) }, closed: { [weak self] _ in self?.end(nil) })
            self.stream = stream
            let greeting = FromClient.hello(Greeting(.operator)).framed()
            stream.send((greeting + FromClient.operatorRequest(.status).framed()).span.bytes)
        } catch {
            loop.runLater { [weak self] in self?.end(nil) }
        }
    }

    private func receive(_ bytes: RawSpan) {
        frames.append(bytes)
        do throws(MessageError) {
            while answered != nil, let octets = try frames.next() {
                switch try FromDaemon(octets: octets) {
                case .operatorAnswer(let answer): end(answer.error.isEmpty ? answer : nil)
                case .refusal: end(nil)
                default: break
                }
            }
        } catch {
            end(nil)
        }
    }

    private func end(_ answer: OperatorAnswer?) {
        guard let answered else { return }
        self.answered = nil
        deadline?.cancel()
        deadline = nil
        stream?.close()
        stream = nil
        answered(answer)
    }
}
