import BLEMessages
import BLEPackets
import Testing

@testable import BLEHost

/// How a peripheral is answered that asks for other parameters, by the policy of each link.
@Suite("Policies for connection parameters")
struct ParameterPolicyTests {
    static let wished = ConnectionParameterRequest(
        interval: .milliseconds(30)...ConnectionInterval.milliseconds(50), peripheralLatency: 2,
        supervisionTimeout: .milliseconds(2000))

    static func within(
        _ low: Double, _ high: Double, latency: UInt16 = 499, timeout: ClosedRange<SupervisionTimeout>? = nil
    ) -> ParameterPolicy {
        .within(
            .milliseconds(low)...ConnectionInterval.milliseconds(high), latency: latency, supervisionTimeout: timeout)
    }

    static func timeouts(_ low: Double, _ high: Double) -> ClosedRange<SupervisionTimeout> {
        .milliseconds(low)...SupervisionTimeout.milliseconds(high)
    }

    /// What the link layer's request is answered with; `nil`: it is rejected.
    private func granted(_ rig: HostRig, _ handle: UInt16 = 0x40) throws -> ClosedRange<ConnectionInterval>? {
        rig.forget()
        rig.receive(
            LERemoteConnectionParameterRequest(
                connectionHandle: ConnectionHandle(rawValue: handle),
                minimumInterval: Self.wished.interval.lowerBound, maximumInterval: Self.wished.interval.upperBound,
                latency: Self.wished.peripheralLatency, supervisionTimeout: Self.wished.supervisionTimeout))
        let answer = try #require(rig.commands.last)
        #expect(rig.commands.count == 1)
        guard answer.opcode == LERemoteConnectionParameterRequestReply.opcode else {
            #expect(answer.opcode == LERemoteConnectionParameterRequestNegativeReply.opcode)
            return nil
        }
        func interval(_ at: Int) -> ConnectionInterval {
            ConnectionInterval(rawValue: UInt16(answer.parameters[at]) | UInt16(answer.parameters[at + 1]) << 8)
        }
        return interval(2)...interval(4)
    }

    private func rig(_ policy: ParameterPolicy = .accept) -> HostRig {
        var configuration = HostConfiguration()
        configuration.timing.parameterPolicy = policy
        let rig = HostRig(configuration: configuration)
        rig.start()
        return rig
    }

    /// The clients 1, 2, … connect, or join the link that there is.
    private func connect(
        _ rig: HostRig, _ policies: ParameterPolicy?..., handle: UInt16 = 0x40, joins: Bool = false
    ) {
        for (number, policy) in policies.enumerated() {
            var request = ConnectRequest(peer: HostRig.peer(Int(handle)))
            request.parameterPolicy = policy
            rig.submit(.radio(.connect(request)), from: ClientID(rawValue: UInt32(number + 1)))
        }
        if !joins { rig.receive(rig.connectionComplete(HostRig.peer(Int(handle)), handle: handle)) }
    }

    @Test(
        "bounds cut the interval, and reject a request that has no part in them",
        arguments: [
            (within(7.5, 4000), 30.0, 50.0), (within(30, 50), 30, 50), (within(40, 100), 40, 50),
            (within(15, 40), 30, 40), (within(40, 40), 40, 40), (within(51.25, 100), nil, nil),
            (within(7.5, 28.75), nil, nil), (within(30, 50, latency: 2), 30, 50),
            (within(30, 50, latency: 1), nil, nil),
            (within(30, 50, timeout: timeouts(2000, 2000)), 30, 50),
            (within(30, 50, timeout: timeouts(100, 1990)), nil, nil),
            (within(30, 50, timeout: timeouts(2010, 32000)), nil, nil), (.accept, 30, 50), (.reject, nil, nil),
        ] as [(ParameterPolicy, Double?, Double?)])
    func bounds(policy: ParameterPolicy, low: Double?, high: Double?) {
        let granted = policy.granted(Self.wished)
        #expect(granted?.interval.lowerBound == low.map { .milliseconds($0) })
        #expect(granted?.interval.upperBound == high.map { .milliseconds($0) })
        #expect(granted?.isValid ?? true)
    }

