import BLEHost
import BLEMessages
import BLEPackets
import Synchronization
import Testing

@testable import BLEDaemon

@Suite("A tool that leaves has nothing any more, also if it stays connected")
struct LeavingTests {
    /// What the engine is asked for.
    private final class CommandLog: HostInputObserver {
        private let kept = Mutex<[HostCommand]>([])
        var commands: [HostCommand] { kept.withLock { $0 } }

        func began(_ configuration: HostConfiguration) {}
        func observeSent(_ packet: RawSpan, at time: Instant) {}

        func observe(_ input: HostInput, at time: Instant) {
            if case .command(let command, _) = input { kept.withLock { $0.append(command) } }
        }
    }

    private static let link = LinkID(handle: ConnectionHandle(rawValue: 64), generation: 1)
    private static let channel = ChannelInformation(
        id: ChannelID(link: link, number: 1), spsm: 0x80, sendMTU: 100, receiveMTU: 100)

    private static let publishing = HostCommand.server(.publish(GATTServiceDefinition(uuid: "0D18")))
    private static let listening = HostCommand.channel(
        .listen(spsm: nil, ChannelSettings(), requiresEncryption: false))

    private func publish(_ operation: UInt64) -> [UInt8] {
        FromClient.request(operation, Self.publishing).framed()
    }

    private func leave(_ operation: UInt64) -> [UInt8] {
        FromClient.request(ToolRequest(OperationID(rawValue: operation), .leave)).framed()
    }

    @Test("a service that is asked for together with the end of everything is removed before that has been done")
    func publishing() throws {
        var limits = ClientLimits()
        limits.services = 1
        let stage = try DaemonStage(limits: limits)
        let client = try stage.connect()
        #expect(try client.isWelcome())
        var handles: [AttributeHandle] = []
        for round in 0..<3 as Range<UInt64> {
            client.send(publish(2 * round + 1) + leave(2 * round + 2))
            guard case .success(.published(let service)) = try client.end(of: 2 * round + 1) else {
                Issue.record("the service of round \(round) was not published")
                return
            }
            handles.append(service.range.first)
            #expect(try client.end(of: 2 * round + 2) == .success(.done))
            let left = stage.withDaemon { daemon in
                daemon.core.connections.all.compactMap(\.tool).map {
                    [$0.session.serving.serviceCount, $0.session.serving.attributeCount]
                }
            }
            #expect(left == [[0, 0]])
        }
        // The place of one that is gone is for the next one like it.
        #expect(Set(handles).count == 1, "\(handles)")
    }

    @Test("what the engine has not ended yet counts for a tool that has left, until it ends; then nothing is kept")
    func counting() throws {
        var stage = ToolStage()
        stage.request(Self.publishing)
        stage.request(Self.listening)
        let attributes = stage.session.serving.attributeCount
        #expect(attributes > 0 && stage.session.serving.channelCount == 1)
        _ = stage.session.leaving()
        #expect(stage.session.serving.serviceCount == 1 && stage.session.serving.attributeCount == attributes)
        #expect(stage.session.serving.channelCount == 1)
        let (published, listening) = (OperationID(rawValue: 1001), OperationID(rawValue: 1002))
        #expect(stage.session.hasAbandoned(published) && stage.session.hasAbandoned(listening))
        let service = GATTPublishedService(
            uuid: BluetoothUUID(UInt16(0x180D)), isPrimary: true,
            range: AttributeHandleRange(AttributeHandle(rawValue: 1), AttributeHandle(rawValue: 1)),
            characteristics: [], owner: ToolStage.client)
        stage.session.hear(.completed(published, .success(.published(service))), waiting: 0)
        stage.session.hear(.completed(listening, .success(.listening(spsm: 0x80))), waiting: 0)
        #expect(stage.session.serving.serviceCount == 0 && stage.session.serving.attributeCount == 0)
        #expect(stage.session.serving.channelCount == 0)
        #expect(!stage.session.hasAbandoned(published) && !stage.session.hasAbandoned(listening))
    }

    @Test("a listener that is asked for together with the end of everything does not stay")
    func listening() throws {
        let log = CommandLog()
        let stage = try DaemonStage { $0.adapter.recorder = log }
        let client = try stage.connect()
        #expect(try client.isWelcome())
        client.send(FromClient.request(1, Self.listening).framed() + leave(2))
        guard case .success(.listening(let spsm)) = try client.end(of: 1) else {
            Issue.record("nobody listens")
            return
        }
        #expect(try client.end(of: 2) == .success(.done))
        let stop = HostCommand.channel(.stopListening(spsm: spsm))
        #expect(log.commands.contains(stop))
    }

    @Test("a channel that is accepted for a tool that is gone is closed")
    func channelOfTheLost() throws {
        let log = CommandLog()
        let stage = try DaemonStage { $0.adapter.recorder = log }
        stage.withDaemon { daemon in
            // Nobody has this number.
            let client = ConnectionID(rawValue: 8).client
            daemon.withCore { core in core.handle(.channel(.opened(Self.channel, client))) }
        }
        let close = HostCommand.channel(.close(Self.channel.id))
        #expect(log.commands.contains(close))
    }

    @Test("a channel that is accepted for a tool stays open, unless the tool has left and listens there no more")
    func channelOfTheLeaving() throws {
        let log = CommandLog()
        let stage = try DaemonStage { $0.adapter.recorder = log }
        let client = try stage.connect()
        #expect(try client.isWelcome())
        let close = HostCommand.channel(.close(Self.channel.id))
        stage.withDaemon { daemon in
            daemon.withCore { core in
                core.handle(.channel(.opened(Self.channel, core.connections.all[0].id.client)))
            }
        }
        #expect(!log.commands.contains(close))
        let pending = stage.withDaemon { daemon in
            let none: Set<OperationID> = []
            return daemon.withCore { core in
                let connection = core.connections.all[0]
                connection.tool?.leaving = (OperationID(rawValue: 1), none)
                core.handle(.channel(.opened(Self.channel, connection.id.client)))
                return connection.tool?.leaving?.pending.count
            }
        }
        #expect(log.commands.contains(close) && pending == 1)
    }
}
