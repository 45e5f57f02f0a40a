import BLEMessages
import BLETransport
import Synchronization

/// One request of an operator and what follows, on a separate loop.
final class OperatorConversation: @unchecked Sendable {
    // @unchecked Sendable is correct because the caller of `begin` uses the mutable state before the loop runs, and
    // only the loop afterwards; `control` has a lock.
    enum Event: Sendable {
        case answer(DaemonOperator.Answer)
        case event(DaemonOperator.Event)
        /// Nothing follows.
        case ended(DaemonOperator.Failure)
    }

    private let path: String
    private let request: OperatorRequest
    private var frames = FrameReader(limit: BledProtocol.eventLimit)
    /// `nil` after the end.
    private var report: ((Event) -> Bool)?
    private var stream: ByteStream?
    private var patience: EventLoop.Deadline?

    private struct Control {
        /// `nil` until there is something to stop.
        var loop: EventLoop?
        /// Why the conversation ends as soon as it has begun.
        var end: DaemonOperator.Failure?
    }

    private let control = Mutex(Control())

    init(_ path: String, _ request: OperatorRequest) {
        self.path = path
        self.request = request
    }

    /// - Parameters:
    ///   - limit: how long the conversation may take; `nil`: any time.
    ///   - report: gets every event, on the loop; returns whether it wants more.
    func begin(within limit: Duration? = nil, report: @escaping (Event) -> Bool) {
        self.report = report
        do throws(TransportError) {
            let loop = try EventLoop(name: "operator")
            let stream = try DaemonClient.connect(to: path)
            try stream.start(
                on: loop, receive: { self.receive($0) },
                closed: { self.deliver(.ended(.transport($0 ?? .closedByPeer))) })
            self.stream = stream
            let greeting = FromClient.hello(Greeting(.operator))
            stream.send((greeting.framed() + FromClient.operatorRequest(request).framed()).span.bytes)
            if let limit {
                patience = loop.makeDeadline { [weak self] in self?.deliver(.ended(.noAnswer(after: limit))) }
                patience?.set(
                    atMicroseconds: loop.nowMicroseconds + UInt64(max(0, limit.components.seconds)) * 1_000_000)
            }
            let end = control.withLock { control in
                control.loop = loop
                return control.end
            }
            // `loop` is known before it runs: a conversation that ends at once stops it.
            try loop.start()
            if let end { self.end(with: end) }
        } catch {
            deliver(.ended(.transport(error)))
        }
    }

    /// Ends the conversation, also one that has not begun; may be called on any thread.
    func end(with failure: DaemonOperator.Failure) {
        let loop = control.withLock { control in
            control.end = failure
            return control.loop
        }
        loop?.run { self.deliver(.ended(failure)) }
    }

    private func end() {
        report = nil
        stream?.close()
        stream = nil
        patience?.clear()
        control.withLock { $0.loop }?.stop()
    }

    private func receive(_ bytes: RawSpan) {
        frames.append(bytes)
        do throws(MessageError) {
            while report != nil, let octets = try frames.next() {
                switch try FromDaemon(octets: octets) {
                case .operatorAnswer(let answer): receive(answer)
                case .alert(let alert): deliver(.event(.alert(DaemonOperator.Alert(alert))))
                case .packet(let octets, let isFromController, let unixMicroseconds, let lost):
                    deliver(
                        .event(
                            .packet(
                                octets, isFromController ? .controllerToHost : .hostToController,
                                unixMicroseconds: unixMicroseconds, lost: lost)))
                case .refusal(let reason, let text):
                    deliver(.ended(.refused(text, isNotPermitted: reason == .notAllowed)))
                default: break
                }
            }
        } catch {
            deliver(.ended(.transport(.daemonEnded(reason: "it speaks another protocol: \(error)"))))
        }
    }

    private func receive(_ answer: OperatorAnswer) {
        if answer.error == OperatorAnswer.noBond { return deliver(.ended(.noBond)) }
        if !answer.error.isEmpty { return deliver(.ended(.refused(answer.error))) }
        deliver(.answer(DaemonOperator.Answer(answer)))
    }

    private func deliver(_ event: Event) {
        guard let report else { return }
        if case .ended = event { self.report = nil }
        if !report(event) { end() }
    }
}
