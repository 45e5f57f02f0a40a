import BLEHost
import BLEMessages
import BLEPackets
import Foundation
import Testing

@testable import BLEDaemon

@Suite("Sets, trains and the controller of a tool")
struct ToolRadioTests {
    private static let client = ToolStage.client
    private static let notPermitted = HostFailure.invalidRequest(.notPermitted)
    private static let notAvailable = HostFailure.invalidRequest(.notAvailableOnSharedController)

    @Test("of a thousand scans a client gets eight, and another one when one has ended")
    func manyScans() {
        var stage = ToolStage()
        for _ in 0..<1000 { stage.request(.radio(.scan(ScanRequest(allowsDuplicates: true)))) }
        #expect(stage.submitted.count == 8)
        #expect(stage.failures.count == 992 && stage.failures.values.allSatisfy { $0 == .limitReached })
        stage.session.hear(.completed(OperationID(rawValue: 1002), .failure(.cancelled)), waiting: 0)
        stage.request(.radio(.scan(ScanRequest(isActive: true))))
        #expect(stage.submitted.count == 9)
    }

    @Test("a request names at most 512 UUIDs: what is found is compared with all of them")
    func manyUUIDs() {
        let uuids = (0..<513 as Range<UInt16>).map { BluetoothUUID($0) }
        var stage = ToolStage()
        stage.request(.radio(.scan(ScanRequest(serviceUUIDs: uuids.dropLast()))))
        #expect(stage.submitted.count == 1 && !stage.session.hasEnded)
        var scan = ScanRequest()
        scan.solicitedServiceUUIDs = uuids
        stage.request(.radio(.scan(scan)))
        #expect(stage.submitted.count == 1 && stage.session.hasEnded)
        var second = ToolStage()
        second.request(.radio(.scan(ScanRequest(serviceUUIDs: uuids))))
        #expect(second.submitted.isEmpty && second.session.hasEnded)
    }

    @Test("of a thousand sets a client gets four; a new one when one has ended, and all end with it")
    func manySets() {
        var stage = ToolStage()
        let advertise = HostCommand.radio(.advertiseSet(AdvertisingSetRequest(data: [2, 1, 6])))
        for _ in 0..<1000 { stage.request(advertise) }
        #expect(stage.submitted.count == 4)
        // Requests that are under way come first: the others are refused, each once.
        #expect(stage.failures.count == 996 && stage.failures.values.allSatisfy { $0 == .limitReached })
        stage.session.hear(.completed(OperationID(rawValue: 1002), .failure(.cancelled)), waiting: 0)
        stage.request(advertise)
        #expect(stage.submitted.count == 5)
        let ended: [HostCommand] = stage.session.left()
        for operation in [1001, 1003, 1004, 2001] as [UInt64] {
            #expect(ended.contains(.cancel(OperationID(rawValue: operation))))
        }
    }

    @Test("a client knows only its own sets and trains, and transfers them on its own links alone")
    func strangers() {
        var stage = ToolStage()
        let link = LinkID(handle: ConnectionHandle(rawValue: 1), generation: 0)
        let (set, none) = (AdvertisingSetRequest(data: []), OperationID(rawValue: 0))
        let change = stage.request(.radio(.changeAdvertisingSet(OperationID(rawValue: 99), set)))
        let transfer = stage.request(.radio(.transferPeriodicSync(none, to: link, serviceData: 0)))
        let receive = stage.request(.radio(.receivePeriodicSyncs(link, .init())))
        let procedure = stage.request(.link(link, .procedure(.readPHY)))
        #expect(stage.failures[change] == .cancelled)
        for number in [transfer, receive, procedure] { #expect(stage.failures[number] == .notConnected) }
        #expect(stage.submitted.isEmpty)
        // Events of another's operation are not for it.
        let other = OperationID(rawValue: 5000)
        stage.session.hear(.advertisingSet(other, Self.client, .stopped), waiting: 0)
        stage.session.hear(
            .train(other, Self.client, .lost(advertiser: DeviceAddress(value: 1, kind: .random), identifier: 1)),
            waiting: 0)
        stage.pump()
        #expect(
            stage.sent.allSatisfy {
                if case .completed = $0 { true } else if case .welcome = $0 { true } else { false }
            })
    }

