import BLEPackets
import Testing

@testable import BLEHost

/// A radio without links, bonds or a controller: the test answers its commands.
private struct Bench {
    var radio: Radio
    var effects = Effects()
    var now: Instant {
        get { effects.now }
        set { effects.now = newValue }
    }
    private var lastOperation: UInt64 = 0

    init(
        features: LEFeatures = [], version: HCIVersion = .core54, configuration: HostConfiguration = HostConfiguration()
    ) {
        radio = Radio(configuration: SharedConfiguration(configuration))
        var information = ControllerInformation()
        information.features = features
        information.hciVersion = version.rawValue
        information.filterAcceptListSize = 4
        radio.begin(with: information, traits: [])
        effects.now = Instant(microseconds: 1_000_000)
    }

    mutating func operation() -> OperationID {
        lastOperation += 1
        return OperationID(rawValue: lastOperation)
    }

    mutating func scan() -> OperationID {
        let operation = operation()
        radio.scanner.add(ScanRequest(), operation: operation, client: .local)
        return operation
    }

    mutating func connect(to peer: UInt64) -> OperationID {
        let operation = operation()
        radio.connector.add(
            ConnectRequest(peer: DeviceAddress(value: peer, kind: .public)), operation: operation, client: .local)
        return operation
    }

    mutating func advertise(_ target: AdvertisingTarget? = nil, isPresent: Bool = false) -> OperationID {
        let operation = operation()
        radio.advertise(
            AdvertiseRequest(.packed(localName: "x", serviceUUIDs: []), target: target), operation: operation,
            client: .local, isPresent: isPresent, into: &effects)
        return operation
    }

    mutating func converge(present: [DeviceAddress] = []) {
        radio.converge(resolving: [], present: present, into: &effects)
    }

    /// The next command, answered with `status`; `nil` where the radio has nothing to say.
    mutating func answer(_ status: HCIStatus = .success) -> HCIOpcode? {
        effects.commands.flush(into: &effects.packets, at: now)
        effects.packets.removeAll()
        guard let command = effects.commands.inFlight else { return nil }
        switch effects.commands.answered(command.opcode, credits: 1) {
        case .scan: radio.scanAnswered(status, command.opcode, hasLinks: false, into: &effects)
        case .initiate: radio.initiateAnswered(status, command.opcode, hasLinks: false, into: &effects)
        case .advertise: radio.advertiseAnswered(status, command.opcode, into: &effects)
        case .ownAddress: radio.addressAnswered(status, at: now)
        default: Issue.record("\(command.opcode) was not sent by the radio")
        }
        return command.opcode
    }

    /// Answers every command with success and converges until the radio is content.
    mutating func run() -> [HCIOpcode] {
        var sent: [HCIOpcode] = []
        for _ in 0..<50 {
            converge()
            while let opcode = answer() { sent.append(opcode) }
            guard radio.isUnsettled else { break }
        }
        return sent
    }

    mutating func ends() -> [OperationID: HostFailure?] {
        var ends: [OperationID: HostFailure?] = [:]
        while let event = effects.events.popFirst() {
            guard case .completed(let operation, let result) = event else { continue }
            #expect(ends[operation] == nil, "an operation ends once")
            if case .failure(let failure) = result { ends[operation] = failure } else { ends[operation] = .some(nil) }
        }
        return ends
    }
}

@Suite("Radio")
struct RadioTests {
    @Test("a controller gets commands of one set only", arguments: [false, true])
    func commandSets(isExtended: Bool) {
        let legacy = [
            LESetScanParameters.opcode, LESetScanEnable.opcode, LECreateConnection.opcode,
            LESetAdvertisingParameters.opcode, LESetAdvertisingData.opcode, LESetScanResponseData.opcode,
            LESetAdvertisingEnable.opcode,
        ]
        let extended = [
            LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode, LEExtendedCreateConnection.opcode,
            LESetExtendedAdvertisingParameters.opcode, LESetExtendedAdvertisingData.opcode,
            LESetExtendedScanResponseData.opcode, LESetExtendedAdvertisingEnable.opcode,
        ]
        let features: LEFeatures = isExtended ? [.extendedAdvertising] : []
        var bench = Bench(features: features)
        _ = bench.scan()
        _ = bench.connect(to: 7)
        _ = bench.advertise()
        #expect(Set(bench.run().map(\.rawValue)) == Set((isExtended ? extended : legacy).map(\.rawValue)))
        #expect(bench.radio.scanMachine.isScanning)
        #expect(bench.radio.advertisingMachine.isAdvertising)
    }

    @Test("a controller that refuses to initiate while it scans does one at a time from then on (pain 2)")
    func oneAtATime() {
        var bench = Bench()
        _ = bench.scan()
        _ = bench.run()
        let connect = bench.connect(to: 7)
        bench.converge()
        // Command Disallowed: a forgotten attempt is cancelled twice before the plan is given up.
        for _ in 0..<12 where !bench.radio.mustNotInitiateWhileScanning { _ = bench.answer(.commandDisallowed) }
        #expect(bench.radio.mustNotInitiateWhileScanning)
        #expect(bench.ends()[connect] == nil, "the connection is still waited for (SPEC CEN-9)")
    }

