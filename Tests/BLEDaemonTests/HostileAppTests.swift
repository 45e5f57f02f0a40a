import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import Foundation
import Testing

@testable import BLEDaemon

@Suite("Hostile apps of a daemon harm themselves alone")
struct HostileAppTests {
    /// One request of each kind.
    private static let requests: [ClientRequest] = {
        let peer = PeerIdentifier(high: 1, low: 2)
        let uuid = BluetoothUUID(UInt16(0x180D))
        let remote = RemoteAttributeID(rawValue: 3)
        let characteristic = LocalCharacteristic(
            id: LocalAttributeID(rawValue: 2), uuid: uuid, properties: 0x1A, permissions: 3,
            descriptors: [LocalDescriptor(id: LocalAttributeID(rawValue: 3), uuid: uuid, value: [1])])
        let service = LocalService(id: LocalAttributeID(rawValue: 1), uuid: uuid, characteristics: [characteristic])
        let central: [CentralManagerRequest] = [
            .scan(ScanOptions(services: [uuid], allowsDuplicates: true)), .stopScan, .connect(peer, ConnectOptions()),
            .cancelConnection(peer), .letGo(peer), .retrievePeripherals(QueryID(rawValue: 1), [peer]),
            .retrieveConnectedPeripherals(QueryID(rawValue: 2), services: [uuid]),
            .registerForConnectionEvents(ConnectionEventFilter(peripherals: [peer], services: [uuid])),
            .registerForConnectionEvents(nil),
        ]
        let ofPeer: [PeripheralRequest] = [
            .discoverServices([uuid]), .discoverIncludedServices([uuid], service: remote),
            .discoverCharacteristics([], service: remote), .discoverDescriptors(characteristic: remote),
            .readValue(characteristic: remote), .readDescriptor(remote), .writeValue([1, 2], characteristic: remote),
            .writeWithoutResponse([3], characteristic: remote), .writeDescriptor([4], remote),
            .setNotify(true, characteristic: remote), .readRSSI, .openChannel(psm: 0x80),
        ]
        let peripheral: [PeripheralManagerRequest] = [
            .addService(service), .startAdvertising(AdvertisementRequest(localName: "x", serviceUUIDs: [uuid])),
            .updateValue(QueryID(rawValue: 3), characteristic.id, value: [1], centrals: [peer]),
            .respond(ATTRequestID(rawValue: 1), code: 0, value: [1]), .setConnectionLatency(.low, central: peer),
            .publishChannel(isEncrypted: true), .unpublishChannel(psm: 0x80), .stopAdvertising,
            .removeService(service.id), .removeAllServices,
        ]
        let channels: [ChannelRequest] = [.send([1, 2]), .received(count: 5), .close]
        return central.map { .central($0) } + ofPeer.map { .central(.peripheral(peer, $0)) }
            + peripheral.map { .peripheral($0) } + channels.map { .channel(L2CAPChannelID(rawValue: 1), $0) }
            + [.createCentral(ManagerOptions(restoreIdentifier: "x")), .createPeripheral(ManagerOptions()), .release]
            + [OverflowSetting.off, .on, .company(0xFFFF)].map { .createPeripheral(ManagerOptions(overflow: $0)) }
    }()

    @Test("what a manager asks for, and is told, is the same on both sides of the socket")
    func roundTrip() throws {
        for request in Self.requests {
            let message = AppRequest(request, from: ManagerID(rawValue: 7), number: 3)
            #expect(try AppRequest(octets: message.encoded()[...]) == message)
        }
    }

    @Test("15,000 mutated requests of apps, taken in by the life of apps, end in refusals or answers, never in a trap")
    func mutatedRequests() throws {
        var generator = Mutations(state: 11)
        let limits = ClientLimits()
        var information = ControllerInformation()
        information.aclDataLength = 251
        information.aclDataCount = 8
        var taken = 0
        for round in 0..<300 * Mutations.repetitions {
            var life = AppLifecycle(seed: (0..<32).map { UInt8($0) })
            let app = AppID(rawValue: "app")
            life.declare(AppManifest(app: app, backgroundModes: [.central, .peripheral]))
            life.launched(app, inForeground: round % 2 == 0, at: .zero)
            life.receive(.ready(information), at: .zero)
            var session = Self.session(of: app, limits)
            var operation: UInt64 = 0
            for _ in 0..<50 {
                let request = Self.requests[generator.next(Self.requests.count)]
                var manager: UInt32 = 1
                if case .peripheral = request { manager = 2 }
                let message = AppRequest(request, from: ManagerID(rawValue: manager), number: 1)
                var frame = FromClient.appRequest(message).framed()
                for _ in 0..<generator.next(3) {
                    frame[4 + generator.next(frame.count - 4)] = UInt8(truncatingIfNeeded: generator.next(256))
                }
                session.receive(frame.span.bytes)
                while let output = session.nextOutput() {
                    if case .close = output { session = Self.session(of: app, limits) }
                    guard case .request(let request, let manager, _) = output else { continue }
                    taken += 1
                    life.receive(request, from: manager, of: app, at: .zero)
                    while let output = life.nextOutput() {
                        switch output {
                        case .submit(_, _, let token):
                            operation += 1
                            life.submitted(token, as: OperationID(rawValue: operation))
                        case .event(let event, let manager, _): session.tell(event, to: manager, waiting: 0)
                        default: break
                        }
                    }
                }
            }
            life.ended(app, .exited, at: .zero)
        }
        #expect(taken > 10_000)
    }

