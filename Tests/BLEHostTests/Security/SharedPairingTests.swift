import BLEPackets
import TestSupport
import Testing

@testable import BLEHost

/// Pairings of an engine that clients of several users share: whose they are, who is asked, and what is required.
@Suite struct SharedPairingTests {
    /// Two clients of ordinary users, another one of the second user, and one of an operator.
    static let (first, second, neighbour, operating) =
        (ClientID(rawValue: 1), ClientID(rawValue: 2), ClientID(rawValue: 3), ClientID(rawValue: 4))

    static func ordinary(
        _ client: ClientID, _ capability: IOCapability = .displayYesNo, user: UInt32? = nil, isServing: Bool = false,
        asks: Bool = true, asksConsent: Bool = false
    ) -> ClientPairing {
        ClientPairing(
            client: client, user: user ?? client.rawValue, isServing: isServing, asks: asks,
            options: PairingOptions(ioCapability: capability, asksConsent: asksConsent))
    }

    static func operating(
        _ options: PairingOptions = PairingOptions(ioCapability: .displayYesNo), isServing: Bool = false,
        requiresOfAll: Bool = true
    ) -> ClientPairing {
        ClientPairing(
            client: operating, user: 0, isOperator: true, isServing: isServing, requiresOfAll: requiresOfAll,
            options: options)
    }

    /// Both sides have a person at a display, and this side's engine is shared.
    static func stage(
        _ side: TwoHosts.Side, _ clients: [ClientPairing], bonds: [TwoHosts.Side: [Bond]] = [:],
        change: (inout TwoHosts.Settings) -> Void = { _ in }
    ) -> TwoHosts {
        var settings = TwoHosts.Settings()
        settings.central.pairing.ioCapability = .displayYesNo
        settings.peripheral.pairing.ioCapability = .displayYesNo
        if side == .central {
            settings.central.pairing = PairingOptions()
            settings.central.clients = clients
        } else {
            settings.peripheral.pairing = PairingOptions()
            settings.peripheral.clients = clients
        }
        change(&settings)
        let two = TwoHosts(settings, bonds: bonds)
        two.connect()
        return two
    }

    /// The clients join the central's link, and its first holder leaves.
    static func join(_ two: TwoHosts, _ clients: ClientID...) throws -> LinkID {
        let link = try #require(two.link(.central))
        for client in clients {
            let request = ConnectRequest(peer: TwoHosts.peripheralAddress)
            _ = two.engine(.central).result(of: .radio(.connect(request)), from: client)
        }
        _ = two.engine(.central).result(of: .link(link, .disconnect))
        two.forget()
        return link
    }

    /// The peripheral's person agrees to everything, and its engine does not wait after failures: that of this side
    /// alone is what these tests are about.
    static func forgive(_ two: TwoHosts) {
        let peripheral = two.engine(.peripheral)
        peripheral.react = { event in
            guard case .pairing(_, .question(let question)) = event else { return nil }
            return .security(.answerPairing(question.id, .confirm(true)))
        }
        peripheral.changeReceived = { [unowned peripheral] packet in
            peripheral.withHost { $0.rooms.pairings.attempts.failures.reset() }
            return packet
        }
    }

    static func questions(_ two: TwoHosts, _ side: TwoHosts.Side) -> [PairingQuestion] {
        two.pairingEvents(side).compactMap { if case .question(let question) = $0 { question } else { nil } }
    }

    static func asked(_ two: TwoHosts, _ side: TwoHosts.Side) -> [ClientID?] { questions(two, side).map(\.client) }

    static func owners(_ two: TwoHosts, _ side: TwoHosts.Side) -> [ClientID] {
        two.pairingEvents(side).compactMap { if case .belongs(let client) = $0 { client } else { nil } }
    }

    static func read(
        _ two: TwoHosts, _ number: Int, _ client: ClientID, _ link: LinkID
    ) -> Result<HostResult, HostFailure>? {
        two.engine(.central).result(of: .link(link, .gatt(.read(two.handle(number)))), from: client)
    }

