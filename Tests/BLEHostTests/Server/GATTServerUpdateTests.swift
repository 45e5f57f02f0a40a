import BLEPackets
import Testing

@testable import BLEHost

/// Subscriptions, notifications, indications and their flow.
@Suite("GATT server updates")
struct GATTServerUpdateTests {
    static let one = ServerBench.link(1)
    static let two = ServerBench.link(2)

    /// Values at 3 (notify), 6 (indicate) and 9 (both), each with its configuration behind it.
    func bench(mtu: UInt16 = 23, settings: GATTServerSettings = GATTServerSettings()) throws -> ServerBench {
        let bench = ServerBench(mtu: mtu, settings: settings)
        _ = try bench.publish(
            .of(
                0x180D,
                [
                    .dynamic(0x2A37, [.read, .notify]), .dynamic(0x2A38, [.read, .indicate]),
                    .dynamic(0x2A39, [.notify, .indicate]),
                ]))
        return bench
    }

    func subscription(
        _ handle: AttributeHandle, _ modes: SubscriptionModes, _ link: LinkID = one, length: Int = 20
    ) -> GATTSubscription {
        GATTSubscription(link: link, handle: handle, modes: modes, maximumUpdateLength: length, owner: .local)
    }

    @Test("a subscription is reported after the response, once, and so is its end (SPEC PER-20)")
    func subscribes() throws {
        let bench = try bench()
        #expect(bench.ask("0a0400") == ["0b0000"])
        #expect(bench.ask("1204000100") == ["13"])
        #expect(bench.takeEvents() == [.subscribed(subscription(3, .notifications))])
        #expect(bench.ask("1204000100") == ["13"])
        #expect(bench.events.isEmpty)
        #expect(bench.ask("0a0400") == ["0b0100"])
        #expect(bench.server.subscriptions(to: 3) == [subscription(3, .notifications)])
        #expect(bench.ask("1204000000") == ["13"])
        #expect(bench.takeEvents() == [.unsubscribed(subscription(3, []))])
        #expect(bench.server.subscriptions(to: 3).isEmpty)
    }

    @Test("a configuration belongs to one client, and its link's end ends the subscription (SPEC 2.4)")
    func perClient() throws {
        let bench = try bench()
        bench.connect(Self.two, mtu: 100)
        _ = bench.ask("1204000100", from: Self.two)
        #expect(bench.ask("0a0400") == ["0b0000"])
        #expect(bench.takeEvents() == [.subscribed(subscription(3, .notifications, Self.two, length: 97))])
        bench.disconnect(Self.two)
        #expect(bench.takeEvents() == [.unsubscribed(subscription(3, [], Self.two, length: 97))])
        bench.connect(Self.two)
        #expect(bench.ask("0a0400", from: Self.two) == ["0b0000"])
    }

    @Test(
        "a configuration takes two octets and only the modes that the characteristic offers, and reserved bits are ignored (Core 5.4, Vol 3, Part G, 3.3.3.3)"
    )
    func strictConfiguration() throws {
        let bench = try bench()
        #expect(bench.ask("12040001") == ["011204000d"])
        #expect(bench.ask("120400010000") == ["011204000d"])
        #expect(bench.ask("1204000200") == ["0112040013"])
        #expect(bench.ask("1207000100") == ["0112070013"])
        #expect(bench.ask("1204000500") == ["13"])
        #expect(bench.ask("0a0400") == ["0b0100"])
        #expect(bench.ask("12040006ff") == ["0112040013"])
        #expect(bench.ask("12040004ff") == ["13"])
        #expect(bench.ask("0a0400") == ["0b0000"])
        #expect(bench.ask("120a000300") == ["13"])
        // In two prepared halves it is whole again.
        #expect(bench.ask("160700000002") == ["170700000002"])
        #expect(bench.ask("160700010000") == ["170700010000"])
        #expect(bench.ask("1801") == ["19"])
        #expect(bench.ask("0a0700") == ["0b0200"])
        #expect(bench.ask("160400000001") == ["170400000001"])
        #expect(bench.ask("1801") == ["011804000d"])
    }

    @Test("updates reach subscribers, in order, and no one else (SPEC PER-21)")
    func updates() throws {
        let bench = try bench()
        bench.connect(Self.two)
        #expect(bench.update([1], of: 3))
        #expect(bench.sent.isEmpty)
        _ = bench.ask("1204000100")
        #expect(bench.update([1], of: 3) && bench.update([2], of: 3) && bench.update([3], of: 3, to: [Self.two]))
        #expect(bench.take() == ["1b030001", "1b030002"])
        #expect(bench.take(Self.two).isEmpty)
        _ = bench.ask("1204000100", from: Self.two)
        #expect(bench.update([4], of: 3, to: [Self.two]))
        #expect(bench.update([5], of: 3))
        #expect(bench.take() == ["1b030005"])
        #expect(bench.take(Self.two) == ["1b030004", "1b030005"])
        #expect(bench.update([6], of: 99) && bench.sent.isEmpty)
    }

