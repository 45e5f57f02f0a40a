import BLEJSON
import Synchronization

/// What has crossed a serial line, in octets.
final class SerialTally: Sendable {
    struct Figures: Equatable, Sendable {
        /// Octets that went to the device.
        var sent = 0
        /// Octets that came from it and were written.
        var received = 0
        /// Octets that were sent and, when a link was lost, neither confirmed nor known to be lost.
        var unconfirmed = 0
        /// Octets that came and were thrown away, because they were not taken in time.
        var dropped = 0
        var links = 0
        /// Octets that came and are not written yet.
        var unwritten = 0
        /// Octets since the last confirmation on this link.
        var waiting = 0
        fileprivate var sending = Span()
        fileprivate var receiving = Span()
    }

    /// From the first to the last octet of one direction.
    fileprivate struct Span: Equatable, Sendable {
        var first: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?

        mutating func mark() {
            last = .now
            if first == nil { first = last }
        }

        var seconds: Double {
            guard let first, let last else { return 0 }
            return first.duration(to: last) / .seconds(1)
        }
    }

    private let state = Mutex(Figures())

    var figures: Figures { state.withLock { $0 } }

    func linkOpened() {
        state.withLock { figures in
            figures.links += 1
            figures.waiting = 0
        }
    }

    /// - Returns: the octets that are not known to have arrived.
    func linkLost() -> Int {
        state.withLock { figures in
            figures.unconfirmed += figures.waiting
            defer { figures.waiting = 0 }
            return figures.waiting
        }
    }

    /// Octets are on their way; so much may be lost with the link.
    func willSend(_ count: Int) {
        state.withLock { figures in
            if figures.sending.first == nil { figures.sending.mark() }
            figures.waiting += count
        }
    }

    /// Octets were not taken, and have certainly gone nowhere.
    func didNotSend(_ count: Int) { state.withLock { $0.waiting -= count } }

    /// - Parameter isConfirmed: whether the device has confirmed these, and with them all before.
    func sent(_ count: Int, isConfirmed: Bool) {
        state.withLock { figures in
            figures.sent += count
            figures.sending.mark()
            if isConfirmed { figures.waiting = 0 }
        }
    }

    func arrived(_ count: Int) { state.withLock { $0.unwritten += count } }

    /// - Parameter isTaken: whether somebody took them.
    func written(_ count: Int, isTaken: Bool) {
        state.withLock { figures in
            figures.unwritten -= count
            guard isTaken else { return }
            figures.received += count
            figures.receiving.mark()
        }
    }

    func dropped(_ count: Int) { state.withLock { $0.dropped += count } }

    /// Tells what a link carried, at the end.
    func report(_ console: Console) {
        let figures = figures
        func rate(_ count: Int, _ span: Span) -> Double { span.seconds > 0 ? Double(count) / span.seconds : 0 }
        let (sending, receiving) = (rate(figures.sent, figures.sending), rate(figures.received, figures.receiving))
        func part(_ verb: String, _ count: Int, _ span: Span) -> String {
            guard count > 0 else { return "nothing \(verb)" }
            let figure = LinkSummaryOutput.decimal(span.seconds, digits: 3)
            let pace = rate(count, span)
            return "\(count) B \(verb) in \(figure) s" + (pace > 0 ? ": \(BenchResult.rate(pace))" : "")
        }
        let text =
            part("sent", figures.sent, figures.sending) + "; "
            + part("received", figures.received, figures.receiving)
            + (figures.links > 1 ? "; \(figures.links) links" : "")
            + (figures.unconfirmed > 0 ? "; \(figures.unconfirmed) B not confirmed" : "")
            + (figures.dropped > 0 ? "; \(figures.dropped) B dropped" : "")
        console.report(
            [
                "event": "serial", "sent": JSONValue(figures.sent), "sentSeconds": .number(figures.sending.seconds),
                "sentBytesPerSecond": JSONValue(Int(sending)), "received": JSONValue(figures.received),
                "receivedSeconds": .number(figures.receiving.seconds),
                "receivedBytesPerSecond": JSONValue(Int(receiving)), "links": JSONValue(figures.links),
                "unconfirmed": JSONValue(figures.unconfirmed), "dropped": JSONValue(figures.dropped),
            ], note: text)
    }
}
