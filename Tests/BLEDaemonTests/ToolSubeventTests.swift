import BLEHost
import BLEMessages
import BLEPackets
import Foundation
import Testing

@testable import BLEDaemon

@Suite("Trains with responses of a tool")
struct ToolSubeventTests {
    private static let client = ToolStage.client
    private static let fault = HostFailure.invalidRequest(.subevents)
    private static let advertiser = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)

    private static var set: AdvertisingSetRequest {
        var set = AdvertisingSetRequest(data: [2, 1, 6])
        set.train = PeriodicAdvertising(data: [], interval: .milliseconds(500))
        set.train?.subevents = PeriodicSubevents(
            count: 128, interval: 6, responseSlotDelay: 3, responseSlotSpacing: 2, responseSlotCount: 7)
        return set
    }

    private static var follow: PeriodicSyncRequest {
        var train = PeriodicSyncRequest([.init(address: advertiser, identifier: 5)])
        train.options.subevents = [0, 127]
        return train
    }

    @Test("requests and events arrive as they were sent, and need a daemon that knows them")
    func roundTrips() throws {
        let operation = OperationID(rawValue: 4)
        let commands: [HostCommand] = [
            .radio(.advertiseSet(Self.set)), .radio(.changeAdvertisingSet(operation, Self.set)),
            .radio(.followPeriodicAdvertising(Self.follow)),
            .radio(
                .receivePeriodicSyncs(
                    LinkID(handle: ConnectionHandle(rawValue: 64), generation: 3), Self.follow.options)),
            .radio(
                .sendSubevents(
                    [
                        SubeventData(subevent: 127, firstResponseSlot: 1, responseSlotCount: 6, data: [1, 2]),
                        SubeventData(subevent: 0, data: []),
                    ], of: operation)),
            .radio(
                .respondInPeriodicAdvertising(
                    PeriodicResponse(toEvent: 0xFFFF, subevent: 1, in: 2, slot: 255, data: [9]), in: operation)),
        ]
        for command in commands {
            let message = FromClient.request(1, command)
            #expect(try FromClient(octets: message.encoded()[...]) == message)
            #expect(message.revision == 3)
        }
        let responses = [
            SlotResponse(subevent: 127, slot: 255, data: [], isTruncated: true, rssi: -90, txPower: -4),
            SlotResponse(subevent: 0, slot: 0, data: nil, followsData: false),
        ]
        for event in responses.map(AdvertisingSetEvent.response) + [.dataRequested(firstSubevent: 126, count: 5)] {
            let message = FromDaemon.advertisingSet(operation, event, dropped: 7)
            #expect(try FromDaemon(octets: message.encoded()[...]) == message)
        }
        var report = PeriodicSyncReport(
            advertiser: Self.advertiser, identifier: 5, data: [1], isTruncated: false, rssi: -40, txPower: nil,
            event: 7, subevent: 3, time: .zero)
        let found = PeriodicSyncInformation(
            advertiser: Self.advertiser, identifier: 5, phy: .le1M, interval: .milliseconds(500), serviceData: nil,
            subevents: PeriodicSubevents(count: 2, interval: 9, responseSlotDelay: 1, responseSlotSpacing: 2))
        var events: [PeriodicSyncEvent] = [.synchronized(found), .report(report)]
        (report.event, report.subevent) = (0, 0)
        events.append(.report(report))
        for event in events {
            let message = FromDaemon.train(operation, event, dropped: 0)
            #expect(try FromDaemon(octets: message.encoded()[...]) == message)
        }
        let failed = FromDaemon.completed(operation, .failure(.invalidRequest(.subevents)))
        #expect(try FromDaemon(octets: failed.encoded()[...]) == failed)
    }

    @Test("a client sends the subevents of its own sets alone, and responds in trains that it follows")
    func strangers() throws {
        var stage = ToolStage()
        func data(_ set: UInt64) -> HostCommand {
            .radio(.sendSubevents([.init(subevent: 0, data: [1])], of: .init(rawValue: set)))
        }
        func response(_ train: UInt64) -> HostCommand {
            .radio(
                .respondInPeriodicAdvertising(
                    .init(toEvent: 1, subevent: 0, slot: 0, data: [1]), in: .init(rawValue: train)))
        }
        let scan = stage.request(.radio(.scan(ScanRequest(isActive: true))))
        for target in [scan, 99, 0] {
            let sent = stage.request(data(target))
            let answered = stage.request(response(target))
            #expect(stage.failures[sent] == Self.fault && stage.failures[answered] == Self.fault)
        }
        let set = stage.request(.radio(.advertiseSet(Self.set)))
        let train = stage.request(.radio(.followPeriodicAdvertising(Self.follow)))
        stage.request(data(set))
        stage.request(response(train))
        // Neither is for the other kind.
        let crossed = [stage.request(data(train)), stage.request(response(set))]
        #expect(crossed.allSatisfy { stage.failures[$0] == Self.fault })
        let engine = { (number: UInt64) in OperationID(rawValue: 1000 + number) }
        #expect(
            stage.submitted.suffix(2) == [
                .radio(.sendSubevents([.init(subevent: 0, data: [1])], of: engine(set))),
                .radio(
                    .respondInPeriodicAdvertising(.init(toEvent: 1, subevent: 0, slot: 0, data: [1]), in: engine(train))
                ),
            ])
        // Once the set has ended, it is nobody's.
        stage.session.hear(.completed(engine(set), .success(.done)), waiting: 0)
        let late = stage.request(data(set))
        #expect(stage.failures[late] == Self.fault)
    }

    @Test("numbers that no train has end the connection")
    func hostileNumbers() {
        let (subevents, response): (UInt64, UInt64) = (60, 61)
        let hostile: [[UInt8]] = [
            RawMessage.field(subevents, RawMessage.field(2, RawMessage.field(1, 256))),
            RawMessage.field(subevents, RawMessage.field(2, RawMessage.field(3, UInt64(UInt32.max)))),
            RawMessage.field(response, RawMessage.field(2, 0x1_0000)),
            RawMessage.field(response, RawMessage.field(5, 256)),
            RawMessage.field(response, RawMessage.field(4, UInt64(UInt32.max))),
        ]
        for content in hostile {
            var stage = ToolStage()
            stage.request(raw: content)
            #expect(stage.submitted.isEmpty && stage.session.hasEnded)
        }
    }

    @Test("responses and requests for data are dropped and counted for a client that does not read; states are not")
    func slowClient() throws {
        var stage = ToolStage()
        let set = stage.request(.radio(.advertiseSet(Self.set)))
        let operation = OperationID(rawValue: 1000 + set)
        let full = ClientLimits().waitingDiscoveryOctets
        stage.sent = []
        let response = AdvertisingSetEvent.response(SlotResponse(subevent: 1, slot: 2, data: [3]))
        for _ in 0..<10_000 {
            stage.session.hear(.advertisingSet(operation, Self.client, response), waiting: full)
            stage.session.hear(
                .advertisingSet(operation, Self.client, .dataRequested(firstSubevent: 0, count: 2)), waiting: full)
        }
        stage.pump()
        #expect(stage.sent.isEmpty && !stage.session.hasEnded)
        stage.session.hear(.advertisingSet(operation, Self.client, .stopped), waiting: full)
        stage.session.hear(.advertisingSet(operation, Self.client, response), waiting: 0)
        stage.pump()
        #expect(
            stage.sent == [
                .advertisingSet(OperationID(rawValue: set), .stopped, dropped: 20_000),
                .advertisingSet(OperationID(rawValue: set), response, dropped: 0),
            ])
    }
}