    // MARK: The central's side

    @Test("The client whose operation needs a pairing is asked, not the one that has the link for longer")
    func ownerIsAsked() throws {
        let two = Self.stage(.central, [Self.ordinary(Self.first), Self.ordinary(Self.second)])
        let link = try Self.join(two, Self.first, Self.second)
        #expect(Self.read(two, 3, Self.second, link) == .success(.gatt(.value([0x03]))))
        #expect(Self.asked(two, .central) == [Self.second] && Self.owners(two, .central) == [Self.second])
        #expect(two.bonds(.central).first?.isAuthenticated == true)
    }

    @Test("A client that agrees to everything does not weaken the pairing of another one")
    func weakClient() throws {
        let weak = Self.ordinary(Self.first, .noInputNoOutput)
        for order in [[weak, Self.ordinary(Self.second)], [Self.ordinary(Self.second), weak]] {
            let two = Self.stage(.central, order)
            let link = try Self.join(two, Self.first, Self.second)
            #expect(Self.read(two, 3, Self.second, link) == .success(.gatt(.value([0x03]))))
            #expect(Self.asked(two, .central) == [Self.second])
        }
    }

    @Test("For a client that asks nobody, one of the same user is asked, then an operator, and never another user")
    func substitutes() throws {
        let silent = Self.ordinary(Self.second, .noInputNoOutput, asks: false)
        let others = [Self.ordinary(Self.first), silent]
        let same = Self.ordinary(Self.neighbour, user: Self.second.rawValue)
        let cases: [(clients: [ClientPairing], asked: [ClientID?])] = [
            (others + [same, Self.operating()], [Self.neighbour]), (others + [Self.operating()], [Self.operating]),
            (others, []), ([Self.ordinary(Self.first)], []),
        ]
        for (clients, asked) in cases {
            let two = Self.stage(.central, clients)
            let link = try Self.join(two, Self.first, Self.second, Self.neighbour, Self.operating)
            _ = Self.read(two, 3, Self.second, link)
            #expect(Self.asked(two, .central) == asked)
            #expect(two.bonds(.central).first?.isAuthenticated == !asked.isEmpty)
        }
        // Somebody of the same user who does not use the link knows nothing of the device.
        let two = Self.stage(.central, others + [same])
        let link = try Self.join(two, Self.first, Self.second)
        _ = Self.read(two, 3, Self.second, link)
        #expect(Self.asked(two, .central) == [])
    }

    @Test("What a peripheral requests is for the client at work, otherwise for the one that has the link for longest")
    func securityRequest() throws {
        let two = Self.stage(.central, [Self.ordinary(Self.first), Self.ordinary(Self.second)])
        let link = try Self.join(two, Self.first, Self.second)
        let peripheral = try #require(two.link(.peripheral))
        two.submit(
            .security(.pair(peripheral, PairingOptions(ioCapability: .displayYesNo, requiresAuthentication: true))),
            by: .peripheral)
        two.run(for: .seconds(5))
        #expect(Self.asked(two, .central) == [Self.first])
        #expect(two.security(.central)?.isAuthenticated == true)
        _ = link
    }

