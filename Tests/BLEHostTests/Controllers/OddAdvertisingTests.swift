import BLEPackets
import Testing

@testable import BLEHost

/// Controllers that advertise only at times, or stop advertising without a word.
@Suite("Controllers that advertise oddly")
struct OddAdvertisingTests {
    private static let request = RadioCommand.advertise(
        AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: [])))

    private func started(
        _ found: ControllerTraits = [], isExtended: Bool = false, adapts: Bool = true,
        change: (HostRig) -> Void = { _ in }
    ) -> HostRig {
        var configuration = HostConfiguration()
        configuration.experience.found = found
        configuration.adaptsToController = adapts
        let rig = HostRig(configuration: configuration)
        if isExtended { rig.features = [.encryption, .extendedAdvertising] }
        change(rig)
        rig.start()
        rig.forget()
        return rig
    }

    private func learned(_ rig: HostRig) -> ControllerTraits {
        rig.events.reduce(into: []) {
            if case .controllerLearned(let experience) = $1 { $0.formUnion(experience.found) }
        }
    }

    private func changes(_ rig: HostRig) -> [Bool] {
        rig.events.compactMap { if case .advertisingChanged(let isOn) = $0 { isOn } else { nil } }
    }

    /// A controller that refuses to advertise while it scans, and to scan while it advertises.
    private func exclusive(_ rig: HostRig, _ status: HCIStatus = .commandDisallowed) {
        rig.answer = { [unowned rig] command in
            let (scans, advertises) = Self.state(rig)
            switch command.opcode {
            case LESetAdvertisingEnable.opcode where command.parameters == [1] && scans:
                return .complete([status.rawValue])
            case LESetScanEnable.opcode where command.parameters[0] == 1 && advertises:
                return .complete([status.rawValue])
            default: return nil
            }
        }
    }

    /// What the controller of the rig does, by the commands that it has accepted.
    private static func state(_ rig: HostRig) -> (scans: Bool, advertises: Bool) {
        (
            rig.accepted[LESetScanEnable.opcode]?.first == 1,
            rig.accepted[LESetAdvertisingEnable.opcode]?.first == 1
        )
    }

    @Test(
        "where advertising is refused while scanning, both live by turns, and clients see neither end (A44)",
        arguments: [HCIStatus.commandDisallowed, .rejectedLimitedResources])
    func turns(status: HCIStatus) {
        let rig = started()
        exclusive(rig, status)
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        let advertisement = rig.submit(.radio(Self.request))
        rig.advance(by: .seconds(5))
        #expect(learned(rig) == .refusesAdvertisingWhileScanning)
        var (scanning, advertising) = (0, 0)
        for _ in 0..<600 {
            rig.advance(by: .milliseconds(100))
            let now = Self.state(rig)
            #expect(!(now.scans && now.advertises))
            if now.scans { scanning += 1 }
            if now.advertises { advertising += 1 }
        }
        #expect(scanning > 250 && advertising > 250)
        #expect(rig.results(of: scan).isEmpty && rig.results(of: advertisement).isEmpty)
        #expect(changes(rig) == [true])
        // With one of them gone the other needs no turns.
        rig.submit(.cancel(scan))
        rig.advance(by: .seconds(10))
        rig.forget()
        rig.advance(by: .seconds(60))
        #expect(Self.state(rig).advertises && rig.count(of: LESetAdvertisingEnable.opcode) == 0)
    }

    @Test("a controller that is known for it gets turns at once (A44)")
    func knownTurns() {
        let rig = started(.refusesAdvertisingWhileScanning)
        exclusive(rig)
        rig.submit(.radio(.scan(ScanRequest())))
        rig.submit(.radio(Self.request))
        #expect(Self.state(rig).advertises && rig.counters.desynchronisations == 0)
        rig.advance(by: .seconds(4))
        #expect(Self.state(rig).scans)
        #expect(rig.counters.desynchronisations == 0)
    }

    @Test(
        "if advertising is refused without scanning, too, scanning goes on, and the next link's end is waited for (A74)"
    )
    func refusedForAnotherReason() {
        for status in [HCIStatus.commandDisallowed, .rejectedLimitedResources, .connectionLimitExceeded] {
            let rig = started()
            rig.answers[LESetAdvertisingEnable.opcode] = .complete([status.rawValue])
            let link = rig.connect()
            rig.submit(.radio(.scan(ScanRequest())))
            let advertisement = rig.submit(.radio(Self.request))
            rig.advance(by: .seconds(20))
            #expect(learned(rig).isEmpty)
            #expect(rig.results(of: advertisement).isEmpty)
            #expect(rig.accepted[LESetScanEnable.opcode]?.first == 1)
            rig.answers[LESetAdvertisingEnable.opcode] = nil
            rig.receive(DisconnectionComplete(connectionHandle: link.handle, reason: .remoteUserTerminatedConnection))
            rig.advance(by: .seconds(2))
            #expect(changes(rig) == [true])
        }
    }

    @Test("commands for private addresses that the controller does not know do not keep it from starting (A70)")
    func noAddressTimeout() {
        let rig = ResolvingListTests.rig(ResolvingListTests.bonds, isPrivate: true) {
            $0.answers[LESetResolvablePrivateAddressTimeout.opcode] = .status(.unknownCommand)
        }
        #expect(rig.isReady)
        rig.submit(.radio(.scan(ScanRequest())))
        #expect(rig.accepted[LESetScanEnable.opcode]?.first == 1)
    }

    @Test("the accept list is written again before each attempt (A71)")
    func acceptList() {
        let rig = started()
        for number in 1...3 { rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(number))))) }
        rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
        rig.forget()
        rig.receive(rig.connectionComplete(HostRig.peer(1)))
        let list = rig.commands.map(\.opcode).filter {
            [LEClearFilterAcceptList.opcode, LEAddDeviceToFilterAcceptList.opcode, LECreateConnection.opcode]
                .contains($0)
        }
        #expect(
            list == [
                LEClearFilterAcceptList.opcode, LEAddDeviceToFilterAcceptList.opcode,
                LEAddDeviceToFilterAcceptList.opcode, LECreateConnection.opcode,
            ])
    }

    @Test("a new private address is followed by the parameters of advertising, with which some begin to use it (A72)")
    func newAddress() throws {
        let rig = PrivateAddressTests.rig()
        rig.submit(.radio(Self.request))
        rig.forget()
        rig.advance(by: .seconds(1000))
        let opcodes = rig.commands.map(\.opcode)
        let change = try #require(opcodes.lastIndex(of: LESetRandomAddress.opcode))
        #expect(opcodes[change...].contains(LESetAdvertisingParameters.opcode))
        #expect(opcodes.last == LESetAdvertisingEnable.opcode)
    }

    @Test("the transmit power is not asked for at the start (A73)")
    func noTransmitPower() {
        let rig = HostRig()
        rig.features = [.encryption, .extendedAdvertising, .powerControlRequest]
        rig.start()
        #expect(rig.isReady && rig.count(of: HCIOpcode(rawValue: 0x204B)) == 0)
    }

    // MARK: Liveness

    @Test("nothing is asked while nothing is advertised, or of an engine that does not adapt (A76)")
    func noPolling() {
        let rig = started()
        rig.advance(by: .seconds(3600))
        #expect(rig.commands.isEmpty && rig.nextDeadline == nil)
        let other = started(adapts: false)
        other.submit(.radio(Self.request))
        other.advance(by: .seconds(100))
        other.forget()
        other.advance(by: .seconds(3600))
        #expect(other.commands.isEmpty)
    }

    @Test(
        "advertising that goes on is asked about each five minutes, and not disturbed (A76)", arguments: [true, false])
    func stillOn(isExtended: Bool) {
        let rig = started(isExtended: isExtended)
        rig.submit(.radio(Self.request))
        rig.advance(by: .seconds(100))
        if !isExtended { rig.answers[LESetAdvertisingParameters.opcode] = .complete([0x0C]) }
        rig.forget()
        rig.advance(by: .seconds(3000))
        let opcode = isExtended ? LESetExtendedAdvertisingEnable.opcode : LESetAdvertisingParameters.opcode
        #expect(rig.commands.count == 10 && rig.count(of: opcode) == 10)
        #expect(changes(rig).isEmpty)
    }

    @Test("an extended controller that has forgotten its sets is reset, and advertises again (A76)")
    func forgottenSets() {
        let rig = started(isExtended: true)
        rig.submit(.radio(Self.request))
        rig.advance(by: .seconds(100))
        rig.forget()
        rig.answer = {
            // As after a reset of its own: no set is known before it has parameters.
            $0.opcode == LESetExtendedAdvertisingEnable.opcode
                && rig.count(of: LESetExtendedAdvertisingParameters.opcode) == 0 ? .complete([0x42]) : nil
        }
        rig.advance(by: .seconds(310))
        #expect(rig.count(of: Reset.opcode) == 1)
        #expect(rig.commands.last?.opcode == LESetExtendedAdvertisingEnable.opcode)
        #expect(changes(rig).last == true)
    }

    @Test("a legacy controller that advertises no more begins again, and is reset if that was not its way (A76)")
    func forgottenAdvertising() {
        let rig = started()
        rig.submit(.radio(Self.request))
        rig.advance(by: .seconds(100))
        rig.forget()
        rig.answer = {
            // Off after its reset, on when it is switched on again.
            $0.opcode == LESetAdvertisingParameters.opcode && rig.count(of: LESetAdvertisingEnable.opcode) > 1
                && rig.accepted[LESetAdvertisingEnable.opcode]?.first == 1 && rig.count(of: Reset.opcode) == 0
                ? .complete([0x0C]) : nil
        }
        rig.advance(by: .seconds(310))
        #expect(rig.count(of: Reset.opcode) == 1)
        #expect(rig.commands.last == .init(opcode: LESetAdvertisingEnable.opcode, parameters: [1]))
    }

    @Test("a legacy controller that always accepts the parameters shows nothing, and is left alone (A76)")
    func lenient() {
        let rig = started()
        rig.submit(.radio(Self.request))
        rig.advance(by: .seconds(100))
        rig.advance(by: .seconds(600))
        rig.forget()
        rig.advance(by: .seconds(3600))
        #expect(rig.commands.isEmpty)
        #expect(rig.counters.controllerResets == 0)
    }

    @Test("reports show that the controller does what it was told: nothing is asked (A76)")
    func reports() {
        let rig = started()
        rig.submit(.radio(Self.request))
        rig.submit(.radio(.scan(ScanRequest())))
        rig.advance(by: .seconds(100))
        rig.forget()
        for _ in 0..<600 {
            rig.receive(HostRig.report())
            rig.advance(by: .seconds(1))
        }
        #expect(rig.commands.isEmpty)
    }
}
