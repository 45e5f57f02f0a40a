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

    /// Adds the peer to the air, where a host can connect to it.
    func join(_ air: SimulatedAir, _ pace: PlayedPace) {
        let responder = Responder(exchanges: exchanges, pace: pace)
        var peer = SimulatedScriptedPeer(name: "", address: peer) { responder.answer($0) }
        peer.respondLater = { responder.later($0) }
        air.addScriptedPeer(peer)
    }

    /// Finds the recorded answer; a request that occurs several times gets its answers in turn.
    private final class Responder {
        private let exchanges: [Exchange]
        private let pace: PlayedPace
        private var used: Set<Int> = []
        private var found: Int?

        init(exchanges: [Exchange], pace: PlayedPace) {
            self.exchanges = exchanges
            self.pace = pace
        }

        func answer(_ pdu: [UInt8]) -> [[UInt8]] {
            found = exchanges.indices.first { exchanges[$0].request == pdu && !used.contains($0) }
            if let found {
                used.insert(found)
            } else {
                // The last answer is repeated for later requests.
                found = exchanges.lastIndex { $0.request == pdu }
            }
            if let found { return exchanges[found].response.map { [$0] } ?? [] }
            guard let octet = pdu.first, ATTOpcode(rawValue: octet).kind == .request else { return [] }
            let handle = pdu.count >= 3 ? Array(pdu[1..<3]) : [0, 0]
            let error: ATTError =
                switch ATTOpcode(rawValue: octet) {
                case .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readByGroupTypeRequest:
                    .attributeNotFound
                case .exchangeMTURequest: .requestNotSupported
                default: .unlikelyError
                }
            return [[0x01, octet] + handle + [error.rawValue]]
        }

        func later(_ pdu: [UInt8]) -> [(microseconds: Int64, pdu: [UInt8])] {
            guard let found else { return [] }
            return exchanges[found].later.map { (pace.microseconds($0.microseconds), $0.pdu) }
        }
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

    private var open: [Open] = []
    private var finished: [PlayedSession] = []

    mutating func take(_ event: HCIEventPacket) {
        switch event {
        case .leConnectionComplete(let event) where event.status.isSuccess && event.role == .central:
            begin(event.connectionHandle, event.peerAddress)
        case .leEnhancedConnectionComplete(let event) where event.status.isSuccess && event.role == .central:
            begin(event.connectionHandle, event.peerAddress)
        case .disconnectionComplete(let event): end(event.connectionHandle.rawValue)
        default: break
        }
    }

    private mutating func begin(_ handle: ConnectionHandle, _ peer: DeviceAddress) {
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

    private func take(_ pdu: [UInt8], isFromHost: Bool, at time: Int64, _ session: inout PlayedSession) {
        guard let octet = pdu.first else { return }
        switch ATTOpcode(rawValue: octet).kind {
        case .request, .command:
            guard isFromHost else { return }
            session.exchanges.append(.init(request: pdu, time: time))
        case .response:
            guard !isFromHost,
                let position = session.exchanges.lastIndex(where: {
                    ATTOpcode(rawValue: $0.request[0]).kind == .request
                }),
                session.exchanges[position].response == nil
            else { return }
            session.exchanges[position].response = pdu
        case .notification, .indication:
            guard !isFromHost, let last = session.exchanges.indices.last else { return }
            session.exchanges[last].later.append((max(0, time &- session.exchanges[last].time), pdu))
        case .confirmation, .unknown: break
        }
    }
}