    @Test("a refusal ends what was asked for, with the command that was refused")
    func refusal() {
        var bench = Bench(features: [.extendedAdvertising])
        let scan = bench.scan()
        bench.converge()
        #expect(bench.answer(.unsupportedFeatureOrParameterValue) == LESetExtendedScanParameters.opcode)
        #expect(
            bench.ends()[scan]
                == .controller(.unsupportedFeatureOrParameterValue, LESetExtendedScanParameters.opcode))
    }

    @Test("cancelling ends each kind of request once, and the radio ignores an unknown operation")
    func cancelling() {
        var bench = Bench()
        let wishes = [bench.scan(), bench.connect(to: 7), bench.advertise()]
        for wish in wishes {
            #expect(bench.radio.cancel(wish, into: &bench.effects))
            #expect(!bench.radio.cancel(wish, into: &bench.effects))
        }
        #expect(bench.radio.isUnsettled)
        let ends = bench.ends()
        #expect(wishes.allSatisfy { ends[$0] == .cancelled })
    }

    @Test("what a plan depends on marks itself when it changes; a report changes no plan")
    func marks() {
        var bench = Bench()
        _ = bench.scan()
        _ = bench.run()
        #expect(!bench.radio.isUnsettled)
        var report = Scanner.Report(
            address: DeviceAddress(value: 7, kind: .public), isConnectable: true, isScannable: false,
            isScanResponse: false, isExtended: false, rssi: -40)
        let data: [UInt8] = [2, 1, 6]
        let deadline = bench.radio.scanDeadline
        bench.now = bench.now.advanced(by: .seconds(1))
        bench.radio.sighted(&report, data: data.span.bytes, into: &bench.effects)
        bench.radio.received(report, data: data.span.bytes, resolving: [], into: &bench.effects)
        #expect(!bench.radio.isUnsettled)
        #expect(bench.radio.scanDeadline == deadline?.advanced(by: .seconds(1)))
        let scans = bench.radio.scanner.revision
        _ = bench.scan()
        #expect(bench.radio.scanner.revision != scans)
        _ = bench.connect(to: 7)
        #expect(bench.radio.isUnsettled)
    }

    @Test("the radio pauses while a private address is set, and then continues")
    func pause() throws {
        var bench = Bench(configuration: HostConfiguration(hasCryptoProvider: true))
        _ = bench.scan()
        _ = bench.run()
        let address = try #require(DeviceAddress(resolvable: [0x40, 1, 2], hash: [3, 4, 5]))
        bench.radio.privateAddress.state = .waiting(address)
        #expect(bench.radio.isPaused)
        bench.radio.proceedWithAddress(into: &bench.effects)
        #expect(bench.effects.commands.isIdle, "a controller takes no address while it scans")
        _ = bench.run()
        #expect(bench.radio.isIdle)
        bench.radio.proceedWithAddress(into: &bench.effects)
        #expect(bench.answer() == LESetRandomAddress.opcode)
        #expect(bench.radio.ownAddress == address)
        _ = bench.run()
        #expect(bench.radio.scanMachine.isScanning)
    }

    @Test("requests survive a reset of the controller; its state does not")
    func controllerLost() {
        var bench = Bench()
        _ = bench.scan()
        _ = bench.advertise()
        _ = bench.run()
        bench.radio.controllerLost(into: &bench.effects)
        #expect(bench.radio.isIdle)
        bench.radio.begin(with: ControllerInformation(), traits: [])
        #expect(!bench.run().isEmpty)
        #expect(bench.radio.scanMachine.isScanning)
        #expect(bench.radio.advertisingMachine.isAdvertising)
    }

    @Test(
        "a controller before 5.0 gets no interval below 100 ms for what is not connectable (Core 4.2, Vol 2, Part E, 7.8.5) (A75)",
        arguments: [
            (HCIVersion.core42, false, UInt16(0xA0)), (.core42, true, 0x20), (.core50, false, 0x20),
        ])
    func beaconInterval(_ version: HCIVersion, _ isConnectable: Bool, _ interval: UInt16) {
        var bench = Bench(version: version)
        let operation = bench.operation()
        bench.radio.advertise(
            AdvertiseRequest(
                .packed(localName: "x", serviceUUIDs: []), isConnectable: isConnectable, interval: .least),
            operation: operation, client: .local, isPresent: false, into: &bench.effects)
        _ = bench.run()
        let plan = bench.radio.advertisingMachine.planInForce
        #expect(plan?.parameters.interval == AdvertisingInterval(rawValue: interval))
    }

    @Test("no directed advertising to a connected device")
    func calls() {
        let target = AdvertisingTarget(peer: DeviceAddress(value: 9, kind: .public), form: .highDutyCycle)
        var bench = Bench()
        let call = bench.advertise(target, isPresent: true)
        #expect(bench.ends()[call] == .some(nil))
        let extended = bench.advertise(AdvertisingTarget(peer: target.peer, form: .extended))
        bench.converge()
        #expect(
            bench.ends()[extended]
                == .controller(
                    .unsupportedFeatureOrParameterValue, LESetExtendedAdvertisingParameters.opcode),
            "legacy commands have no extended calls")
    }

    @Test("high duty cycle advertising that the controller does not end is stopped after its time")
    func callTimesOut() throws {
        var bench = Bench()
        let target = AdvertisingTarget(peer: DeviceAddress(value: 9, kind: .public), form: .highDutyCycle)
        let call = bench.advertise(target)
        _ = bench.run()
        let next = bench.radio.nextDeadline(isReady: true)
        let deadline = try #require(next)
        bench.now = deadline
        bench.radio.advance(isReady: true, identityResolvingKey: nil, into: &bench.effects)
        #expect(bench.ends()[call] == .connectionFailed(.advertisingTimeout))
    }
}