    @Test("A pair command's options are raised to what operators require of all")
    func pairIsRaised() throws {
        var required = PairingOptions(ioCapability: .displayYesNo)
        required.requiresAuthentication = true
        let two = Self.stage(.central, [Self.operating(required), Self.ordinary(Self.second)]) {
            $0.peripheral.pairing.minimumKeySize = 7
        }
        let link = try Self.join(two, Self.second)
        let weak = PairingOptions(minimumKeySize: 7, maximumKeySize: 7)
        #expect(
            two.engine(.central).result(of: .security(.pair(link, weak)), from: Self.second)
                == .failure(.security(.refusedByUs(.authenticationRequirements))))
        #expect(two.bonds(.central).isEmpty)
        two.run(for: .seconds(2))
        let able = PairingOptions(ioCapability: .displayYesNo, minimumKeySize: 7, maximumKeySize: 7)
        let paired = two.engine(.central).result(of: .security(.pair(link, able)), from: Self.second)?.pairing
        #expect(paired?.isAuthenticated == true && paired?.keySize == 16)
        #expect(Self.asked(two, .central).allSatisfy { $0 == Self.second })
    }

    @Test("What an ordinary user requires holds for its own pairings only")
    func ownRequirements() throws {
        var strict = Self.ordinary(Self.first)
        strict.options.requireSecureConnectionsOnly()
        let two = Self.stage(.central, [strict, Self.ordinary(Self.second, .noInputNoOutput)])
        let link = try Self.join(two, Self.first, Self.second)
        #expect(Self.read(two, 2, Self.second, link) == .success(.gatt(.value([0x02]))))
        #expect(two.bonds(.central).first?.isAuthenticated == false)
    }

    @Test("Where an operator uses the link and wants consent, no other user's pair command goes without it")
    func consentOfOperators() throws {
        let wanting = PairingOptions(ioCapability: .displayYesNo, asksConsent: true)
        for agrees in [false, true] {
            let two = Self.stage(.central, [Self.operating(wanting), Self.ordinary(Self.second)])
            let link = try Self.join(two, Self.operating, Self.second)
            two.answer = { _, kind in kind == .consent ? .confirm(agrees) : .confirm(true) }
            let result = two.engine(.central).result(
                of: .security(.pair(link, PairingOptions())), from: Self.second)
            #expect(Self.asked(two, .central) == [Self.operating] && (result?.pairing != nil) == agrees)
            #expect(Self.owners(two, .central) == [Self.second])
        }
        // The operator's own command needs none.
        let two = Self.stage(.central, [Self.operating(wanting), Self.ordinary(Self.second)])
        let link = try Self.join(two, Self.operating, Self.second)
        let result = two.engine(.central).result(of: .security(.pair(link, PairingOptions())), from: Self.operating)
        #expect(result?.pairing != nil && Self.asked(two, .central).isEmpty)
    }

    @Test("The options that a client waits with for its bond's proof are not for another one to change")
    func heldOptions() throws {
        let earlier = TwoHosts()
        earlier.connect()
        _ = try #require(earlier.pair()?.pairing)
        earlier.run(for: .seconds(2))
        let bonds = [TwoHosts.Side.central: earlier.bonds(.central), .peripheral: earlier.bonds(.peripheral)]
        let two = Self.stage(.central, [Self.ordinary(Self.first), Self.ordinary(Self.second)], bonds: bonds) {
            $0.central.encryptsAtConnection = false
        }
        let link = try Self.join(two, Self.first, Self.second)
        let strict = PairingOptions(ioCapability: .displayYesNo, requiresAuthentication: true)
        let one = two.engine(.central).submit(.security(.pair(link, strict)), from: Self.first)
        let other = two.engine(.central).submit(.security(.pair(link, PairingOptions())), from: Self.second)
        two.run(for: .seconds(20))
        #expect(two.result(of: other, .central) == .failure(.security(.alreadyPairing)))
        #expect(two.result(of: one, .central)?.pairing?.isAuthenticated == true)
        #expect(Self.asked(two, .central) == [Self.first])
    }

    // MARK: Time

    @Test("If the client leaves that is asked, its pairing ends at once, and another client can pair")
    func askedLeaves() throws {
        let clients = [Self.ordinary(Self.first), Self.ordinary(Self.second)]
        let two = Self.stage(.central, clients)
        let link = try Self.join(two, Self.first, Self.second)
        Self.forgive(two)
        two.answer = { _, _ in nil }
        let read = two.engine(.central).submit(.link(link, .gatt(.read(two.handle(3)))), from: Self.first)
        two.run(for: .seconds(5))
        #expect(Self.asked(two, .central) == [Self.first] && two.result(of: read, .central) == nil)
        var settings = SecuritySettings()
        settings.clients = [clients[1]]
        two.submit(.security(.setSecurity(settings)), by: .central)
        two.run(for: .milliseconds(500))
        #expect(two.failures(.central).count == 1 && two.result(of: read, .central) != nil)
        two.answer = { _, _ in .confirm(true) }
        #expect(Self.read(two, 3, Self.second, link) == .success(.gatt(.value([0x03]))))
        #expect(Self.asked(two, .central).last == Self.second)
    }

    @Test("A pairing that began on weaker terms than are required meanwhile ends")
    func requirementsComeLater() throws {
        let weak = Self.ordinary(Self.second, .noInputNoOutput, asksConsent: true)
        let two = Self.stage(.central, [weak])
        let link = try Self.join(two, Self.second)
        two.answer = { side, _ in side == .central ? nil : .confirm(true) }
        let read = two.engine(.central).submit(.link(link, .gatt(.read(two.handle(2)))), from: Self.second)
        two.run(for: .seconds(5))
        #expect(Self.questions(two, .central).map(\.kind) == [.consent])
        var settings = SecuritySettings()
        var required = PairingOptions(ioCapability: .displayYesNo)
        required.requiresAuthentication = true
        settings.clients = [weak, Self.operating(required)]
        two.submit(.security(.setSecurity(settings)), by: .central)
        two.run(for: .milliseconds(500))
        #expect(two.failures(.central).count == 1 && two.bonds(.central).isEmpty)
        #expect(two.result(of: read, .central) != nil)
    }

    @Test("A question that nobody answers keeps another user waiting once, and not for ever")
    func unanswered() throws {
        let two = Self.stage(.central, [Self.ordinary(Self.first), Self.ordinary(Self.second)])
        let link = try Self.join(two, Self.first, Self.second)
        Self.forgive(two)
        let host = two.engine(.central)
        let strict = PairingOptions(ioCapability: .displayYesNo, requiresAuthentication: true)
        // The first user never answers, and asks again whenever it can.
        host.react = { event in
            switch event {
            case .pairing(_, .question(let question)) where question.client == Self.second:
                .security(.answerPairing(question.id, .confirm(true)))
            default: nil
            }
        }
        host.submit(.security(.pair(link, strict)), from: Self.first)
        two.run(for: .seconds(2))
        let read = host.submit(.link(link, .gatt(.read(two.handle(3)))), from: Self.second)
        two.run(for: .seconds(2))
        #expect(two.result(of: read, .central) == nil)
        two.run(for: .seconds(40)) { two.result(of: read, .central) != nil }
        #expect(two.result(of: read, .central) == .success(.gatt(.value([0x03]))))
        #expect(Self.asked(two, .central) == [Self.first, Self.second])
    }

    @Test("Who has let a question pass waits before it pairs again, if another user shares the link")
    func pause() throws {
        let strict = PairingOptions(ioCapability: .displayYesNo, requiresAuthentication: true)
        for isShared in [true, false] {
            let two = Self.stage(.central, [Self.ordinary(Self.first), Self.ordinary(Self.second)])
            let link = try isShared ? Self.join(two, Self.first, Self.second) : Self.join(two, Self.first)
            Self.forgive(two)
            two.answer = { side, _ in side == .central ? nil : .confirm(true) }
            let host = two.engine(.central)
            let result = host.result(of: .security(.pair(link, strict)), from: Self.first)
            #expect(result == .failure(.security(.refusedByUs(.unspecifiedReason))))
            two.answer = { _, _ in .confirm(true) }
            guard isShared else {
                let again = host.result(of: .security(.pair(link, strict)), from: Self.first)
                #expect(again?.pairing != nil)
                continue
            }
            guard
                case .failure(.security(.repeatedAttempts(let wait)))? = host.result(
                    of: .security(.pair(link, strict)), from: Self.first)
            else {
                Issue.record("the first user goes first again")
                continue
            }
            #expect(wait <= .seconds(30))
            #expect(host.result(of: .security(.pair(link, strict)), from: Self.second)?.pairing != nil)
        }
    }

    @Test("A passkey that nobody types on the other device ends before the link would be closed to pairings")
    func nobodyTypes() throws {
        for isLegacy in [false, true] {
            let two = Self.stage(.central, [Self.ordinary(Self.first, .displayOnly), Self.ordinary(Self.second)]) {
                $0.peripheral.pairing.ioCapability = .keyboardDisplay
                $0.peripheral.pairing.allowsSecureConnections = !isLegacy
            }
            let link = try Self.join(two, Self.first, Self.second)
            two.answer = { _, kind in kind == .enterPasskey ? nil : .confirm(true) }
            // The peripheral does not say that it has given up.
            two.change = { side, packet in
                let isPairingFailed = packet.count == 11 && packet[7] == 0x06 && packet[9] == 0x05
                return side == .peripheral && isPairingFailed ? nil : packet
            }
            let strict = PairingOptions(ioCapability: .displayOnly, requiresAuthentication: true)
            let host = two.engine(.central)
            let result = host.result(of: .security(.pair(link, strict)), from: Self.first)
            #expect(result != .failure(.security(.timedOut)) && result != nil && result?.pairing == nil)
            two.change = { $1 }
            two.answer = { _, _ in .confirm(true) }
            two.run(for: .seconds(8))
            #expect(host.result(of: .security(.pair(link, PairingOptions())), from: Self.second)?.pairing != nil)
        }
    }

    @Test("Who cancels after a long time and pairs again at once does not keep another user from the link")
    func cancelledAgain() throws {
        let two = Self.stage(.central, [Self.ordinary(Self.first), Self.ordinary(Self.second)])
        let link = try Self.join(two, Self.first, Self.second)
        Self.forgive(two)
        two.answer = { side, _ in side == .central ? nil : .confirm(true) }
        let strict = PairingOptions(ioCapability: .displayYesNo, requiresAuthentication: true)
        let host = two.engine(.central)
        let long = host.submit(.security(.pair(link, strict)), from: Self.first)
        two.run(for: .seconds(20))
        host.submit(.cancel(long), from: Self.first)
        let again = host.submit(.security(.pair(link, strict)), from: Self.first)
        two.run(for: .seconds(1))
        guard case .failure(.security(.repeatedAttempts))? = two.result(of: again, .central) else {
            Issue.record("the first user goes first again")
            return
        }
        two.answer = { _, _ in .confirm(true) }
        #expect(host.result(of: .security(.pair(link, strict)), from: Self.second)?.pairing != nil)
    }

    // MARK: The peripheral's side

    /// A value that needs authentication, of this client.
    static func publish(_ two: TwoHosts, _ client: ClientID) throws -> AttributeHandle {
        let service = GATTServiceDefinition(
            uuid: BluetoothUUID(0xFE00 + UInt16(client.rawValue)),
            characteristics: [
                GATTCharacteristicDefinition(
                    uuid: BluetoothUUID(0xFE10 + UInt16(client.rawValue)), properties: [.read],
                    permissions: [.readable, .readAuthentication], value: [UInt8(client.rawValue)])
            ])
        let published = try #require(two.engine(.peripheral).publish(service, from: client))
        return published.characteristics[0].valueHandle
    }

    @Test("A central that pairs for a value is answered by the client whose value it is")
    func ownerOfValue() throws {
        for owner in [Self.first, Self.second, Self.operating] {
            let two = Self.stage(
                .peripheral,
                [
                    Self.ordinary(Self.first, isServing: true), Self.operating(isServing: true),
                    Self.ordinary(Self.second, isServing: true),
                ])
            let handle = try Self.publish(two, owner)
            two.forget()
            #expect(two.gatt(.read(handle)) == .success(.gatt(.value([UInt8(owner.rawValue)]))))
            #expect(Self.asked(two, .peripheral) == [owner] && Self.owners(two, .peripheral) == [owner])
        }
    }

    @Test("A central that pairs by itself is answered by an operator, otherwise by the user who serves for longest")
    func ownerOfNothing() {
        let weak = Self.ordinary(Self.first, .noInputNoOutput, isServing: true)
        let strong = Self.ordinary(Self.second, isServing: true)
        let idle = Self.ordinary(Self.neighbour)
        let cases: [(clients: [ClientPairing], asked: [ClientID?])] = [
            ([weak, Self.operating(isServing: true), strong], [Self.operating]), ([weak, strong], [Self.second]),
            ([strong, weak], [Self.second]), ([idle, weak], []),
            ([strong, Self.ordinary(Self.neighbour, isServing: true)], [Self.second]),
        ]
        for (clients, asked) in cases {
            let two = Self.stage(.peripheral, clients)
            two.forget()
            let strict = PairingOptions(ioCapability: .displayYesNo, prefersAuthentication: true)
            _ = two.pair(strict)
            two.run(for: .seconds(2))
            #expect(Self.asked(two, .peripheral) == asked)
            #expect(two.bonds(.peripheral).first?.isAuthenticated == !asked.isEmpty)
        }
    }

    @Test("Consent that an operator's server wants is needed however another user has the central pair")
    func consentOfServers() throws {
        let wanting = PairingOptions(ioCapability: .displayYesNo, asksConsent: true)
        for command in 0..<3 {
            let two = Self.stage(
                .peripheral, [Self.operating(wanting, isServing: true), Self.ordinary(Self.second, isServing: true)]
            ) { $0.central.pairing = PairingOptions() }
            two.forget()
            two.answer = { side, kind in side == .peripheral && kind == .consent ? .confirm(false) : .confirm(true) }
            let link = try #require(two.link(.peripheral))
            let host = two.engine(.peripheral)
            switch command {
            // A pairing with the weakest options, encryption, or a value of its own.
            case 0:
                host.submit(
                    .security(.pair(link, PairingOptions(minimumKeySize: 7, maximumKeySize: 7))), from: Self.second)
            case 1: host.submit(.security(.encrypt(link)), from: Self.second)
            default: _ = two.gatt(.read(try Self.publish(two, Self.second)))
            }
            two.run(for: .seconds(5))
            #expect(Self.questions(two, .peripheral).map(\.kind) == [.consent], "\(command)")
            #expect(Self.asked(two, .peripheral) == [Self.operating])
            #expect(two.bonds(.peripheral).isEmpty && two.bonds(.central).isEmpty)
        }
    }

    @Test("Consent that a user's server wants is needed for a pairing that another ordinary user commands")
    func consentOfAnotherUsersServer() throws {
        for (commanding, asked) in [(Self.second, [Self.first]), (Self.first, []), (Self.operating, [])] {
            let two = Self.stage(
                .peripheral,
                [
                    Self.ordinary(Self.first, isServing: true, asksConsent: true),
                    Self.ordinary(Self.second, isServing: true), Self.operating(),
                ]
            ) { $0.central.pairing = PairingOptions() }
            two.forget()
            two.answer = { side, kind in side == .peripheral && kind == .consent ? .confirm(false) : .confirm(true) }
            let link = try #require(two.link(.peripheral))
            let weakest = PairingOptions(minimumKeySize: 7, maximumKeySize: 7)
            two.engine(.peripheral).submit(.security(.pair(link, weakest)), from: commanding)
            two.run(for: .seconds(5))
            #expect(Self.asked(two, .peripheral) == asked, "\(commanding)")
            #expect(Self.questions(two, .peripheral).allSatisfy { $0.kind == .consent })
            #expect(two.bonds(.peripheral).isEmpty == !asked.isEmpty)
        }
    }

    @Test("An engine that is not shared says nothing about clients")
    func unshared() {
        let two = TwoHosts()
        two.connect()
        _ = two.pair()
        for side in TwoHosts.Side.allCases { #expect(Self.owners(two, side).isEmpty) }
    }
}