    @Test("each link has the policy with which it was asked for, and the engine's without one")
    func perLink() throws {
        let rig = rig(.reject)
        connect(rig, .accept, handle: 0x40)
        connect(rig, nil, handle: 0x41)
        connect(rig, Self.within(40, 45), handle: 0x42)
        #expect(try granted(rig, 0x40) == Self.wished.interval)
        #expect(try granted(rig, 0x41) == nil)
        #expect(try granted(rig, 0x42) == .milliseconds(40)...ConnectionInterval.milliseconds(45))
    }

    @Test("of several requests the latest with a policy counts, also one that joins the link")
    func latest() throws {
        let rig = rig()
        connect(rig, .accept, .reject, nil)
        #expect(try granted(rig) == nil)
        connect(rig, nil, joins: true)
        #expect(try granted(rig) == nil)
        connect(rig, .accept, joins: true)
        #expect(try granted(rig) == Self.wished.interval)
    }

    @Test("a client that leaves takes its policy along, and one that comes back without one has none")
    func leaving() throws {
        let rig = rig()
        connect(rig, Self.within(40, 45), .reject)
        rig.receive(frame: [0x03, 0x17, 0x00], handle: 0x40)
        let link = try #require(rig.links.first { $0.id.handle.rawValue == 0x40 }).id
        #expect(try granted(rig) == nil)
        rig.submit(.link(link, .disconnect), from: ClientID(rawValue: 2))
        #expect(try granted(rig) == .milliseconds(40)...ConnectionInterval.milliseconds(45))
        connect(rig, nil, nil, joins: true)
        #expect(try granted(rig) == .milliseconds(40)...ConnectionInterval.milliseconds(45))
        rig.submit(.link(link, .disconnect), from: ClientID(rawValue: 1))
        #expect(try granted(rig) == Self.wished.interval)
    }

    @Test("a request over L2CAP is answered by the same policy", arguments: [true, false])
    func signalling(isAccepted: Bool) {
        let rig = rig(isAccepted ? .reject : .accept)
        connect(rig, isAccepted ? Self.within(40, 45) : .reject)
        rig.receive(frame: [0x03, 0x17, 0x00], handle: 0x40)
        rig.forget()
        var request = PacketWriter()
        LESignallingCommand.connectionParameterUpdateRequest(
            .init(minimumInterval: 24, maximumInterval: 40, latency: 2, supervisionTimeout: 200)
        ).encodePacket(identifier: 7, into: &request)
        rig.receive(frame: request.bytes, channel: 5, handle: 0x40)
        let answers = rig.data.map { Array($0.dropFirst(8)) }
        #expect(answers == [[0x13, 7, 2, 0, isAccepted ? 0 : 1, 0]])
        let updates = rig.commands.filter { $0.opcode == LEConnectionUpdate.opcode }
        #expect(updates.map { Array($0.parameters[2..<8]) } == (isAccepted ? [[32, 0, 36, 0, 2, 0]] : []))
    }

    @Test("a request that was recorded before there were policies reads as one without")
    func earlierRecordings() throws {
        var request = ConnectRequest(peer: HostRig.peer)
        let earlier = String(decoding: try request.json(), as: UTF8.self)
        #expect(!earlier.contains("olicy"))
        #expect(try ConnectRequest(text: earlier) == request)
        for policy in [.reject, Self.within(30, 50), Self.within(30, 50, timeout: Self.timeouts(100, 200))] {
            request.parameterPolicy = policy
            #expect(try request.readBack() == request)
        }
        let bounds = #"{"within":{"minimum_interval":24,"maximum_interval":40,"maximum_latency":4}}"#
        #expect(try ParameterPolicy(text: bounds) == Self.within(30, 50, latency: 4))
    }
}