    @Test("a client that asked for both gets notifications (SPEC 2.4)")
    func both() throws {
        let bench = try bench()
        _ = bench.ask("120a000300")
        #expect(bench.update([1], of: 9))
        #expect(bench.take() == ["1b090001"])
        #expect(bench.update([2], of: 9, as: .indications))
        #expect(bench.take() == ["1d090002"])
    }

    @Test("a value is cut at MTU − 3 octets, and the client reads the rest (SPEC PER-23)")
    func truncation() throws {
        let bench = try bench()
        let value = (0..<100).map { UInt8($0) }
        _ = bench.ask("1204000100")
        bench.update(value, of: 3)
        #expect(bench.take() == ["1b0300" + hex(Array(value.prefix(20)))])
        bench.server.mtuChanged(to: 60, on: Self.one)
        bench.update(value, of: 3)
        #expect(bench.take() == ["1b0300" + hex(Array(value.prefix(57)))])
        #expect(bench.server.subscriptions(to: 3).first?.maximumUpdateLength == 57)
    }

    @Test("with no room an update is refused whole, and room is announced exactly once (SPEC PER-22, pain 17)")
    func backPressure() throws {
        let bench = try bench()
        bench.connect(Self.two)
        _ = bench.ask("1204000100")
        _ = bench.ask("1204000100", from: Self.two)
        _ = bench.takeEvents()
        bench.holdsBack = true
        for count in 0..<10 { #expect(bench.update([UInt8(count)], of: 3, to: [Self.one])) }
        // Two would get it, one has no room: nobody does.
        #expect(!bench.update([99], of: 3))
        #expect(!bench.update([99], of: 3))
        #expect(bench.take(Self.two).isEmpty)
        #expect(bench.update([98], of: 3, to: [Self.two]))
        #expect(bench.take(Self.two) == ["1b030062"])
        for _ in 0..<4 { bench.release() }
        #expect(bench.events.isEmpty)
        bench.release()
        #expect(bench.takeEvents() == [.readyToUpdate])
        for _ in 0..<10 { bench.release() }
        #expect(bench.events.isEmpty)
        #expect(bench.take() == (0..<10).map { "1b03000\($0)" })
        // Again, from the beginning.
        for count in 0..<10 { #expect(bench.update([UInt8(count)], of: 3)) }
        #expect(!bench.update([1], of: 3))
        for _ in 0..<20 { bench.release() }
        #expect(bench.takeEvents() == [.readyToUpdate])
    }

    @Test("room also returns when the client without it disconnects")
    func backPressureAndDisconnect() throws {
        let bench = try bench()
        _ = bench.ask("1204000100")
        bench.holdsBack = true
        while bench.update([1], of: 3) {}
        _ = bench.takeEvents()
        bench.disconnect()
        #expect(bench.takeEvents() == [.unsubscribed(subscription(3, [])), .readyToUpdate])
    }

    // MARK: Indications

    @Test("one indication is under way at a time, the others wait in order, notifications pass")
    func indications() throws {
        let bench = try bench()
        _ = bench.ask("1207000200")
        _ = bench.ask("1204000100")
        _ = bench.takeEvents()
        #expect(bench.update([1], of: 6) && bench.update([2], of: 6) && bench.update([3], of: 3))
        #expect(bench.take() == ["1d060001", "1b030003"])
        #expect(bench.ask("1e") == ["1d060002"])
        #expect(bench.takeEvents() == [.confirmed(Self.one, 6)])
        #expect(bench.ask("1e").isEmpty)
        #expect(bench.takeEvents() == [.confirmed(Self.one, 6)])
        #expect(bench.server.nextDeadline == nil)
        #expect(bench.ask("1e").isEmpty && bench.ask("1e00").isEmpty)
        #expect(bench.server.counters.unexpectedConfirmations == 1 && bench.server.counters.malformedPDUs == 1)
    }

    @Test("a client that stops confirming is dropped after 30 s, others go on (pain 17)")
    func unconfirmed() throws {
        let bench = try bench()
        bench.connect(Self.two)
        _ = bench.ask("1207000200")
        _ = bench.ask("1207000200", from: Self.two)
        _ = bench.takeEvents()
        #expect(bench.update([0], of: 6))
        #expect(bench.ask("1e", from: Self.two) == ["1d060000"])
        var taken = 0
        while bench.update([1], of: 6, to: [Self.one]) { taken += 1 }
        #expect(taken == bench.server.settings.updateLimit)
        #expect(bench.update([2], of: 6, to: [Self.two]))
        bench.receive("1e", from: Self.two)
        bench.advance(seconds: 29)
        #expect(bench.faults.isEmpty)
        bench.advance(seconds: 1)
        #expect(bench.faults == [.confirmationTimeout])
        #expect(bench.server.counters.unconfirmedIndications == 1)
        #expect(bench.takeEvents().contains(.readyToUpdate))
        #expect(bench.update([3], of: 6))
        #expect(bench.take(Self.two) == ["1d060002", "1d060003"])
    }

    @Test("waiting values for a client are dropped when it unsubscribes")
    func unsubscribedWhileWaiting() throws {
        let bench = try bench()
        _ = bench.ask("1207000200")
        bench.update([1], of: 6)
        bench.update([2], of: 6)
        _ = bench.ask("1207000000")
        #expect(bench.ask("1e").isEmpty)
    }

    // MARK: Security

    @Test("a value that needs encryption is neither subscribed to nor sent without it (SPEC SEC-1)")
    func encryptedSubscription() throws {
        var secret = GATTCharacteristicDefinition.dynamic(0x2A37, [.read, .notify], [.readEncryption])
        secret.needsEncryptionToSubscribe = true
        let bench = ServerBench(mtu: 23)
        _ = try bench.publish(.of(0x180D, [secret]))
        #expect(bench.ask("1204000100") == ["0112040005"])
        #expect(bench.ask("0a0400") == ["0b0000"])
        bench.server.securityChanged(to: GATTLinkSecurity(keys: .unauthenticated), on: Self.one)
        #expect(bench.ask("1204000100") == ["011204000f"])
        bench.server.securityChanged(to: GATTLinkSecurity(keys: .unauthenticated, isEncrypted: true), on: Self.one)
        #expect(bench.ask("1204000100") == ["13"])
        #expect(bench.update([1], of: 3))
        #expect(bench.take() == ["1b030001"])
        let record = try #require(bench.disconnect(isBonded: true))
        bench.connect(Self.two, security: GATTLinkSecurity(keys: .unauthenticated), restoring: record)
        #expect(bench.update([2], of: 3))
        #expect(bench.take(Self.two).isEmpty)
    }

    @Test(
        "a value is subscribed to with the security that reading it needs (Core 5.4, Vol 3, Part C, 10.3.1.1)",
        arguments: [
            (AttributePermissions.readEncryption, GATTLinkSecurity(keys: .unauthenticated, isEncrypted: true)),
            (.readAuthentication, GATTLinkSecurity(keys: .authenticated, isEncrypted: true)),
        ])
    func subscriptionLikeReading(_ permissions: AttributePermissions, _ enough: GATTLinkSecurity) throws {
        let bench = ServerBench(mtu: 23)
        _ = try bench.publish(
            .of(
                0x180D,
                [.dynamic(0x2A37, [.read, .notify], permissions), .dynamic(0x2A38, [.notify], permissions)]))
        #expect(bench.ask("1204000100") == ["0112040005"])
        #expect(bench.ask("0a0400") == ["0b0000"])
        // Nobody can read the second value, so its permissions protect nothing.
        #expect(bench.ask("1207000100") == ["13"])
        #expect(bench.update([1], of: 6))
        #expect(bench.take() == ["1b060001"])
        bench.server.securityChanged(to: enough, on: Self.one)
        #expect(bench.ask("1204000100") == ["13"])
        #expect(bench.update([2], of: 3))
        #expect(bench.take() == ["1b030002"])
    }

    // MARK: Many

    @Test("200 attributes and 40 clients: each gets its own answers and updates in order (pain 17)")
    func many() throws {
        let bench = ServerBench()
        var values: [AttributeHandle] = []
        for number in 0..<12 {
            let service = try bench.publish(
                .of(
                    UInt16(0x1900 + number),
                    (0..<5).map { .dynamic(UInt16(0x2B00 + $0), [.read, .write, .notify, .indicate]) }))
            values += service.characteristics.map(\.valueHandle)
        }
        _ = try bench.publish(.of(0x1A00, [.cached(0x2C00, [1])]))
        #expect(bench.server.database.attributeCount >= 195)
        let links = (1...40).map { ServerBench.link($0) }
        for link in links { bench.connect(link, mtu: 247) }
        for link in links {
            for value in values {
                let write = ATTWriteRequest(
                    handle: AttributeHandle(rawValue: value.rawValue + 1), value: [UInt8(1), 0].span.bytes)
                #expect(bench.ask(hex(write.encoded()), from: link) == ["13"])
            }
        }
        #expect(bench.takeEvents().count == 40 * 60)
        for (number, value) in values.enumerated() { #expect(bench.update([UInt8(number)], of: value)) }
        let expected = values.enumerated().map { number, value in
            hex(ATTHandleValueNotification(handle: value, value: [UInt8(number)].span.bytes).encoded())
        }
        for link in links { #expect(bench.take(link) == expected) }
        // All ask at once, and the app answers in any order.
        for link in links { bench.receive(hex(ATTReadRequest(handle: values[7]).encoded()), from: link) }
        let questions = bench.takeEvents().compactMap(\.readRequest)
        #expect(questions.count == 40)
        for question in questions.reversed() {
            #expect(bench.respond(question.id, .value([UInt8(question.link.handle.rawValue)])))
        }
        for link in links { #expect(bench.take(link) == ["0b" + hex([UInt8(link.handle.rawValue)])]) }
        for link in links { bench.disconnect(link) }
        #expect(bench.events.count == 40 * 60)
        #expect(bench.server.clients.isEmpty)
    }
}
