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

    /// Whether the session began before the capture.
    var begunBefore = false

    /// Puts the device on the air, where it can be connected to.
    /// - Parameter report: gets what the capture lacks, in words.
    func join(_ air: SimulatedAir, _ pace: PlayedPace, report: @escaping @Sendable (String) -> Void) {
        let database = PlayedDatabase(exchanges)
        for gap in database.gaps { report("\(peer): \(gap)") }
        let server = PlayedServer(self, database, on: air, pace, report: report)
        var scripted = SimulatedScriptedPeer(name: "", address: peer) { server.answer($0) }
        scripted.linkEnded = { server.linkEnded() }
        server.device = air.addScriptedPeer(scripted)
    }
}

/// Follows the links of a capture and puts their ATT traffic together.
struct SessionCollector {
    fileprivate struct Open {
        /// Counts the links in the order in which they began.
        var number: Int
        var session: PlayedSession
        var fromHost: [UInt8] = []
        var fromPeer: [UInt8] = []
        /// The exchange that a response belongs to.
        var lastRequest: Int?
    }

    private static let unknownLinkLimit = 64
    /// The most devices that are played: each of them advertises all the time.
    static let deviceLimit = 1000

    /// By handle.
    private var open: [UInt16: Open] = [:]
    private var begun = 0
    private var finished: [PlayedSession] = []
    /// Devices beyond the limit.
    private(set) var omitted = 0

    mutating func handle(_ event: HCIEventPacket) {
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
        begin(handle.rawValue, PlayedSession(peer: peer.withoutIdentityMark))
    }

    private mutating func begin(_ handle: UInt16, _ session: PlayedSession) {
        begun += 1
        open[handle] = Open(number: begun, session: session)
    }

    private mutating func end(_ handle: UInt16) {
        if let ended = open.removeValue(forKey: handle) { finished.append(ended.session) }
    }

    /// - Returns: One session for each peer with ATT traffic, its links one after the other.
    mutating func finish() -> [PlayedSession] {
        finished += open.values.sorted { $0.number < $1.number }.map(\.session)
        open = [:]
        var sessions: [PlayedSession] = []
        var places: [DeviceAddress: Int] = [:]
        for session in finished where !session.exchanges.isEmpty {
            if let place = places[session.peer] {
                sessions[place].exchanges += session.exchanges
            } else if sessions.count < Self.deviceLimit {
                places[session.peer] = sessions.count
                sessions.append(session)
            } else {
                omitted += 1
            }
        }
        return sessions
    }

    mutating func handle(data packet: RawSpan, from direction: CaptureDirection, at time: Int64) {
        do throws(DecodingError) {
            let data = try ACLDataPacket(decoding: packet)
            let handle = data.connectionHandle.rawValue
            if open[handle] == nil {
                // What controllers send of themselves is no link's.
                let field = UInt16(packet.byte(at: 0) ?? 0) | UInt16(packet.byte(at: 1) ?? 0) << 8
                guard ControllerTrace(handleField: field, direction: direction) == nil else { return }
                // A link that was established before the capture began: its peer is unknown.
                guard data.boundary.isFirst, isAttributeFrame(data.data), open.count < Self.unknownLinkLimit,
                    !endedUnknown.contains(handle)
                else { return }
                let address = DeviceAddress(value: 0xC000_0000_0000 | UInt64(handle), kind: .random)
                var session = PlayedSession(peer: address)
                session.begunBefore = true
                begin(handle, session)
            }
            open[handle]?.handle(data, isFromHost: direction == .hostToController, at: time)
        } catch {}
    }

    private func isAttributeFrame(_ data: RawSpan) -> Bool {
        data.byteCount > 4 && data.byte(at: 2) == 4 && data.byte(at: 3) == 0
    }
}

extension SessionCollector.Open {
    fileprivate mutating func handle(_ data: ACLDataPacket, isFromHost: Bool, at time: Int64) {
        var frame: [UInt8] = []
        // Taken out, so that it is not copied for each fragment.
        if isFromHost { swap(&frame, &fromHost) } else { swap(&frame, &fromPeer) }
        if data.boundary.isFirst { frame = [] }
        frame += data.data.copied()
        let isWhole = frame.count >= 4 && frame.count >= 4 + Int(frame[0]) + Int(frame[1]) << 8
        if isWhole, frame[2] == 4, frame[3] == 0 { handle(Array(frame[4...]), isFromHost: isFromHost, at: time) }
        if isWhole || frame.count > 0xFFFF + 4 { frame = [] }
        if isFromHost { fromHost = frame } else { fromPeer = frame }
    }

    private mutating func handle(_ pdu: [UInt8], isFromHost: Bool, at time: Int64) {
        guard let octet = pdu.first else { return }
        let kind = ATTOpcode(rawValue: octet).kind
        switch kind {
        case .request, .command:
            guard isFromHost else { return }
            if kind == .request { lastRequest = session.exchanges.count }
            session.exchanges.append(.init(request: pdu, time: time))
        case .response:
            guard !isFromHost, let place = lastRequest, session.exchanges[place].response == nil else { return }
            session.exchanges[place].response = pdu
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
