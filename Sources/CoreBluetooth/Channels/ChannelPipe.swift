import BLEAppLifecycle
import Foundation

/// The state that the two streams of a channel share: received octets, and room for octets to send.
final class ChannelPipe: Sendable {
    private struct State {
        var received: [UInt8] = []
        var room = 0
        var isEnded = false
        var error: (any Error)?
        weak var input: StreamSchedule?
        weak var output: StreamSchedule?
    }

    private let state = Locked(State())
    private let send: @Sendable (ChannelRequest) -> Void

    init(send: @escaping @Sendable (ChannelRequest) -> Void) { self.send = send }

    func attach(input: StreamSchedule) { state.with { $0.input = input } }
    func attach(output: StreamSchedule) { state.with { $0.output = output } }

    // MARK: From the system

    func receive(_ event: ClientChannelEvent) {
        switch event {
        case .received(let octets):
            let input = state.with { state in
                state.received += octets
                return state.input
            }
            input?.update()
        case .canSend(let count):
            let output = state.with { state in
                state.room += count
                return state.output
            }
            output?.update()
        case .closed(let error):
            let (input, output) = state.with { state in
                state.isEnded = true
                state.error = error?.publicError
                return (state.input, state.output)
            }
            input?.update()
            output?.update()
        }
    }

    // MARK: From the streams

    var error: (any Error)? { state.with { $0.error } }

    /// The events for the input stream's delegate: the end follows the last octet.
    var inputEvents: [Stream.Event] {
        state.with { state in
            if !state.received.isEmpty { return [.hasBytesAvailable] }
            return state.isEnded ? [state.error == nil ? .endEncountered : .errorOccurred] : []
        }
    }

    /// The events for the output stream's delegate.
    var outputEvents: [Stream.Event] {
        state.with { state in
            if state.isEnded { return [state.error == nil ? .endEncountered : .errorOccurred] }
            return state.room > 0 ? [.hasSpaceAvailable] : []
        }
    }

    /// Removes received octets; the peer may send that many more.
    func read(upTo count: Int) -> [UInt8] {
        let (taken, isEnded) = state.with { state in
            let taken = Array(state.received.prefix(max(0, count)))
            state.received.removeFirst(taken.count)
            return (taken, state.isEnded)
        }
        if !taken.isEmpty, !isEnded { send(.received(count: taken.count)) }
        return taken
    }

    /// - Returns: the number of octets accepted.
    func put(_ octets: UnsafeBufferPointer<UInt8>) -> Int {
        let count = state.with { state in
            guard !state.isEnded else { return -1 }
            let count = min(octets.count, state.room)
            state.room -= count
            return count
        }
        if count > 0 { unsafe send(.send(Array(octets[..<count]))) }
        return count
    }

    func close() {
        let wasOpen = state.with { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        if wasOpen { send(.close) }
    }
}
