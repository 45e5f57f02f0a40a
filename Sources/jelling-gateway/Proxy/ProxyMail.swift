import BLE
import BLEGateway
import Synchronization

/// What other threads have for the thread of a proxy, which names those who get events of links by an ID.
final class ProxyMail<ID: Sendable>: Sendable {
    struct Packet {
        var time: Instant
        var address: DeviceAddress
        var rssi: Int8
        var isConnectable: Bool
        /// Advertising data, and the scan response behind it.
        var data: [UInt8]
    }

    struct Post {
        var packets: [Packet] = []
        var events: [(ID, LinkEvent)] = []
    }

    private struct State {
        var post = Post()
        var hasSubscribers = false
        var address: UInt64?
        var isStopped = false
    }

    /// Packets and values that can wait; beyond that they are dropped.
    private static var limit: Int { 16_384 }
    /// So many packets fill a message.
    private static var batch: Int { 16 }

    let wakeUp = WakeUp()
    private let state = Mutex(State())

    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Whether somebody wants packets.
    var hasSubscribers: Bool {
        get { state.withLock { $0.hasSubscribers } }
        set { state.withLock { $0.hasSubscribers = newValue } }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    func found(_ address: UInt64) {
        state.withLock { $0.address = $0.address ?? address }
        wakeUp.signal()
    }

    /// - Returns: `nil` if the program ends first.
    func waitForAddress() -> UInt64? {
        while true {
            let (address, isStopped) = state.withLock { ($0.address, $0.isStopped) }
            if isStopped { return nil }
            if let address { return address }
            wakeUp.wait(-1)
        }
    }

    func heard(_ discovery: Discovery) {
        guard let address = discovery.address else { return }
        let isFull = state.withLock { state in
            guard state.hasSubscribers, state.post.packets.count < Self.limit else { return false }
            state.post.packets.append(
                Packet(
                    time: GatewayCore.now, address: address, rssi: discovery.rssi,
                    isConnectable: discovery.isConnectable,
                    data: discovery.advertisement + discovery.scanResponse))
            return state.post.packets.count == Self.batch
        }
        // Fewer wait for the thread's next turn.
        if isFull { wakeUp.signal() }
    }

    func received(_ event: LinkEvent, for id: ID) {
        let isFirst = state.withLock { state in
            if case .notified = event, state.post.events.count >= Self.limit { return false }
            state.post.events.append((id, event))
            return state.post.events.count == 1
        }
        if isFirst { wakeUp.signal() }
    }

    func collect() -> Post {
        state.withLock { state in
            defer { state.post = Post() }
            return state.post
        }
    }
}