    /// With two managers.
    private static func session(of app: AppID, _ limits: ClientLimits) -> AppSession {
        var session = AppSession(
            app: app, isOperator: false, limits: limits, frames: FrameReader(limit: limits.messageOctets))
        for number in 1...2 as ClosedRange<UInt32> {
            let message = AppRequest(
                number == 1 ? .createCentral(ManagerOptions()) : .createPeripheral(ManagerOptions()),
                from: ManagerID(rawValue: number))
            session.receive(FromClient.appRequest(message).framed().span.bytes)
        }
        return session
    }

    @Test("an app cannot give back more than it was told")
    func returnsTooMuch() throws {
        let manager = ManagerID(rawValue: 1)
        var session = AppSession(
            app: AppID(rawValue: "app"), isOperator: false, limits: ClientLimits(), frames: FrameReader(limit: 1024))
        let create = AppRequest(.createCentral(ManagerOptions()), from: manager)
        session.receive(FromClient.appRequest(create).framed().span.bytes)
        while session.nextOutput() != nil {}
        session.tell(.eventsLost(count: 1), to: manager, waiting: 0)
        session.tell(.eventsLost(count: 2), to: manager, waiting: 0)
        let back = FromClient.appReturned(manager, events: Int(UInt32.max))
        session.receive((back.framed() + back.framed()).span.bytes)
        var returned: [(Int, Int)] = []
        while let output = session.nextOutput() {
            if case .returned(_, let events, let octets) = output { returned.append((events, octets)) }
        }
        #expect(returned.count == 1)
        #expect(returned.first?.0 == 2)
        #expect(returned.first?.1 == 2 * ClientEvent.eventsLost(count: 1).approximateOctets)
        // What gave nothing back counts as a request.
        #expect(session.takeAcknowledgements() == 1)
        #expect(session.takeAcknowledgements() == 0)
    }

    @Test("an app that gives back no event, again and again, asks for as much as with any other request")
    func returnsNothing() throws {
        let manager = ManagerID(rawValue: 1)
        var session = Self.session(of: AppID(rawValue: "app"), ClientLimits())
        while session.nextOutput() != nil {}
        for count in 1...2 { session.tell(.eventsLost(count: count), to: manager, waiting: 0) }
        while session.nextOutput() != nil {}
        func giveBack(_ events: Int, times: Int) -> Int {
            let frame = FromClient.appReturned(manager, events: events).framed()
            for _ in 0..<times { session.receive(frame.span.bytes) }
            var taken = 0
            while let output = session.nextOutput() {
                if case .returned(_, let events, _) = output { taken += events }
            }
            return taken
        }
        #expect(giveBack(0, times: 100) == 0)
        #expect(session.takeAcknowledgements() == 0)
        #expect(session.unhandledEvents(of: manager) == 2)
        // As many messages as events are no requests, and no more.
        #expect(giveBack(1, times: 5) == 2)
        #expect(session.takeAcknowledgements() == 2)
    }

    @Test("a discovery overtakes nothing that the app was told before, and is handled like it")
    func discoveries() throws {
        let manager = ManagerID(rawValue: 1)
        var session = Self.session(of: AppID(rawValue: "app"), ClientLimits())
        while session.nextOutput() != nil {}
        #expect(session.mayBeTold)
        session.tell(.eventsLost(count: 1), to: manager, waiting: 0)
        #expect(!session.mayBeTold)
        while session.nextOutput() != nil {}
        #expect(session.mayBeTold)
        let peripheral = PeripheralDescription(
            identifier: PeerIdentifier(high: 1, low: 2), name: nil, state: .disconnected)
        let discovery = ClientEvent.discovered(peripheral, AdvertisementContent(), rssi: -60)
        session.count(octets: discovery.approximateOctets, for: manager)
        session.count(octets: discovery.approximateOctets, for: ManagerID(rawValue: 77))
        #expect(session.unhandledCount == 2)
        session.refuse(.stuck, "")
        #expect(!session.mayBeTold)
    }
}
