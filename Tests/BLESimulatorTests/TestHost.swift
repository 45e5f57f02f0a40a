import BLEPackets
import BLESimulator
import Testing

/// A host that does nothing by itself: it sends what a test says and keeps what comes.
final class TestHost {
    struct Frame: Equatable {
        var handle: ConnectionHandle
        var channel: L2CAPChannelIdentifier
        var payload: [UInt8]
    }

    let air: SimulatedAir
    let controller: SimulatedControllerID
    private(set) var packets: [[UInt8]] = []
    private(set) var events: [HCIEventPacket] = []
    private(set) var frames: [Frame] = []
    private(set) var dataLengths: [Int] = []
    private(set) var completedPackets = 0
    private var unfinished: [UInt16: [UInt8]] = [:]

    init(_ air: SimulatedAir, _ configuration: SimulatedControllerConfiguration = .init()) {
        self.air = air
        controller = air.addController(configuration)
    }

    /// A host for a controller that is there already.
    init(_ air: SimulatedAir, controller: SimulatedControllerID) {
        self.air = air
        self.controller = controller
    }

    /// A host whose controller was reset and may send every event.
    static func ready(
        _ air: SimulatedAir, _ configuration: SimulatedControllerConfiguration = .init()
    ) -> TestHost {
        let host = TestHost(air, configuration)
        host.prepare()
        return host
    }

    func prepare() {
        perform(Reset())
        perform(SetEventMask(mask: EventMask(rawValue: .max)))
        perform(LESetEventMask(mask: LEEventMask(rawValue: .max)))
    }

    // MARK: Sending

    func send(_ packet: [UInt8]) { air.send(packet.span.bytes, to: controller, at: air.nowMicroseconds) }

    func send(_ command: some HCICommand) {
        var writer = PacketWriter()
        command.encodePacket(into: &writer)
        send(writer.bytes)
    }

    /// Sends a command and waits for its answer.
    @discardableResult
    func perform<Command: HCICommand>(_ command: Command) -> HCIStatus? {
        let seen = events.count
        send(command)
        run(milliseconds: 1)
        for event in events[seen...] {
            switch event {
            case .commandComplete(let answer) where answer.opcode == Command.opcode:
                return answer.returnParameters.first.map { HCIStatus(rawValue: $0) }
            case .commandStatus(let answer) where answer.opcode == Command.opcode: return answer.status
            default: break
            }
        }
        return nil
    }

    /// Sends a command and gives what it returned.
    func query<Command: HCICommand>(_ command: Command) -> Command.ReturnParameters? {
        perform(command)
        for case .commandComplete(let answer) in events.reversed() where answer.opcode == Command.opcode {
            return try? answer.decode(Command.self)
        }
        return nil
    }

    /// Sends one L2CAP frame in one ACL packet for each `fragment` octets.
    func send(
        _ payload: [UInt8], on channel: L2CAPChannelIdentifier = .attributeProtocol, to handle: ConnectionHandle,
        fragment: Int = 251
    ) {
        var frame = PacketWriter()
        L2CAPBasicFrame.encode(on: channel, into: &frame) { $0.write(bytes: payload) }
        var rest = frame.bytes[...]
        var boundary = PacketBoundaryFlag.firstNonFlushable
        while !rest.isEmpty {
            var packet = PacketWriter()
            let piece = Array(rest.prefix(fragment))
            ACLDataPacket.encodePacketHeader(
                into: &packet, handle: handle, boundary: boundary, length: piece.count)
            packet.write(bytes: piece)
            send(packet.bytes)
            rest = rest.dropFirst(fragment)
            boundary = .continuing
        }
    }

    /// Sends an ATT request and waits for the answer.
    func request(_ pdu: [UInt8], on handle: ConnectionHandle, milliseconds: Int64 = 500) -> [UInt8]? {
        let seen = frames.count
        send(pdu, to: handle)
        let end = air.nowMicroseconds + milliseconds * 1000
        while air.nowMicroseconds < end, frames.count == seen { run(milliseconds: 5) }
        return frames.count > seen ? frames[seen].payload : nil
    }

    // MARK: Time

    func run(milliseconds: Int64) { run(microseconds: milliseconds * 1000) }

    func run(microseconds: Int64) {
        air.advance(to: air.nowMicroseconds + microseconds)
        collect()
    }

    func collect() {
        air.drainPackets(of: controller) { packet in
            packets.append(packet.copied())
            switch packet.byte(at: 0) {
            case H4PacketType.event.rawValue: collectEvent(packet.extracting(droppingFirst: 1))
            case H4PacketType.acl.rawValue: collectData(packet.extracting(droppingFirst: 1))
            default: Issue.record("a packet of another type")
            }
        }
    }

