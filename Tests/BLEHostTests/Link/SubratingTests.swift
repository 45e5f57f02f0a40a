import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

/// Connection subrating, and how requests for parameters are answered, on simulated controllers.
@Suite("Subrating and the policy for parameters")
struct SubratingTests {
    static let request = SubrateParameters(
        minimumFactor: 2, maximumFactor: 8, maximumLatency: 1, continuationNumber: 1,
        supervisionTimeout: .milliseconds(10_000))
    static let agreed = LinkSubrate(
        factor: 8, continuationNumber: 1, latency: 1, supervisionTimeout: .milliseconds(10_000))

    /// A peripheral and a central on a link.
    static func linked(
        _ change: (inout Timing, Int) -> Void
    ) throws -> (world: World, toPeripheral: LinkID, toCentral: LinkID) {
        let world = World(
            hosts: 2,
            configuration: { number in
                var configuration = HostConfiguration()
                change(&configuration.timing, number)
                return configuration
            })
        world.peripheral.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: [])))))
        let link = try #require(world.central.connect(world.peripheral.address))
        world.run(for: .seconds(2))
        return (world, link, try #require(world.peripheral.centrals.first).id)
    }

    @Test("the central sets a share of the events; the peripheral may ask within what the central accepts")
    func subrates() throws {
        let (world, toPeripheral, toCentral) = try Self.linked { timing, number in
            timing.allowsSubrating = true
            if number == 1 {
                timing.acceptedSubrates = SubrateParameters(
                    minimumFactor: 1, maximumFactor: 4, maximumLatency: 1, supervisionTimeout: .milliseconds(10_000))
            }
        }
        let result = world.central.result(of: .link(toPeripheral, .procedure(.setSubrate(Self.request))))
        #expect(result == .success(.subrate(Self.agreed)))
        #expect(world.peripheral.events.contains(.subrateChanged(toCentral, Self.agreed)))
        guard
            case .success(.subrate(let asked))? = world.peripheral.result(
                of: .link(toCentral, .procedure(.setSubrate(Self.request))))
        else {
            Issue.record("the peripheral's request was refused")
            return
        }
        #expect(asked.factor == 4)
        // The link still carries data, and ends.
        #expect(world.central.gatt(toPeripheral, .discoverServices(uuids: [])) != nil)
        #expect(world.central.result(of: .link(toPeripheral, .disconnect)) == .success(.done))
    }

    @Test("where one host does not allow it, the request fails with the controller's reason")
    func refused() throws {
        let (world, toPeripheral, toCentral) = try Self.linked { timing, number in timing.allowsSubrating = number == 1
        }
        let failure = HostFailure.controller(.unsupportedRemoteFeature, LESubrateRequest.opcode)
        for (host, link) in [(world.central, toPeripheral), (world.peripheral, toCentral)] {
            #expect(host.result(of: .link(link, .procedure(.setSubrate(Self.request)))) == .failure(failure))
        }
        #expect(world.central.gatt(toPeripheral, .discoverServices(uuids: [])) != nil)
    }

    @Test("the controller hears of subrating at its start only if it is allowed", arguments: [false, true])
    func start(isAllowed: Bool) {
        var configuration = HostConfiguration()
        configuration.timing.allowsSubrating = isAllowed
        let rig = HostRig(configuration: configuration)
        rig.features = [.encryption, .connectionSubrating]
        rig.start()
        #expect(rig.isReady)
        let told = rig.commands.first { $0.opcode == LESetHostFeature.opcode }
        #expect(told?.parameters == (isAllowed ? [38, 1] : nil))
    }

    @Test("the policy accepts, narrows or rejects what a peripheral asks for, over the link layer and over L2CAP")
    func policy() throws {
        let wished = ConnectionParameterRequest(
            interval: .milliseconds(50)...ConnectionInterval.milliseconds(200), peripheralLatency: 2,
            supervisionTimeout: .milliseconds(6000))
        func outcome(
            _ policy: ParameterPolicy, usesLinkLayer: Bool
        ) throws -> Result<HostResult, HostFailure>? {
            let world = World(
                hosts: 2,
                { controller, _ in
                    if !usesLinkLayer { controller.features.remove(.connectionParametersRequestProcedure) }
                },
                configuration: { _ in
                    var configuration = HostConfiguration()
                    configuration.timing.parameterPolicy = policy
                    return configuration
                })
            world.peripheral.submit(
                .radio(.advertise(AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: [])))))
            _ = try #require(world.central.connect(world.peripheral.address))
            world.run(for: .seconds(2))
            let link = try #require(world.peripheral.centrals.first).id
            return world.peripheral.result(of: .link(link, .procedure(.updateParameters(wished))))
        }
        for usesLinkLayer in [true, false] {
            guard case .success(.connectionParameters(let all))? = try outcome(.accept, usesLinkLayer: usesLinkLayer)
            else {
                Issue.record("not accepted")
                continue
            }
            #expect(all.interval == .milliseconds(200) && all.peripheralLatency == 2)
            let narrow = ParameterPolicy.within(
                .milliseconds(15)...ConnectionInterval.milliseconds(100), latency: 4)
            guard case .success(.connectionParameters(let part))? = try outcome(narrow, usesLinkLayer: usesLinkLayer)
            else {
                Issue.record("not narrowed")
                continue
            }
            #expect(part.interval == .milliseconds(100))
            let impatient = ParameterPolicy.within(
                .milliseconds(15)...ConnectionInterval.milliseconds(100), latency: 0)
            func timeouts(_ low: Double, _ high: Double) -> ParameterPolicy {
                .within(
                    wished.interval, latency: 2,
                    supervisionTimeout: .milliseconds(low)...SupervisionTimeout.milliseconds(high))
            }
            for policy in [timeouts(2000, 6000), timeouts(6000, 6000)] {
                guard case .success = try outcome(policy, usesLinkLayer: usesLinkLayer) else {
                    Issue.record("the timeout is not accepted")
                    continue
                }
            }
            for policy in [.reject, impatient, timeouts(2000, 5990), timeouts(6010, 8000)] {
                #expect(try outcome(policy, usesLinkLayer: usesLinkLayer) == .failure(.rejectedByPeer))
            }
        }
    }
}
