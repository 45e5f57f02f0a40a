import BLEHost
import BLEPackets
import Testing

@testable import BLEBlueZ

@Suite("Agents")
struct AgentTests {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 1), generation: 1)

    /// A device that is being paired, whose agent was asked for a passkey.
    private func asking() -> ServiceDriver {
        var driver = ServiceDriver.ready()
        driver.call(
            ObjectPaths.root, InterfaceName.agentManager, "RegisterAgent", [.path("/agent"), .string("KeyboardOnly")])
        driver.connect(Self.link)
        driver.call(ServiceDriver.device, InterfaceName.device, "Pair")
        let question = PairingQuestion(id: PairingQuestionID(rawValue: 1), kind: .enterPasskey)
        driver.handle(.event(0, .pairing(Self.link, .question(question))))
        #expect(driver.requests.last?.member == "RequestPasskey")
        driver.effects = []
        return driver
    }

    private func members(_ driver: ServiceDriver) -> [String] { driver.requests.map(\.member) }

    @Test("One that leaves its question open is cancelled: when it unregisters, after a minute, when the pairing fails")
    func cancelled() {
        var driver = asking()
        driver.call(ObjectPaths.root, InterfaceName.agentManager, "UnregisterAgent", [.path("/agent")])
        #expect(members(driver) == ["Cancel"] && driver.service.questions.isEmpty)
        driver = asking()
        driver.wait(seconds: 61)
        #expect(members(driver) == ["Cancel"] && driver.service.questions.isEmpty)
        driver = asking()
        driver.handle(.event(0, .pairing(Self.link, .failed(.timedOut))))
        #expect(members(driver) == ["Cancel"] && driver.service.questions.isEmpty)
    }

    @Test("Who pairs is asked by an agent of the same user, else by the default one, whoever is the default")
    func users() {
        for (user, expected) in [(1000 as UInt32, ":3.1"), (1001, ":3.2"), (1002, ":3.2")] {
            var driver = ServiceDriver.ready()
            driver.connect(Self.link)
            for (client, owner) in [(":3.1", 1000 as UInt32), (":3.2", 1001)] {
                let path = (ObjectPaths.root, InterfaceName.agentManager)
                driver.call(
                    path.0, path.1, "RegisterAgent", [.path("/agent"), .string("KeyboardOnly")], from: client,
                    user: owner)
                driver.call(
                    path.0, path.1, "RequestDefaultAgent", [.path("/agent")], from: client, user: owner)
            }
            driver.call(ServiceDriver.device, InterfaceName.device, "Pair", from: ":4.1", user: user)
            let question = PairingQuestion(id: PairingQuestionID(rawValue: 1), kind: .enterPasskey)
            driver.handle(.event(0, .pairing(Self.link, .question(question))))
            #expect(driver.requests.last?.destination == expected)
        }
    }

    @Test("Nobody is cancelled who has answered, or only shows a number")
    func shown() {
        var driver = asking()
        for id in driver.service.questions.keys { driver.handle(.answered(id, .success([.uint32(1)]))) }
        driver.handle(.event(0, .pairing(Self.link, .displayPasskey(5))))
        driver.handle(.event(0, .pairing(Self.link, .failed(.timedOut))))
        #expect(members(driver) == ["DisplayPasskey"])
    }

    /// The last options for pairings that adapter 0 was given.
    private func options(_ driver: ServiceDriver) -> PairingOptions? {
        for case .submit(0, _, .security(.setSecurity(let security))) in driver.effects.reversed() {
            return security.pairing
        }
        return nil
    }

    @Test("The first agent is the default until another one asks to be, and again when that has gone")
    func firstIsDefault() {
        var driver = ServiceDriver.ready()
        func call(_ member: String, _ client: String, _ arguments: [BusValue]) {
            driver.call(ObjectPaths.root, InterfaceName.agentManager, member, arguments, from: client)
        }
        call("RegisterAgent", ":1.1", [.path("/one"), .string("KeyboardOnly")])
        #expect(options(driver)?.ioCapability == .keyboardOnly && options(driver)?.asksConsent == true)
        call("RegisterAgent", ":1.2", [.path("/two"), .string("DisplayOnly")])
        #expect(driver.service.agents.standard?.path == "/one")
        driver.comes(Self.link)
        let question = PairingQuestion(id: PairingQuestionID(rawValue: 1), kind: .consent)
        driver.handle(.event(0, .pairing(Self.link, .question(question))))
        #expect(driver.requests.last?.member == "RequestAuthorization" && driver.requests.last?.path == "/one")
        call("RequestDefaultAgent", ":1.2", [.path("/two")])
        #expect(driver.service.agents.standard?.path == "/two")
        call("UnregisterAgent", ":1.2", [.path("/two")])
        #expect(driver.service.agents.standard?.path == "/one")
    }

    @Test(
        "Once Pairable was set to false, or its time is over, no central pairs; what this side does is not concerned",
        arguments: [false, true])
    func notPairable(hasAgent: Bool) {
        var driver = ServiceDriver.ready()
        func answer(to kind: PairingQuestion.Kind) -> PairingAnswer? {
            driver.effects = []
            let question = PairingQuestion(id: PairingQuestionID(rawValue: 1), kind: kind)
            driver.handle(.event(0, .pairing(Self.link, .question(question))))
            guard case .security(.answerPairing(_, let answer))? = driver.lastCommand?.command else { return nil }
            return answer
        }
        func set(_ name: String, _ value: BusValue) {
            driver.call(
                ServiceDriver.adapter, InterfaceName.properties, "Set",
                [.string(InterfaceName.adapter), .string(name), .variant(value)])
        }
        if hasAgent {
            driver.call(
                ObjectPaths.root, InterfaceName.agentManager, "RegisterAgent",
                [.path("/agent"), .string("NoInputNoOutput")])
        }
        driver.comes(Self.link)
        set("Pairable", .boolean(false))
        #expect(options(driver)?.asksConsent == true)
        #expect(answer(to: .consent) == .confirm(false))
        set("Pairable", .boolean(true))
        #expect(answer(to: .consent) == (hasAgent ? nil : .confirm(true)))
        set("PairableTimeout", .uint32(5))
        driver.wait(seconds: 6)
        #expect(answer(to: .consent) == .confirm(false))

        driver = ServiceDriver.ready()
        driver.connect(Self.link)
        set("Pairable", .boolean(false))
        #expect(answer(to: .consent) == .confirm(true))
    }

    @Test("The daemon begins again with agents here: Pairable is what somebody set, and its time goes on")
    func pairableAgain() {
        func set(_ driver: inout ServiceDriver, _ name: String, _ value: BusValue) {
            driver.call(
                ServiceDriver.adapter, InterfaceName.properties, "Set",
                [.string(InterfaceName.adapter), .string(name), .variant(value)])
        }
        func beginAgain(_ driver: inout ServiceDriver, afterSeconds seconds: Int64 = 1) -> Bool {
            driver.handle(.adapterLost(0))
            driver.wait(seconds: seconds)
            driver.handle(.adapterReady(AdapterDescription(number: 0, information: ServiceDriver.information)))
            let room = driver.service.adapters[0]
            let shown = driver.service.tree.value(of: "Pairable", InterfaceName.adapter, at: ServiceDriver.adapter)
            #expect(shown == .boolean(room?.isPairable == true))
            // Those who decide are asked, if all are not refused.
            #expect(options(driver)?.asksConsent == true)
            return room?.isPairable == true && room?.refusesPairing == false
        }
        var driver = ServiceDriver.ready()
        driver.call(
            ObjectPaths.root, InterfaceName.agentManager, "RegisterAgent",
            [.path("/agent"), .string("NoInputNoOutput")])
        #expect(beginAgain(&driver))
        set(&driver, "PairableTimeout", .uint32(30))
        set(&driver, "Pairable", .boolean(true))
        #expect(beginAgain(&driver, afterSeconds: 10))
        driver.wait(seconds: 21)
        #expect(driver.service.adapters[0]?.isPairable == false)
        #expect(!beginAgain(&driver))
        set(&driver, "Pairable", .boolean(true))
        set(&driver, "Pairable", .boolean(false))
        #expect(!beginAgain(&driver))
        // A new agent makes it pairable, if there was none before.
        driver.handle(.adapterLost(0))
        driver.handle(.clientLeft(ServiceDriver.client))
        driver.handle(.adapterReady(AdapterDescription(number: 0, information: ServiceDriver.information)))
        driver.call(
            ObjectPaths.root, InterfaceName.agentManager, "RegisterAgent",
            [.path("/agent"), .string("NoInputNoOutput")])
        #expect(driver.service.adapters[0]?.isPairable == true)
    }

    /// A device whose pairing follows one that it began itself; and the call.
    private func following() -> (driver: ServiceDriver, call: CallID) {
        var driver = ServiceDriver.ready()
        driver.connect(Self.link)
        driver.handle(.event(0, .pairing(Self.link, .started)))
        let call = driver.call(ServiceDriver.device, InterfaceName.device, "Pair")
        driver.complete(.failure(.security(.alreadyPairing)))
        #expect(!driver.isAnswered(call))
        return (driver, call)
    }

    @Test(
        "Pair follows a pairing that the device began, and ends once: as it ends, cancelled, with the link, or unseen")
    func follows() {
        let failed = HostEvent.pairing(Self.link, .failed(.refusedByPeer(.keyRejected)))
        let summary = PairingSummary(
            identity: ServiceDriver.peer, isSecureConnections: true, isAuthenticated: false, keySize: 16, isBonded: true
        )
        func answers(_ driver: ServiceDriver, _ call: CallID) -> Int {
            driver.effects.filter {
                switch $0 {
                case .reply(call, _), .refuse(call, _): true
                default: false
                }
            }.count
        }
        var (driver, call) = following()
        driver.handle(.event(0, failed))
        #expect(driver.error(of: call) == .authenticationFailed)
        driver.handle(.event(0, failed))
        driver.wait(seconds: 200)
        #expect(answers(driver, call) == 1)

        (driver, call) = following()
        driver.handle(.event(0, .pairing(Self.link, .paired(summary))))
        driver.handle(.event(0, .disconnected(Self.link, .local, reason: .controllerLost)))
        #expect(driver.isAnswered(call) && driver.error(of: call) == nil && answers(driver, call) == 1)
        #expect(driver.service.devices[ServiceDriver.device]?.isBonded == true)

        (driver, call) = following()
        driver.call(ServiceDriver.device, InterfaceName.device, "CancelPairing")
        #expect(driver.error(of: call) == .authenticationCanceled)
        driver.handle(.event(0, failed))
        #expect(answers(driver, call) == 1)

        (driver, call) = following()
        for failure in [SecurityFailure.alreadyPairing, .timedOut] {
            driver.effects = []
            driver.wait(seconds: 1)
            guard case .security(.pair)? = driver.lastCommand?.command else {
                Issue.record("it is not tried again")
                return
            }
            driver.complete(.failure(.security(failure)))
        }
        #expect(driver.error(of: call) == .authenticationTimeout && answers(driver, call) == 1)
    }

    @Test("The log says why pairings failed, of a flood ten in a minute")
    func notes() {
        var driver = ServiceDriver.ready()
        driver.comes(Self.link)
        func notes() -> [BlueZNote] {
            driver.effects = []
            for _ in 0..<100 { driver.handle(.event(0, .pairing(Self.link, .failed(.wouldReplaceBond)))) }
            return driver.effects.compactMap { if case .note(let note) = $0 { note } else { nil } }
        }
        let note = BlueZNote.pairingFailed(ServiceDriver.peer, .wouldReplaceBond)
        let expected = Array(repeating: note, count: 10) + [.manyPairingsFailed]
        #expect(notes() == expected)
        #expect(notes().isEmpty)
        driver.wait(seconds: 61)
        #expect(notes() == expected)
    }

    @Test("At the end of the service, agents, advertisements and monitors are released")
    func released() {
        var driver = asking()
        driver.call(
            ServiceDriver.adapter, InterfaceName.advertisingManager, "RegisterAdvertisement",
            [.path("/advertisement"), .properties([])])
        driver.answer(.success([.properties([("Type", .string("peripheral"))])]))
        if let ticket = driver.lastCommand?.ticket {
            driver.handle(.advertisingSet(ticket, .started(transmitPower: 0)))
        }
        driver.effects = []
        driver.service.stop()
        driver.wait(seconds: 0)
        #expect(driver.requests.filter { $0.member == "Release" }.map(\.path) == ["/agent", "/advertisement"])
    }
}
