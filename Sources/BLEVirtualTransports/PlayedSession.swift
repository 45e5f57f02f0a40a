import BLECapture
import BLEPackets
import BLESimulator

/// The ATT session of a recorded peer: each request with its response, and the PDUs that followed unsolicited.
struct PlayedSession {
    struct Exchange {
        var request: [UInt8]
        var response: [UInt8]?
        /// Notifications and indications until the next request, by their distance from this one.
        var later: [(microseconds: Int64, pdu: [UInt8])] = []
        var time: Int64
    }

    var peer: DeviceAddress
    var exchanges: [Exchange] = []

    /// What of the session the capture holds nothing of.
    var begunBefore = false

    /// Puts the device on the air, where it can be connected to.
    /// - Parameter tell: gets what the capture lacks, in words.
    func join(_ air: SimulatedAir, _ pace: PlayedPace, tell: @escaping @Sendable (String) -> Void) {
        let database = PlayedDatabase(exchanges)
        for gap in database.gaps { tell("\(peer): \(gap)") }
        let server = PlayedServer(self, database, on: air, pace, tell: tell)
        var scripted = SimulatedScriptedPeer(name: "", address: peer) { server.answer($0) }
        scripted.linkEnded = { server.linkEnded() }
        server.device = air.addScriptedPeer(scripted)
    }
}

/// Follows the links of a capture and puts their ATT traffic together.
struct SessionCollector {
    private struct Open {
        var handle: UInt16
        var session: PlayedSession
        var fromHost: [UInt8] = []
        var fromPeer: [UInt8] = []
    }

    private static let unknownLinkLimit = 64

    private var open: [Open] = []
    private var finished: [PlayedSession] = []

    mutating func take(_ event: HCIEventPacket) {
        switch event {
        case .leConnectionComplete(let event) where event.status.isSuccess && event.role == .central:
            begin(event.connectionHandle, event.peerAddress)
        case .leEnhancedConnectionComplete(let event) where event.status.isSuccess && event.role == .central:
            begin(event.connectionHandle, event.peerAddress)
        case .leConnectionComplete(let event) where event.status.isSuccess:
            end(event.connectionHandle.rawValue)
            endedUnknown.insert(event.connectionHandle.rawValue)
        case .leEnhancedConnectionComplete(let event) where event.status.isSuccess:
            end(event.connectionHandle.rawValue)
            endedUnknown.insert(event.connectionHandle.rawValue)
        case .disconnectionComplete(let event): end(event.connectionHandle.rawValue)
        default: break
        }
    }

    /// Links that this host is not the central of.
    private var endedUnknown: Set<UInt16> = []

    private mutating func begin(_ handle: ConnectionHandle, _ peer: DeviceAddress) {
        endedUnknown.remove(handle.rawValue)
        end(handle.rawValue)
        open.append(Open(handle: handle.rawValue, session: PlayedSession(peer: peer.withoutIdentityMark)))
    }

    private mutating func end(_ handle: UInt16) {
        guard let position = open.firstIndex(where: { $0.handle == handle }) else { return }
        finished.append(open.remove(at: position).session)
    }

    /// - Returns: One session for each peer with ATT traffic, its links one after the other.
    mutating func finish() -> [PlayedSession] {
        while let link = open.first { end(link.handle) }
        var sessions: [PlayedSession] = []
        for session in finished where !session.exchanges.isEmpty {
            if let position = sessions.firstIndex(where: { $0.peer == session.peer }) {
                sessions[position].exchanges += session.exchanges
            } else {
                sessions.append(session)
            }
        }
        return sessions
    }

    mutating func take(data packet: RawSpan, from direction: CaptureDirection, at time: Int64) {
        do throws(DecodingError) {
            let data = try ACLDataPacket(decoding: packet)
            let handle = data.connectionHandle.rawValue
            if !open.contains(where: { $0.handle == handle }) {
                // A link that stood before the capture began: nobody knows with whom.
                guard data.boundary.isFirst, isAttributeFrame(data.data), open.count < Self.unknownLinkLimit,
                    !endedUnknown.contains(handle)
                else { return }
                let address = DeviceAddress(value: 0xC000_0000_0000 | UInt64(handle), kind: .random)
                var session = PlayedSession(peer: address)
                session.begunBefore = true
                open.append(Open(handle: handle, session: session))
            }
            guard let position = open.firstIndex(where: { $0.handle == handle }) else { return }
            let isFromHost = direction == .hostToController
            var frame = data.boundary.isFirst ? [] : isFromHost ? open[position].fromHost : open[position].fromPeer
            frame += data.data.copied()
            let isWhole = frame.count >= 4 && frame.count >= 4 + Int(frame[0]) + Int(frame[1]) << 8
            if isWhole, frame[2] == 4, frame[3] == 0 {
                take(Array(frame[4...]), isFromHost: isFromHost, at: time, &open[position].session)
            }
            if isWhole || frame.count > 0xFFFF + 4 { frame = [] }
            if isFromHost { open[position].fromHost = frame } else { open[position].fromPeer = frame }
        } catch {}
    }

    private func isAttributeFrame(_ data: RawSpan) -> Bool {
        data.byteCount > 4 && data.byte(at: 2) == 4 && data.byte(at: 3) == 0
    }

    private func take(_ pdu: [UInt8], isFromHost: Bool, at time: Int64, _ session: inout PlayedSession) {
        guard let octet = pdu.first else { return }
        switch ATTOpcode(rawValue: octet).kind {
        case .request, .command:
            guard isFromHost else { return }
            session.exchanges.append(.init(request: pdu, time: time))
        case .response:
            guard !isFromHost,
                let position = session.exchanges.lastIndex(where: {
                    ATTOpcode(rawValue: $0.request.first ?? 0).kind == .request
                }),
                session.exchanges[position].response == nil
            else { return }
            session.exchanges[position].response = pdu
        case .notification, .indication:
            guard !isFromHost else { return }
            // What came before any request stands behind one that means nothing.
            if session.exchanges.isEmpty { session.exchanges.append(.init(request: [], time: time)) }
            let last = session.exchanges.count - 1
            session.exchanges[last].later.append((max(0, time &- session.exchanges[last].time), pdu))
        case .confirmation, .unknown: break
        }
    }
}
