import BLEAppLifecycle
import BLEMessages
import BLEPackets

/// What is sent to programs: messages that many of them get wait for each other.
///
/// Many apps may get thousands of discoveries a second; each of them written by itself would cost more than all else
/// about it. The first one after a pause is sent at once.
struct Outgoing {
    private static let pause: UInt64 = 20_000
    private static let octets = 8192
    private static let endsAtOnce = 8
    private static let spareBuffers = 32

    private var encoder = DiscoveryEncoder()
    /// The connections whose messages wait for others, and until when.
    private var waiting: [Connection] = []
    private(set) var deadline: UInt64?
    /// Empty buffers with room.
    private var spare: [[UInt8]] = []

    /// Sends messages, behind those that wait.
    mutating func send(
        _ octets: consuming [UInt8], to connection: Connection, at now: UInt64, into effects: inout Queue<DaemonEffect>
    ) {
        guard connection.outbox.held.isEmpty else {
            connection.outbox.held += octets
            return sendHeld(to: connection, at: now, into: &effects)
        }
        connection.outbox.heldEnds = 0
        effects.send(octets, to: connection)
    }

    /// Ends of write commands wait for each other while the program has more on their way: each one sent by itself
    /// wakes it, and costs more than what it says.
    mutating func send(
        _ octets: consuming [UInt8], ends: Int, of tool: ToolClient, to connection: Connection, at now: UInt64,
        into effects: inout Queue<DaemonEffect>
    ) {
        connection.outbox.heldEnds += ends
        guard tool.session.hasManyCommands, connection.outbox.heldEnds < Self.endsAtOnce else {
            return send(octets, to: connection, at: now, into: &effects)
        }
        connection.outbox.held += octets
        hold(for: connection, at: now, into: &effects)
    }

    /// Sends a discovery, which may wait for others.
    mutating func send(
        _ shared: SharedDiscovery, for recipient: SharedDiscovery.Recipient, to connection: Connection, at now: UInt64,
        into effects: inout Queue<DaemonEffect>
    ) {
        encoder.append(shared, to: recipient, into: &connection.outbox.held)
        hold(for: connection, at: now, into: &effects)
    }

    private mutating func hold(for connection: Connection, at now: UInt64, into effects: inout Queue<DaemonEffect>) {
        if connection.outbox.held.count >= Self.octets { return sendHeld(to: connection, at: now, into: &effects) }
        // Otherwise the deadline is set.
        guard !connection.outbox.isListed else { return }
        if connection.outbox.heldSentAt + Self.pause <= now { return sendHeld(to: connection, at: now, into: &effects) }
        if waiting.isEmpty { deadline = now + Self.pause }
        connection.outbox.isListed = true
        waiting.append(connection)
    }

    private mutating func sendHeld(to connection: Connection, at now: UInt64, into effects: inout Queue<DaemonEffect>) {
        connection.outbox.heldEnds = 0
        guard !connection.outbox.held.isEmpty else { return }
        var octets = takeSpare()
        swap(&octets, &connection.outbox.held)
        effects.send(octets, to: connection)
        connection.outbox.heldSentAt = now
    }

    /// Sends what has waited for long enough.
    mutating func advance(to now: UInt64, into effects: inout Queue<DaemonEffect>) {
        guard let due = deadline, due <= now else { return }
        deadline = nil
        let connections = waiting
        waiting.removeAll(keepingCapacity: true)
        for connection in connections {
            connection.outbox.isListed = false
            sendHeld(to: connection, at: now, into: &effects)
        }
    }

    /// An empty buffer, for what is sent next.
    mutating func takeSpare() -> [UInt8] { spare.popLast() ?? [] }

    /// The room of octets that have been sent is used again.
    mutating func reuse(_ octets: consuming [UInt8]) {
        guard octets.capacity >= 64, octets.capacity <= 2 * Self.octets, spare.count < Self.spareBuffers else { return }
        // Nothing is there to remove from a buffer that was not used, and another one may still refer to it.
        if !octets.isEmpty { octets.removeAll(keepingCapacity: true) }
        spare.append(octets)
    }
}

extension Queue<DaemonEffect> {
    /// Sends octets to a program, unless it is no longer there.
    mutating func send(_ octets: consuming [UInt8], to connection: Connection) {
        guard !connection.isClosed else { return }
        connection.outbox.waiting += octets.count
        append(.send(connection.id, octets))
    }
}
