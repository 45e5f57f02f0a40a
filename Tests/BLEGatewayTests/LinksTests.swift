import BLEGateway
import BLEHost
import BLEPackets
import Testing

/// Links that are shared: slots, owners, and the end of each operation.
@Suite struct LinksTests {
    private static let device = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)
    private static let others = (2...9).map { DeviceAddress(value: 0xC0DE_0000_0000 + UInt64($0), kind: .random) }

    private func at(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1e6)) }

    private func links(slots: Int = 3, adapters: Int = 2) -> SharedLinks {
        var limits = LinkLimits()
        limits.slots = slots
        limits.operations = 4
        var links = SharedLinks(limits)
        for adapter in 0..<adapters { links.setAdapter(adapter, isUsable: true) }
        return links
    }

    /// What the requesters get.
    private func events(_ links: inout SharedLinks) -> [(LinkRequester, LinkEvent)] {
        links.drainActions().compactMap {
            if case .report(let event, let requester) = $0 { (requester, event) } else { nil }
        }
    }

    /// A link that is established.
    private func connect(
        _ links: inout SharedLinks, _ requester: LinkRequester, _ peer: DeviceAddress = Self.device
    ) -> LinkToken? {
        links.submit(.connect(peer), from: requester, at: at(0))
        guard case .connect(let token, peer, _)? = links.drainActions().first else { return nil }
        links.connected(token, attMTU: 100)
        #expect(events(&links).map(\.1) == [.connected(peer.value, attMTU: 100)])
        return token
    }

    @Test func `the adapter with the best signal connects, else the one with the fewest links`() {
        var links = links(slots: 9)
        let requester = links.addRequester()
        for (adapter, rssi) in [(0, Int8(-80)), (1, -50), (2, -20)] {
            links.heard(Self.device.value, adapter: adapter, rssi: rssi, at: at(0))
        }
        func chosen(_ peer: DeviceAddress) -> Int? {
            links.submit(.connect(peer), from: requester, at: at(1))
            return links.drainActions().compactMap {
                if case .connect(_, peer, let adapter) = $0 { adapter } else { nil }
            }.first
        }
        // The third one is not usable.
        #expect(chosen(Self.device) == 1)
        #expect(chosen(Self.others[0]) == 0)
        #expect(chosen(Self.others[1]) == 0)
        links.setAdapter(1, isUsable: false)
        links.setAdapter(0, isUsable: false)
        links.submit(.connect(Self.others[2]), from: requester, at: at(1))
        #expect(events(&links).map(\.1) == [.connectionFailed(Self.others[2].value, .noAdapter)])
    }

    @Test func `slots are taken by attempts and free when a link has really ended`() {
        var links = links(slots: 1)
        let (one, two) = (links.addRequester(), links.addRequester())
        #expect(events(&links).map(\.1) == [.slots(LinkSlots(limit: 1)), .slots(LinkSlots(limit: 1))])
        links.submit(.connect(Self.device), from: one, at: at(0))
        let actions = links.drainActions()
        guard case .connect(let token, _, _)? = actions.first else {
            Issue.record("no attempt")
            return
        }
        let taken = LinkEvent.slots(LinkSlots(limit: 1, taken: [Self.device.value]))
        #expect(Array(actions.dropFirst()) == [.report(taken, to: one), .report(taken, to: two)])
        links.submit(.connect(Self.others[0]), from: two, at: at(0))
        #expect(events(&links).map(\.1) == [.connectionFailed(Self.others[0].value, .noSlot)])
        links.submit(.connect(Self.device), from: two, at: at(0))
        #expect(events(&links).map(\.1) == [.connectionFailed(Self.device.value, .inUse)])
        // Cancelled while it connects.
        links.submit(.disconnect(Self.device.value), from: one, at: at(1))
        #expect(links.drainActions() == [.disconnect(token)] && links.slots.free == 0)
        // It was connected at the same moment.
        links.connected(token, attMTU: 100)
        #expect(links.drainActions().isEmpty)
        links.ended(token, .linkLost(0x16))
        #expect(events(&links).first?.1 == .disconnected(Self.device.value, reason: 0x16))
        #expect(links.slots.free == 1)
        links.ended(token, .linkLost(0x16))
        #expect(links.drainActions().isEmpty)
    }

    @Test func `one who connects in a loop leaves turns to those who wait`() {
        let addresses = (1...2).map { ClientAddress(address: [10, 0, 0, $0]) }
        var links = links(slots: 3)
        // It has many connections, which count as one.
        let greedy = (0..<6).map { _ in links.addRequester(of: .proxy(addresses[0])) }
        let patient = links.addRequester(of: .proxy(addresses[1]))
        let broker = links.addRequester(of: .broker)
        var served: [LinkRequester: Double] = [:]
        var most = 0
        var running: [(LinkToken, begun: Double)] = []
        var number = UInt64(1000)
        for tick in 0..<600 {
            let now = Double(tick) / 10
            for attempt in running where attempt.begun + 20 <= now {
                links.advance(to: at(now))
                links.ended(attempt.0, .cancelled)
                running.removeAll { $0.0 == attempt.0 }
                // It is faster than all others.
                most = max(most, ask(greedy[0], now))
            }
            for requester in greedy { most = max(most, ask(requester, now)) }
            for (requester, period) in [(patient, 10), (broker, 13)]
            where now >= 5 && tick % period == 0 && served[requester] == nil && ask(requester, now) > 0 {
                served[requester] = now
            }
        }
        func ask(_ requester: LinkRequester, _ now: Double) -> Int {
            number += 1
            links.submit(
                .connect(DeviceAddress(value: number, kind: .random), timeout: .seconds(300)), from: requester,
                at: at(now))
            for case .connect(let token, _, _) in links.drainActions() { running.append((token, now)) }
            return links.slots.taken.contains(number) ? running.count : 0
        }
        // All while nobody else asks; then each has its turn in the next attempts that end.
        #expect(most == 3)
        #expect((served[patient] ?? 99) < 24 && (served[broker] ?? 99) < 24, "\(served)")
    }

    @Test func `one who only looks at the slots comes before one whose attempt has failed`() {
        var links = links(slots: 1)
        let greedy = links.addRequester(of: .proxy(ClientAddress(address: [10, 0, 0, 1])))
        let patient = links.addRequester(of: .proxy(ClientAddress(address: [10, 0, 0, 2])))
        links.submit(.connect(Self.device), from: greedy, at: at(0))
        guard
            case .connect(let token, _, _)? = links.drainActions().last(where: {
                if case .connect = $0 { true } else { false }
            })
        else {
            Issue.record("no attempt")
            return
        }
        links.ended(token, .timedOut)
        _ = links.drainActions()
        links.submit(.connect(Self.device), from: greedy, at: at(20))
        #expect(events(&links).map(\.1) == [.connectionFailed(Self.device.value, .noSlot)])
        links.submit(.connect(Self.others[0]), from: patient, at: at(20.5))
        #expect(links.slots.taken == [Self.others[0].value])
    }

    @Test func `an attempt ends by its time, once`() {
        var links = links()
        let requester = links.addRequester()
        links.submit(.connect(Self.device, timeout: .seconds(5)), from: requester, at: at(0))
        guard
            case .connect(let token, _, _)? = links.drainActions().first(where: {
                if case .connect = $0 { true } else { false }
            })
        else {
            Issue.record("no attempt")
            return
        }
        #expect(links.nextDeadline == at(5))
        links.advance(to: at(5))
        #expect(links.drainActions() == [.disconnect(token)])
        links.advance(to: at(6))
        #expect(links.drainActions().isEmpty && links.nextDeadline == nil)
        links.ended(token, .cancelled)
        #expect(events(&links).first?.1 == .connectionFailed(Self.device.value, .timedOut))
    }

    @Test func `an operation ends exactly once: by its result, its time, or with its link`() throws {
        var links = links()
        let requester = links.addRequester()
        _ = links.drainActions()
        let token = try #require(connect(&links, requester))
        let handle = AttributeHandle(rawValue: 3)
        func begin(_ tag: UInt64) -> LinkJob? {
            links.submit(.perform(.read(handle), on: Self.device.value, tag: tag), from: requester, at: at(0))
            guard case .perform(let job, .read(handle), token)? = links.drainActions().first else { return nil }
            return job
        }
        let jobs = try (1...4).map { try #require(begin($0)) }
        // No more wait at once.
        links.submit(.perform(.read(handle), on: Self.device.value, tag: 5), from: requester, at: at(0))
        #expect(events(&links).map(\.1) == [.ended(tag: 5, address: Self.device.value, .failure(.tooManyOperations))])
        links.finished(jobs[0], .success(.value([1])))
        links.finished(jobs[0], .success(.value([2])))
        #expect(events(&links).map(\.1) == [.ended(tag: 1, address: Self.device.value, .success(.value([1])))])
        links.advance(to: at(30))
        let timedOut = links.drainActions()
        #expect(
            timedOut.filter { if case .cancel = $0 { true } else { false } } == jobs.dropFirst().map { .cancel($0) })
        #expect(timedOut.count == 6)
        links.finished(jobs[1], .failure(.cancelled))
        #expect(links.drainActions().isEmpty)
        let last = try #require(begin(6))
        links.ended(token, .linkLost(0x08))
        links.finished(last, .failure(.linkLost(0x08)))
        #expect(
            events(&links).map(\.1) == [
                .ended(tag: 6, address: Self.device.value, .failure(.linkLost(0x08))),
                .disconnected(Self.device.value, reason: 0x08), .slots(LinkSlots(limit: 3)),
            ])
    }

    @Test func `a link is its owner's alone, and ends with it`() throws {
        var links = links()
        let (owner, other) = (links.addRequester(), links.addRequester())
        _ = links.drainActions()
        let token = try #require(connect(&links, owner))
        let address = Self.device.value
        for request in [
            LinkRequest.perform(.readRSSI, on: address, tag: 1), .disconnect(address), .forgetBond(address, tag: 2),
        ] {
            links.submit(request, from: other, at: at(0))
        }
        let refused: [LinkEvent] = [
            .ended(tag: 1, address: address, .failure(.notConnected)), .disconnected(address, reason: 0x16),
            .slots(LinkSlots(limit: 3, taken: [address])),
            .ended(tag: 2, address: address, .failure(.inUse)),
        ]
        #expect(events(&links).map(\.1) == refused)
        links.submit(.perform(.readRSSI, on: address, tag: 3), from: owner, at: at(0))
        guard case .perform(let job, _, _)? = links.drainActions().first else {
            Issue.record("no operation")
            return
        }
        links.removeRequester(owner)
        let left = links.drainActions()
        #expect(left.contains(.disconnect(token)) && left.contains(.cancel(job)))
        // Nothing reaches it any more, and the others are told when the link has ended.
        links.notified(token, AttributeHandle(rawValue: 1), [1])
        links.finished(job, .success(.rssi(1)))
        links.ended(token, .linkLost(0x16))
        let told = events(&links)
        #expect(told.count == 1 && told[0].0 == other && told[0].1 == .slots(LinkSlots(limit: 3)))
        links.submit(.connect(Self.device), from: owner, at: at(0))
        #expect(links.drainActions().isEmpty)
    }

    @Test func `the answer about a bond comes before the end of the link that goes with it`() throws {
        var links = links()
        let requester = links.addRequester()
        _ = links.drainActions()
        let token = try #require(connect(&links, requester))
        let address = Self.device.value
        links.submit(.forgetBond(address, tag: 1), from: requester, at: at(0))
        guard case .forgetBond(let job, address)? = links.drainActions().first else {
            Issue.record("no removal")
            return
        }
        links.ended(token, .linkLost(0x13))
        #expect(links.drainActions().isEmpty && links.slots.free == 2)
        links.finished(job, .success(.forgotten(true)))
        let told: [LinkEvent] = [
            .ended(tag: 1, address: address, .success(.forgotten(true))), .disconnected(address, reason: 0x16),
            .slots(LinkSlots(limit: 3)),
        ]
        #expect(events(&links).map(\.1) == told)
    }

    @Test func `whatever happens in whatever order, slots and answers come out even`() {
        var random = SystemRandomNumberGenerator()
        var links = links(slots: 2)
        var requesters = (0..<3).map { _ in links.addRequester() }
        var (live, running): ([LinkToken], [LinkJob]) = ([], [])
        var (asked, answered, tag): (Set<UInt64>, Set<UInt64>, UInt64) = ([], [], 0)
        var gone: Set<LinkRequester> = []
        let peers = [Self.device] + Self.others.prefix(3)
        func settle() {
            for action in links.drainActions() {
                switch action {
                case .connect(let token, _, _): live.append(token)
                case .perform(let job, _, _), .forgetBond(let job, _): running.append(job)
                case .report(let event, let requester):
                    #expect(!gone.contains(requester))
                    if case .ended(let tag, _, _) = event { #expect(answered.insert(tag).inserted) }
                case .disconnect, .cancel: break
                }
            }
            #expect(links.slots.taken.count <= 2 && links.slots.taken.count >= live.count)
        }
        for step in 0..<50_000 {
            let now = at(Double(step) / 10)
            let (requester, peer) = (requesters.randomElement(using: &random)!, peers.randomElement(using: &random)!)
            switch Int.random(in: 0..<9, using: &random) {
            case 0, 1: links.submit(.connect(peer, timeout: .seconds(2)), from: requester, at: now)
            case 2: links.submit(.disconnect(peer.value), from: requester, at: now)
            case 3, 4:
                tag += 1
                asked.insert(tag)
                links.submit(
                    tag % 4 == 0
                        ? .forgetBond(peer.value, tag: tag) : .perform(.discoverServices, on: peer.value, tag: tag),
                    from: requester, at: now)
            case 5: if let token = live.randomElement(using: &random) { links.connected(token, attMTU: 23) }
            case 6:
                if let index = live.indices.randomElement(using: &random) {
                    links.ended(live.remove(at: index), .linkLost(8))
                }
            case 7:
                if let index = running.indices.randomElement(using: &random) {
                    links.finished(running.remove(at: index), .success(.done))
                }
            default:
                links.advance(to: now)
                guard step % 500 == 0 else { break }
                links.removeRequester(requester)
                gone.insert(requester)
                requesters.removeAll { $0 == requester }
                requesters.append(links.addRequester())
            }
            settle()
        }
        for token in live { links.ended(token, .linkLost(8)) }
        live = []
        links.advance(to: at(1e6))
        settle()
        #expect(links.slots.taken.isEmpty)
        #expect(links.slots.free == 2 && links.nextDeadline == nil)
        #expect(answered.isSubset(of: asked) && answered.count > 1000)
    }
}
