import BLEMessages
import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// Advertising that calls one device.
@Suite("Directed advertising")
struct DirectedAdvertisingTests {
    static let peer = ResolvingListTests.bonds[0].identity

    static func request(
        _ form: AdvertisingTarget.Form, peer: DeviceAddress = peer, resumes: Bool = true
    ) -> HostCommand {
        .radio(
            .advertise(
                AdvertiseRequest(
                    .packed(localName: "Lamp", serviceUUIDs: []), resumesAfterConnection: resumes,
                    target: AdvertisingTarget(peer: peer, form: form))))
    }

    static func rig(isExtended: Bool = false, isPrivate: Bool = false) -> HostRig {
        ResolvingListTests.rig([ResolvingListTests.bonds[0]], isPrivate: isPrivate) {
            if isExtended { $0.features.insert(.extendedAdvertising) }
        }
    }

    /// The bytes of Advertising_Type, Own_Address_Type, Peer_Address_Type and Peer_Address.
    static func legacy(_ rig: HostRig) -> [UInt8]? {
        rig.commands.last { $0.opcode == LESetAdvertisingParameters.opcode }.map { Array($0.parameters[4..<13]) }
    }

    static func switches(_ rig: HostRig) -> [UInt8] {
        rig.commands.filter {
            [LESetAdvertisingEnable.opcode, LESetExtendedAdvertisingEnable.opcode].contains($0.opcode)
        }.map { $0.parameters[0] }
    }

