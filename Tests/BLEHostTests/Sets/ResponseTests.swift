import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

/// Periodic advertising with responses between simulated controllers.
@Suite("Periodic trains with responses")
struct ResponseTests {
    /// Four subevents of 25 ms, each with eight slots of 2 ms from 7.5 ms on.
    static let layout = PeriodicSubevents(
        count: 4, interval: 20, responseSlotDelay: 6, responseSlotSpacing: 16, responseSlotCount: 8)

    static func set(_ subevents: PeriodicSubevents = layout) -> AdvertisingSetRequest {
        var request = TrainTests.train(1)
        request.train = PeriodicAdvertising(interval: .milliseconds(100))
        request.train?.subevents = subevents
        return request
    }

    static func responses(_ host: HostStation, of operation: OperationID) -> [SlotResponse] {
        AdvertisingSetTests.events(host, of: operation).compactMap {
            if case .response(let response) = $0 { response } else { nil }
        }
    }

    /// Gives each subevent that is asked for its number as data, and opens all slots.
    static func serve(_ host: HostStation, length: Int = 1, slots: UInt8 = 8) {
        host.react = { event in
            guard case .advertisingSet(let set, _, .dataRequested(let first, let count)) = event else { return nil }
            let subevents = (0..<count).map { offset in
                let number = (first + offset) % 4
                return SubeventData(
                    subevent: number, responseSlotCount: slots, data: Array(repeating: number, count: length))
            }
            return .radio(.sendSubevents(subevents, of: set))
        }
    }

    /// Responds to each report.
    static func respond(_ host: HostStation, slot: UInt8, data: [UInt8]) {
        host.react = { event in
            guard case .train(let train, _, .report(let report)) = event, let event = report.event,
                let subevent = report.subevent
            else { return nil }
            return .radio(
                .respondInPeriodicAdvertising(
                    PeriodicResponse(toEvent: event, subevent: subevent, slot: slot, data: data), in: train))
        }
    }