    private func collectEvent(_ packet: RawSpan) {
        do throws(DecodingError) {
            let event = try HCIEventPacket(decoding: packet)
            events.append(event)
            if case .numberOfCompletedPackets(let report) = event {
                completedPackets += report.links.reduce(0) { $0 + Int($1.count) }
            }
        } catch {
            Issue.record("an event that cannot be decoded: \(packet.copied())")
        }
    }

    private func collectData(_ packet: RawSpan) {
        do throws(DecodingError) {
            let data = try ACLDataPacket(decoding: packet)
            let handle = data.connectionHandle.rawValue
            dataLengths.append(data.data.byteCount)
            if data.boundary.isFirst { unfinished[handle] = [] }
            unfinished[handle, default: []] += data.data.copied()
            let bytes = unfinished[handle, default: []]
            guard bytes.count >= 4, bytes.count == 4 + Int(bytes[0]) + Int(bytes[1]) << 8 else { return }
            frames.append(
                Frame(
                    handle: data.connectionHandle,
                    channel: L2CAPChannelIdentifier(rawValue: UInt16(bytes[2]) | UInt16(bytes[3]) << 8),
                    payload: Array(bytes[4...])))
            unfinished[handle] = nil
        } catch {
            Issue.record("data that cannot be decoded")
        }
    }

    func forget() {
        collect()
        packets = []
        events = []
        frames = []
        dataLengths = []
        completedPackets = 0
    }

    // MARK: Procedures

    static let linkParameters = LEConnectionParameters(
        minimumInterval: .milliseconds(15), maximumInterval: .milliseconds(30),
        supervisionTimeout: .milliseconds(1000))

    /// The last link that was reported as standing.
    var lastLink: LEEnhancedConnectionComplete? {
        for event in events.reversed() {
            if case .leEnhancedConnectionComplete(let link) = event, link.status.isSuccess { return link }
        }
        return nil
    }

    var disconnections: [DisconnectionComplete] {
        events.compactMap { if case .disconnectionComplete(let event) = $0 { event } else { nil } }
    }

    var connectionResults: [HCIStatus] {
        events.compactMap {
            switch $0 {
            case .leEnhancedConnectionComplete(let event): event.status
            case .leConnectionComplete(let event): event.status
            default: nil
            }
        }
    }

    var legacyReports: [LEAdvertisingReport.Report] {
        events.flatMap { event -> [LEAdvertisingReport.Report] in
            if case .leAdvertisingReport(let event) = event { return event.reports }
            return []
        }
    }

    var extendedReports: [LEExtendedAdvertisingReport.Report] {
        events.flatMap { event -> [LEExtendedAdvertisingReport.Report] in
            if case .leExtendedAdvertisingReport(let event) = event { return event.reports }
            return []
        }
    }

    @discardableResult
    func scan(_ type: ScanType = .active, filtersDuplicates: Bool = false) -> HCIStatus? {
        perform(LESetScanParameters(type: type))
        return perform(LESetScanEnable(isEnabled: true, filtersDuplicates: filtersDuplicates))
    }

    @discardableResult
    func advertise(
        _ data: [UInt8] = [2, 1, 6], scanResponse: [UInt8] = [], type: AdvertisingType = .connectableUndirected,
        peer: DeviceAddress = DeviceAddress(value: 0, kind: .public),
        filterPolicy: AdvertisingFilterPolicy = .all
    ) -> HCIStatus? {
        perform(
            LESetAdvertisingParameters(
                minimumInterval: .milliseconds(100), maximumInterval: .milliseconds(100), type: type,
                peerAddress: peer, filterPolicy: filterPolicy))
        perform(LESetAdvertisingData(data: data))
        perform(LESetScanResponseData(data: scanResponse))
        return perform(LESetAdvertisingEnable(isEnabled: true))
    }

    @discardableResult
    func beginConnecting(to peer: DeviceAddress) -> HCIStatus? {
        perform(
            LECreateConnection(
                scanInterval: .milliseconds(60), scanWindow: .milliseconds(60), peerAddress: peer,
                parameters: Self.linkParameters))
    }

    /// Connects and gives the handle.
    func connect(to peer: DeviceAddress) throws -> ConnectionHandle {
        beginConnecting(to: peer)
        run(milliseconds: 500)
        return try #require(lastLink).connectionHandle
    }
}

extension SimulatedControllerConfiguration {
    /// A controller with a public address that ends in `number`.
    static func numbered(_ number: UInt64) -> Self {
        var configuration = Self()
        configuration.publicAddress = address(number)
        return configuration
    }

    static func address(_ number: UInt64) -> DeviceAddress {
        DeviceAddress(value: 0x00AA_0100_0000 + number, kind: .public)
    }
}