    static func timeout(role: ConnectionRole = .peripheral) -> LEConnectionComplete {
        LEConnectionComplete(
            status: .advertisingTimeout, connectionHandle: ConnectionHandle(rawValue: 0), role: role,
            peerAddress: peer, interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000))
    }

    @Test(
        "legacy directed advertising names the peer and carries no data: type 0x01 at the high duty cycle, 0x04 at the low (7.8.5)"
    )
    func legacyParameters() {
        for (form, type) in [(AdvertisingTarget.Form.highDutyCycle, UInt8(1)), (.lowDutyCycle, 4)] {
            let rig = Self.rig()
            rig.submit(Self.request(form))
            #expect(Self.legacy(rig) == [type, 0, 0] + Self.peer.octets)
            #expect(
                rig.commands.map(\.opcode) == [LESetAdvertisingParameters.opcode, LESetAdvertisingEnable.opcode])
        }
    }

    @Test("a private device uses own address type 0x03 for a peer in the list, the host's address for others (7.8.5)")
    func privateCall() {
        let rig = Self.rig(isPrivate: true)
        rig.submit(Self.request(.lowDutyCycle))
        #expect(Self.legacy(rig) == [4, 3, 0] + Self.peer.octets)
        let other = Self.rig(isPrivate: true)
        other.submit(Self.request(.lowDutyCycle, peer: HostRig.peer))
        #expect(Self.legacy(other) == [4, 1, 1] + HostRig.peer.octets)
    }

    @Test(
        "an extended controller uses a set of its own, 1.28 s at most at the high duty cycle (7.8.53, 7.8.56)"
    )
    func extendedParameters() throws {
        let forms: [(AdvertisingTarget.Form, UInt8, UInt16)] = [
            (.highDutyCycle, 0x1D, 128), (.lowDutyCycle, 0x15, 0), (.extended, 0x05, 0),
        ]
        for (form, properties, duration) in forms {
            let rig = Self.rig(isExtended: true)
            rig.submit(Self.request(form))
            let data = form == .extended ? [LESetExtendedAdvertisingData.opcode] : []
            #expect(
                rig.commands.map(\.opcode) == [
                    LERemoveAdvertisingSet.opcode, LESetExtendedAdvertisingParameters.opcode,
                ] + data + [LESetExtendedAdvertisingEnable.opcode])
            let parameters = try #require(
                rig.commands.first { $0.opcode == LESetExtendedAdvertisingParameters.opcode }?.parameters)
            #expect(parameters[1] == properties && parameters[2] == 0)
            #expect(Array(parameters[12..<18]) == Self.peer.octets)
            #expect(
                Array(try #require(rig.commands.last).parameters)
                    == [1, 1, 0, UInt8(duration & 0xFF), UInt8(duration >> 8), 0])
        }
    }

    @Test("extended directed advertising on a legacy controller fails with the reason")
    func extendedOnLegacy() {
        let rig = Self.rig()
        let other = rig.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "x", serviceUUIDs: [])))))
        let operation = rig.submit(Self.request(.extended))
        #expect(
            rig.results(of: operation) == [
                .failure(
                    .controller(.unsupportedFeatureOrParameterValue, LESetExtendedAdvertisingParameters.opcode))
            ])
        #expect(Self.switches(rig) == [1])
        #expect(rig.results(of: other).isEmpty)
    }

    @Test("high duty cycle advertising without an answer fails, whatever role the controller names (0x3C)")
    func timedOut() {
        for role in [ConnectionRole.peripheral, .central] {
            let rig = Self.rig()
            let operation = rig.submit(Self.request(.highDutyCycle))
            rig.receive(Self.timeout(role: role))
            #expect(rig.results(of: operation) == [.failure(.connectionFailed(.advertisingTimeout))])
            #expect(Self.switches(rig) == [1])
        }
        let rig = Self.rig(isExtended: true)
        let operation = rig.submit(Self.request(.highDutyCycle))
        rig.receive(
            LEAdvertisingSetTerminated(
                status: .advertisingTimeout, advertisingHandle: 0, connectionHandle: ConnectionHandle(rawValue: 0),
                completedExtendedAdvertisingEvents: 0))
        #expect(rig.results(of: operation) == [.failure(.connectionFailed(.advertisingTimeout))])
    }

    @Test("a controller that continues after 1.28 s is stopped (A77)")
    func endless() {
        let rig = Self.rig()
        let operation = rig.submit(Self.request(.highDutyCycle))
        rig.advance(by: .milliseconds(1280))
        #expect(rig.results(of: operation).isEmpty)
        rig.advance(by: .milliseconds(300))
        #expect(rig.results(of: operation) == [.failure(.connectionFailed(.advertisingTimeout))])
        #expect(Self.switches(rig) == [1, 0])
    }

    @Test("directed advertising goes before undirected advertising, which continues after it")
    func goesFirst() {
        let rig = Self.rig()
        rig.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "x", serviceUUIDs: [])))))
        rig.submit(Self.request(.highDutyCycle))
        #expect(Self.legacy(rig)?.first == 1)
        rig.receive(Self.timeout())
        #expect(Self.legacy(rig)?.first == 0)
        #expect(Self.switches(rig) == [1, 0, 1, 1])
    }

    @Test("low duty cycle advertising pauses while the peer is connected, and continues when it has gone")
    func rests() {
        let rig = Self.rig()
        let operation = rig.submit(Self.request(.lowDutyCycle))
        rig.receive(IdentityTests.peripheralLink(Self.peer))
        #expect(rig.results(of: operation).isEmpty)
        #expect(Self.switches(rig) == [1])
        rig.receive(
            DisconnectionComplete(
                status: .success, connectionHandle: ConnectionHandle(rawValue: 0x40),
                reason: .remoteUserTerminatedConnection))
        #expect(Self.switches(rig) == [1, 1])
        rig.submit(.cancel(operation))
        #expect(Self.switches(rig) == [1, 1, 0])
        #expect(rig.results(of: operation) == [.failure(.cancelled)])
    }

    @Test("directed advertising for one connection ends with it, and at once if the peer is connected")
    func endsWithConnection() {
        for form in [AdvertisingTarget.Form.highDutyCycle, .lowDutyCycle] {
            let rig = Self.rig()
            let operation = rig.submit(Self.request(form, resumes: false))
            rig.receive(IdentityTests.peripheralLink(Self.peer))
            #expect(rig.results(of: operation) == [.success(.done)])
            let again = rig.submit(Self.request(form, resumes: false))
            #expect(rig.results(of: again) == [.success(.done)])
            #expect(Self.switches(rig) == [1])
        }
    }

    @Test("directed advertising that the controller refuses fails with its reason")
    func refused() {
        let rig = Self.rig()
        rig.answers[LESetAdvertisingParameters.opcode] = .complete([HCIStatus.invalidCommandParameters.rawValue])
        let operation = rig.submit(Self.request(.lowDutyCycle))
        #expect(
            rig.results(of: operation) == [
                .failure(.controller(.invalidCommandParameters, LESetAdvertisingParameters.opcode))
            ])
    }

    @Test("directed advertising in a recording keeps its target, and an older recording has none")
    func coding() throws {
        let request = AdvertiseRequest(
            .raw(advertisement: [], scanResponse: []), target: AdvertisingTarget(peer: Self.peer, form: .highDutyCycle))
        #expect(try request.readBack() == request)
        let old = String(decoding: try AdvertiseRequest(request.content).json(), as: UTF8.self)
        #expect(!old.contains("target"))
    }
}
