import BLE
import Synchronization

/// One event of the controller.
struct ReceivedEvent: Equatable, Sendable {
    var code: HCIEventCode
    var parameters: [UInt8]

    /// Whether it is Command Complete or Command Status of this command.
    func answers(_ opcode: HCIOpcode) -> Bool {
        let start: Int
        switch code {
        case .commandComplete: start = 1
        case .commandStatus: start = 2
        default: return false
        }
        guard parameters.count >= start + 2 else { return false }
        return UInt16(parameters[start]) | UInt16(parameters[start + 1]) << 8 == opcode.rawValue
    }

    /// The event as a value; `nil` when it is malformed.
    var packet: HCIEventPacket? {
        var reader = PacketReader(parameters.span.bytes)
        return try? HCIEventPacket(code: code, decoding: &reader)
    }
}

/// Hands out events that the engine does not interpret: those that follow an operator's own commands.
final class EventWatch: PacketObserver {
    private struct Watcher {
        var isWanted: @Sendable (ReceivedEvent) -> Bool
        var continuation: AsyncStream<ReceivedEvent>.Continuation
    }

    private let watchers = Mutex<[Watcher]>([])

    /// The events from now on that are wanted.
    func events(where isWanted: @escaping @Sendable (ReceivedEvent) -> Bool) -> AsyncStream<ReceivedEvent> {
        let (stream, continuation) = AsyncStream<ReceivedEvent>.makeStream(bufferingPolicy: .bufferingOldest(64))
        watchers.withLock { $0.append(Watcher(isWanted: isWanted, continuation: continuation)) }
        return stream
    }

    func observe(_ packet: RawSpan, direction: PacketDirection, unixMicroseconds: UInt64) {
        guard direction == .controllerToHost, packet.byte(at: 0) == H4PacketType.event.rawValue else { return }
        let watchers = watchers.withLock { $0 }
        guard !watchers.isEmpty else { return }
        do throws(DecodingError) {
            let view = try HCIEventPacketView(decoding: packet.extracting(droppingFirst: 1))
            let event = ReceivedEvent(code: view.code, parameters: view.parameters.copied())
            for watcher in watchers where watcher.isWanted(event) { watcher.continuation.yield(event) }
        } catch {
            // The engine counts it.
        }
    }
}