    @Test("data of every subevent are asked for, given and received; two devices respond in their slots")
    func bothWays() throws {
        let world = World(hosts: 3)
        let (sender, first, second) = (world.hosts[0], world.hosts[1], world.hosts[2])
        Self.serve(sender)
        Self.respond(first, slot: 2, data: [0xAA])
        Self.respond(second, slot: 7, data: Array(repeating: 0xBB, count: 247))
        let sent = sender.submit(.radio(.advertiseSet(Self.set())))
        let whole = first.submit(.radio(.followPeriodicAdvertising(TrainTests.request(sender))))
        let part = second.submit(
            .radio(.followPeriodicAdvertising(TrainTests.request(sender) { $0.options.subevents = [1, 3] })))
        #expect(
            world.run(for: .seconds(10)) {
                TrainTests.reports(first, of: whole).count >= 40 && TrainTests.reports(second, of: part).count >= 20
            })
        guard case .synchronized(let information)? = TrainTests.events(first, of: whole).first else {
            Issue.record("not synchronized")
            return
        }
        #expect(
            information.subevents
                == PeriodicSubevents(count: 4, interval: 20, responseSlotDelay: 6, responseSlotSpacing: 16))
        let reports = TrainTests.reports(first, of: whole)
        #expect(Set(reports.map(\.subevent)) == [0, 1, 2, 3])
        #expect(reports.allSatisfy { $0.data == [$0.subevent ?? 0xFF] && $0.event != nil })
        #expect(Set(TrainTests.reports(second, of: part).map(\.subevent)) == [1, 3])
        let responses = Self.responses(sender, of: sent)
        #expect(responses.filter { $0.slot == 2 }.count >= 38)
        #expect(responses.filter { $0.slot == 2 }.allSatisfy { $0.data == [0xAA] && $0.followsData })
        // 247 octets come in two parts.
        let long = responses.filter { $0.slot == 7 }
        #expect(long.count >= 18 && long.allSatisfy { $0.data?.count == 247 && !$0.isTruncated })
        #expect(Set(long.map(\.subevent)) == [1, 3])
        for host in world.hosts { #expect(host.air.statistics(of: host.controller).rejections.isEmpty) }
        // All of them end.
        sender.submit(.cancel(sent))
        first.submit(.cancel(whole))
        second.submit(.cancel(part))
        for host in world.hosts { host.forget() }
        world.run(for: .seconds(5))
        // Only answers that were under way may still have come.
        for host in world.hosts {
            #expect(
                host.events.allSatisfy {
                    if case .completed(_, .success(.done)) = $0 { true } else { false }
                })
        }
    }

    @Test("devices that respond in one slot make each other unreadable, which is reported")
    func collision() {
        let world = World(hosts: 3)
        let sender = world.hosts[0]
        Self.serve(sender)
        for host in world.hosts.dropFirst() { Self.respond(host, slot: 0, data: [1]) }
        let sent = sender.submit(.radio(.advertiseSet(Self.set())))
        for host in world.hosts.dropFirst() {
            host.submit(.radio(.followPeriodicAdvertising(TrainTests.request(sender))))
        }
        #expect(world.run(for: .seconds(10)) { Self.responses(sender, of: sent).contains { $0.data == nil } })
    }

    @Test("slots that the data do not open are not listened in; a response after its slot is too late")
    func slots() throws {
        let world = World(hosts: 2)
        let (sender, receiver) = (world.hosts[0], world.hosts[1])
        Self.serve(sender, slots: 2)
        Self.respond(receiver, slot: 2, data: [1])
        let sent = sender.submit(.radio(.advertiseSet(Self.set())))
        let followed = receiver.submit(.radio(.followPeriodicAdvertising(TrainTests.request(sender))))
        #expect(world.run(for: .seconds(10)) { TrainTests.reports(receiver, of: followed).count >= 20 })
        #expect(Self.responses(sender, of: sent).isEmpty)
        receiver.react = { _ in nil }
        world.run(for: .milliseconds(10))
        let report = try #require(TrainTests.reports(receiver, of: followed).first)
        let event = try #require(report.event)
        let late = PeriodicResponse(toEvent: event, subevent: report.subevent ?? 0, slot: 0, data: [1])
        #expect(
            receiver.result(of: .radio(.respondInPeriodicAdvertising(late, in: followed)))
                == .failure(.controller(.tooLate, LESetPeriodicAdvertisingResponseData.opcode)))
    }

    @Test("two clients on one device share the train: each gets the subevents that it wants")
    func shares() {
        let world = World(hosts: 2)
        let (sender, receiver) = (world.hosts[0], world.hosts[1])
        Self.serve(sender, length: 59)
        sender.submit(.radio(.advertiseSet(Self.set())))
        let one = receiver.submit(
            .radio(.followPeriodicAdvertising(TrainTests.request(sender) { $0.options.subevents = [0] })))
        #expect(world.run(for: .seconds(10)) { !TrainTests.reports(receiver, of: one).isEmpty })
        let other = receiver.submit(
            .radio(.followPeriodicAdvertising(TrainTests.request(sender) { $0.options.subevents = [2, 9] })),
            from: ClientID(rawValue: 2))
        #expect(world.run(for: .seconds(10)) { TrainTests.reports(receiver, of: other).count > 5 })
        #expect(TrainTests.reports(receiver, of: one).allSatisfy { $0.subevent == 0 && $0.data.count == 59 })
        #expect(TrainTests.reports(receiver, of: other).allSatisfy { $0.subevent == 2 && $0.data.count == 59 })
        // A subevent that the train does not have cannot be followed alone.
        let wrong = receiver.submit(
            .radio(.followPeriodicAdvertising(TrainTests.request(sender) { $0.options.subevents = [7] })),
            from: ClientID(rawValue: 3))
        world.run(for: .seconds(1))
        #expect(receiver.results(of: wrong) == [.failure(.invalidRequest(.subevents))])
        receiver.submit(.cancel(one))
        receiver.forget()
        world.run(for: .seconds(1))
        #expect(TrainTests.reports(receiver, of: other).count > 5)
        #expect(receiver.air.statistics(of: receiver.controller).rejections.isEmpty)
    }

    @Test("whole events are skipped: of the others, each chosen subevent is reported (Core 5.4, Vol 4, Part E, 7.8.67)")
    func skips() {
        let world = World(hosts: 2)
        let (sender, receiver) = (world.hosts[0], world.hosts[1])
        Self.serve(sender)
        sender.submit(.radio(.advertiseSet(Self.set())))
        let request = TrainTests.request(sender) {
            $0.options.skip = 2
            $0.options.subevents = [0, 1, 3]
        }
        let followed = receiver.submit(.radio(.followPeriodicAdvertising(request)))
        #expect(world.run(for: .seconds(20)) { TrainTests.reports(receiver, of: followed).count >= 30 })
        let reports = TrainTests.reports(receiver, of: followed)
        var events: [UInt16] = []
        for case let event? in reports.map(\.event) where events.last != event { events.append(event) }
        // The first one may have begun before the subevents were chosen, and the last one may not be over.
        let whole = events.dropFirst().dropLast()
        #expect(whole.count >= 8)
        for event in whole { #expect(reports.filter { $0.event == event }.map(\.subevent) == [0, 1, 3]) }
        #expect(zip(whole, whole.dropFirst()).allSatisfy { $1 &- $0 == 3 }, "\(events)")
    }

    @Test("a train whose data do not come is lost, and found again when they do")
    func silence() {
        let world = World(hosts: 2)
        let (sender, receiver) = (world.hosts[0], world.hosts[1])
        Self.serve(sender)
        sender.submit(.radio(.advertiseSet(Self.set())))
        let followed = receiver.submit(
            .radio(.followPeriodicAdvertising(TrainTests.request(sender) { $0.options.timeout = .milliseconds(1000) })))
        #expect(world.run(for: .seconds(10)) { !TrainTests.reports(receiver, of: followed).isEmpty })
        sender.react = { _ in nil }
        #expect(
            world.run(for: .seconds(10)) {
                TrainTests.events(receiver, of: followed).last == .lost(advertiser: sender.address, identifier: 3)
            })
        receiver.forget()
        Self.serve(sender)
        #expect(world.run(for: .seconds(10)) { !TrainTests.reports(receiver, of: followed).isEmpty })
    }

    @Test("a train with responses is transferred over a link, and responses come from there")
    func transfer() throws {
        let world = World(hosts: 2)
        let (sender, watch) = (world.hosts[0], world.hosts[1])
        Self.serve(sender)
        Self.respond(watch, slot: 1, data: [9])
        let sent = sender.submit(.radio(.advertiseSet(Self.set())))
        sender.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Sender", serviceUUIDs: [])))))
        let link = try #require(watch.connect(sender.address))
        let received = watch.submit(.radio(.receivePeriodicSyncs(link, PeriodicSyncSettings())))
        let toWatch = try #require(sender.centrals.last)
        #expect(
            sender.result(of: .radio(.transferPeriodicSync(sent, to: toWatch.id, serviceData: 5))) == .success(.done))
        #expect(world.run(for: .seconds(10)) { Self.responses(sender, of: sent).contains { $0.data == [9] } })
        guard case .synchronized(let information)? = TrainTests.events(watch, of: received).first else {
            Issue.record("not synchronized")
            return
        }
        #expect(information.subevents?.count == 4 && information.serviceData == 5)
    }

    @Test("who takes what a peer transfers does without a train that lacks its subevents, and keeps the others")
    func transferOfOthers() throws {
        let world = World(hosts: 2)
        let (sender, watch) = (world.hosts[0], world.hosts[1])
        Self.serve(sender)
        let right = sender.submit(.radio(.advertiseSet(Self.set())))
        var short = Self.layout
        short.count = 2
        var other = Self.set(short)
        other.identifier = 2
        let wrong = sender.submit(.radio(.advertiseSet(other)))
        sender.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Sender", serviceUUIDs: [])))))
        let link = try #require(watch.connect(sender.address))
        var options = PeriodicSyncSettings()
        options.subevents = [3]
        let received = watch.submit(.radio(.receivePeriodicSyncs(link, options)))
        let toWatch = try #require(sender.centrals.last)
        for set in [right, wrong] {
            #expect(
                sender.result(of: .radio(.transferPeriodicSync(set, to: toWatch.id, serviceData: 5))) == .success(.done)
            )
            #expect(
                world.run(for: .seconds(10)) {
                    TrainTests.events(watch, of: received).contains {
                        if case .synchronized(let train) = $0 {
                            train.identifier == (set == right ? 3 : 2)
                        } else {
                            false
                        }
                    }
                })
        }
        world.run(for: .seconds(1))
        let lost = TrainTests.events(watch, of: received).compactMap { event -> UInt8? in
            if case .lost(_, let identifier) = event { identifier } else { nil }
        }
        #expect(lost == [2])
        let before = TrainTests.reports(watch, of: received).count
        #expect(world.run(for: .seconds(10)) { TrainTests.reports(watch, of: received).count > before + 5 })
        #expect(TrainTests.reports(watch, of: received).allSatisfy { $0.identifier == 3 && $0.subevent == 3 })
    }

    @Test("a controller without the features refuses both roles, and follows ordinary trains as before")
    func unsupported() {
        let features = SimulatedControllerConfiguration.allFeatures.subtracting([
            .periodicAdvertisingWithResponsesAdvertiser, .periodicAdvertisingWithResponsesScanner,
        ])
        let world = World()
        let old = HostStation(
            world,
            controller: SimulatedControllerConfiguration(
                publicAddress: DeviceAddress(value: 0x00AA_0100_0077, kind: .public), features: features))
        old.start()
        let sender = HostStation(world)
        sender.start()
        let refused = old.submit(.radio(.advertiseSet(Self.set())))
        let wish = TrainTests.request(sender) { $0.options.subevents = [0] }
        let blind = old.submit(.radio(.followPeriodicAdvertising(wish)))
        world.run(for: .seconds(1))
        #expect(
            old.results(of: refused) == [
                .failure(
                    .controller(.unsupportedFeatureOrParameterValue, LESetPeriodicAdvertisingParametersV2.opcode))
            ])
        #expect(
            old.results(of: blind) == [
                .failure(.controller(.unsupportedFeatureOrParameterValue, LESetPeriodicSyncSubevent.opcode))
            ])
        sender.submit(.radio(.advertiseSet(TrainTests.train(4))))
        let plain = old.submit(.radio(.followPeriodicAdvertising(TrainTests.request(sender))))
        #expect(world.run(for: .seconds(10)) { TrainTests.reports(old, of: plain).count > 3 })
        #expect(TrainTests.reports(old, of: plain).allSatisfy { $0.subevent == nil && $0.event == nil })
        #expect(old.air.statistics(of: old.controller).rejections.isEmpty)
    }

    @Test("layouts and wishes that contradict the specification are refused before a command is sent")
    func faults() {
        func fault(_ change: (inout PeriodicSubevents) -> Void, data: [UInt8] = []) -> AdvertisingSetRequest.Fault? {
            var layout = Self.layout
            change(&layout)
            var request = Self.set(layout)
            request.train?.data = data
            return request.fault
        }
        #expect(fault { _ in } == nil)
        #expect(fault { $0 = PeriodicSubevents(count: 1) } == nil)
        #expect(fault { $0.count = 0 } == .subevents)
        #expect(fault { $0.count = 129 } == .subevents)
        #expect(fault { $0.interval = 5 } == .subevents)
        #expect(fault { $0.interval = 21 } == .subevents)
        #expect(fault { $0.responseSlotDelay = 20 } == .subevents)
        #expect(fault { $0.responseSlotDelay = 0 } == .subevents)
        #expect(fault { $0.responseSlotSpacing = 1 } == .subevents)
        #expect(fault { $0.responseSlotSpacing = 18 } == .subevents)
        #expect(fault { $0.responseSlotCount = 0 } == .subevents)
        #expect(fault({ _ in }, data: [1]) == .subevents)
        var options = PeriodicSyncSettings()
        options.subevents = []
        #expect(!options.isValid)
        options.subevents = [128]
        #expect(!options.isValid)
        options.subevents = Array(0..<128)
        #expect(options.isValid)
    }
}