    @Test("eight trains at most, of at most sixteen devices each; reports for a slow client are dropped and counted")
    func trains() throws {
        var stage = ToolStage()
        let address = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)
        let advertiser = PeriodicSyncRequest.Advertiser(address: address, identifier: 3)
        let long = stage.request(
            .radio(.followPeriodicAdvertising(PeriodicSyncRequest(Array(repeating: advertiser, count: 17)))))
        #expect(stage.failures[long] == .limitReached)
        for _ in 0..<10 { stage.request(.radio(.followPeriodicAdvertising(PeriodicSyncRequest([advertiser])))) }
        #expect(stage.submitted.count == 8 && stage.failures.count == 3)
        let report = PeriodicSyncEvent.report(
            PeriodicSyncReport(
                advertiser: address, identifier: 3, data: [1, 2, 3], isTruncated: false, rssi: -40, txPower: nil,
                time: .zero))
        let operation = OperationID(rawValue: 1002)
        for waiting in [1 << 20, 1 << 18, 0] {
            if waiting > ClientLimits().waitingOctets { continue }
            stage.session.hear(.train(operation, Self.client, report), waiting: waiting)
        }
        stage.pump()
        #expect(stage.sent.last == .train(OperationID(rawValue: 2), report, dropped: 1))
    }

    @Test("the controller can be asked, not changed; what may be about another's link is for operators")
    func questions() {
        var plain = ToolStage()
        func ask(_ opcode: UInt16, _ parameters: [UInt8] = []) -> HostCommand {
            .sendHCICommand(opcode: HCIOpcode(rawValue: opcode), parameters: parameters)
        }
        let use = HostCommand.radio(.classifyChannels(ChannelMap(rawValue: 0x3FF)))
        let version = plain.request(ask(0x1001))
        let sets = plain.request(ask(0x203B))
        let rssi = plain.request(ask(0x1405, [0x40, 0]))
        let reset = plain.request(ask(0x0C03))
        let channels = plain.request(use)
        #expect(plain.failures[version] == nil && plain.failures[sets] == nil)
        #expect(plain.failures[rssi] == Self.notPermitted && plain.failures[channels] == Self.notPermitted)
        #expect(plain.failures[reset] == Self.notAvailable && plain.submitted.count == 2)
        var person = ToolStage(isOperator: true)
        let allowed = person.request(ask(0x1405, [0x40, 0]))
        let vendor = person.request(ask(0xFC01))
        let few = person.request(use)
        #expect(person.failures[allowed] == nil && person.failures[few] == nil)
        #expect(person.failures[vendor] == Self.notAvailable && person.submitted.count == 2)
    }

    @Test("requests, results and events of sets, trains and links arrive as they were sent")
    func roundTrips() throws {
        let link = LinkID(handle: ConnectionHandle(rawValue: 64), generation: 3)
        let address = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)
        var set = AdvertisingSetRequest(data: [2, 1, 6])
        set.interval = .milliseconds(33)
        (set.primaryPHY, set.secondaryPHY) = (.leCoded, .leCoded)
        (set.address, set.identifier, set.transmitPower, set.maximumEvents) = (address, 5, -7, 9)
        (set.duration, set.resumesAfterConnection) = (.seconds(3), false)
        set.train = PeriodicAdvertising(data: [1, 2], interval: .milliseconds(200))
        var train = PeriodicSyncRequest([.init(address: address, identifier: 5)])
        train.options.skip = 3
        (train.scansCodedPHY, train.resumesAfterLoss) = (true, false)
        var connect = ConnectRequest(peer: address)
        (connect.phys, connect.pace, connect.enhancedBearers) = ([.le1M, .leCoded], .lowPower, 3)
        var scan = ScanRequest()
        (scan.scansCodedPHY, scan.includesUnresolvedTargets) = (true, true)
        scan.acceptList = [address]
        let procedures: [LinkProcedure] = [
            .readRSSI, .readRemoteVersion, .readRemoteFeatures, .setDataLength(octets: 251, microseconds: 2120),
            .readPHY,
            .setPHY(transmit: .le2M, receive: [.le1M, .le2M]),
            .setSubrate(SubrateParameters(minimumFactor: 1, maximumFactor: 4, supervisionTimeout: .milliseconds(4000))),
            .readTransmitPower(phy: .leCodedS2), .readRemoteTransmitPower(phy: .le1M),
            .reportTransmitPower(local: true, remote: false), .monitorPathLoss(zones: nil),
            .monitorPathLoss(zones: PathLossZones(low: 40, high: 60)),
            .monitorPathLoss(zones: PathLossZones(low: 9, high: nil)),
            .setAuthenticatedPayloadTimeout(.seconds(3)),
        ]
        var commands: [HostCommand] = [
            .radio(.advertiseSet(set)), .radio(.changeAdvertisingSet(OperationID(rawValue: 4), set)),
            .radio(.followPeriodicAdvertising(train)), .radio(.receivePeriodicSyncs(link, train.options)),
            .radio(.connect(connect)),
            .radio(.transferPeriodicSync(OperationID(rawValue: 4), to: link, serviceData: 7)), .radio(.scan(scan)),
            .radio(.classifyChannels(.all)),
            .sendHCICommand(opcode: HCIOpcode(rawValue: 0x1001), parameters: [1, 2]),
        ]
        commands += procedures.map { .link(link, .procedure($0)) }
        for command in commands {
            let message = FromClient.request(1, command)
            #expect(try FromClient(octets: message.encoded()[...]) == message)
        }
        let power = TransmitPower(phy: .le1M, level: -3, maximum: nil, isLeast: false, isGreatest: true)
        let results: [HostResult] = [
            .remoteVersion(RemoteVersion(version: 13, companyIdentifier: 2, subversion: 9)),
            .remoteFeatures(LEFeatures(rawValue: 0x1FF)), .phy(transmit: .le2M, receive: .leCoded),
            .dataLength(
                DataLength(
                    maxTransmitOctets: 251, maxTransmitMicroseconds: 2120, maxReceiveOctets: 27,
                    maxReceiveMicroseconds: 328)),
            .subrate(
                LinkSubrate(factor: 4, continuationNumber: 1, latency: 2, supervisionTimeout: .milliseconds(4000))),
            .transmitPower(power), .hciAnswer([0, 1, 2]),
        ]
        for result in results {
            let message = FromDaemon.completed(OperationID(rawValue: 1), .success(result))
            #expect(try FromDaemon(octets: message.encoded()[...]) == message)
        }
        let faults: [HostFailure.InvalidRequest] = [
            .train, .pathLossZones, .channelMap, .parametersTooLong, .advertisingSet(.tooMuchData),
            .advertisingSet(.train),
        ]
        for fault in faults {
            let message = FromDaemon.completed(OperationID(rawValue: 1), .failure(.invalidRequest(fault)))
            #expect(try FromDaemon(octets: message.encoded()[...]) == message)
        }
        let events: [HostEvent] = [
            .phyChanged(link, transmit: .le1M, receive: .le2M), .linkReport(link, .unauthenticated),
            .linkReport(link, .transmitPower(power, isPeers: true)),
            .linkReport(link, .transmitPower(power, isPeers: false)),
            .linkReport(link, .pathLoss(PathLoss(zone: .middle, decibels: nil))), .cleartextRefused(link, address),
        ]
        for event in events {
            let message = FromDaemon.event(event)
            #expect(try FromDaemon(octets: message.encoded()[...]) == message)
        }
    }

    @Test("a daemon that does not know lists of devices is not asked for a scan with one")
    func revisionOfLists() {
        var scan = ScanRequest()
        let operation = OperationID(rawValue: 1)
        #expect(FromClient.request(1, .radio(.scan(scan))).revision == 0)
        scan.acceptList = [DeviceAddress(value: 1, kind: .random)]
        #expect(FromClient.request(1, .radio(.scan(scan))).revision == 2)
        #expect(FromClient.request(1, .radio(.changeScan(operation, scan))).revision == 2)
    }

    @Test("a policy for what peripherals ask for crosses the socket, to daemons that know it")
    func parameterPolicies() throws {
        var connect = ConnectRequest(peer: DeviceAddress(value: 1, kind: .random))
        #expect(FromClient.request(1, .radio(.connect(connect))).revision == 0)
        let intervals = ConnectionInterval.milliseconds(15)...ConnectionInterval.milliseconds(50)
        let policies: [ParameterPolicy] = [
            .accept, .reject, .within(intervals, latency: 0),
            .within(
                intervals, latency: 499,
                supervisionTimeout: .milliseconds(2000)...SupervisionTimeout.milliseconds(6000)),
        ]
        for policy in policies {
            connect.parameterPolicy = policy
            let message = FromClient.request(1, .radio(.connect(connect)))
            #expect(message.revision == 3)
            #expect(try FromClient(octets: message.encoded()[...]) == message)
        }
    }

    @Test("the user for whom a service connects crosses the socket, without what a client may not say")
    func userOfConnection() throws {
        var connect = ConnectRequest(peer: DeviceAddress(value: 1, kind: .random))
        for user in [0, 1000, UInt32.max] {
            connect.user = ClientUser(user, isOperator: true)
            let message = FromClient.request(1, .radio(.connect(connect)))
            #expect(message.revision == 7)
            var read = connect
            read.user?.isOperator = false
            #expect(try FromClient(octets: message.encoded()[...]) == FromClient.request(1, .radio(.connect(read))))
        }
    }

    @Test("a policy whose bounds are none, or that a later revision has added, is refused")
    func brokenPolicies() {
        let within: [[UInt8]] = [
            RawMessage.field(1, 7), RawMessage.field(2, 0x10000), RawMessage.field(3, 0x10000), RawMessage.field(4, 7),
            RawMessage.field(5, .max),
        ]
        let peer = RawMessage.field(1, [0x09, 1, 0, 0, 0, 0, 0, 0, 0, 0x10, 1])
        for policy in [[]] + within.map({ RawMessage.field(3, $0) }) {
            var stage = ToolStage()
            stage.request(raw: RawMessage.field(4, peer + RawMessage.field(7, policy)))
            #expect(stage.submitted.isEmpty && stage.session.hasEnded)
        }
        var stage = ToolStage()
        stage.request(raw: RawMessage.field(4, peer))
        #expect(stage.submitted.count == 1)
    }
}
