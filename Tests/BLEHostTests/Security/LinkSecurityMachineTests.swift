import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// The security of one link alone: no host, no bearer, no controller.
@Suite("Security of one link")
struct LinkSecurityMachineTests {
    private static let peer = DeviceAddress(value: 0xC0FF_EE00_0001, kind: .random)
    private static let own = DeviceAddress(value: 0xC0FF_EE00_0002, kind: .random)
    private static let key = LongTermKey(key: Key128(rawValue: 0x77))
    private static let read: [UInt8] = [0x0A, 1, 0]
    private static let indication: [UInt8] = [0x1D, 1, 0, 9]
    private static let notification: [UInt8] = [0x1B, 1, 0, 9]

    private func machine(_ role: LinkRole = .central) -> LinkSecurityMachine {
        LinkSecurityMachine(
            id: LinkID(handle: ConnectionHandle(rawValue: 0x40), generation: 1), role: role, peer: Self.peer,
            localAddress: Self.own, peerAddress: Self.peer)
    }

    private func bonds(_ bond: Bond?) -> Bonds {
        var configuration = HostConfiguration()
        configuration.hasCryptoProvider = true
        var bonds = Bonds(configuration: configuration)
        bonds.restore(bond.map { [$0] } ?? [])
        return bonds
    }

    private func attempts() -> PairingAttempts {
        var configuration = HostConfiguration()
        configuration.hasCryptoProvider = true
        return PairingAttempts(configuration: configuration)
    }

    private static func bond(
        isAuthenticated: Bool = false, size: UInt8 = 16, local: LongTermKey? = key, peerKey: LongTermKey? = key
    ) -> Bond {
        Bond(
            identity: peer, isSecureConnections: true, isAuthenticated: isAuthenticated, keySize: size,
            localKey: local, peerKey: peerKey)
    }

    /// The link is encrypted with the bond's key.
    private func encrypt(_ machine: inout LinkSecurityMachine, _ bonds: Bonds, _ effects: inout Effects) {
        guard case .encrypt(let key, let properties) = machine.proof(bonds) else {
            Issue.record("nothing to prove")
            return
        }
        machine.encrypt(with: key, properties, into: &effects)
        let end = machine.encryptionEnded(isOn: true, status: .success, hasBegun: true, into: &effects)
        #expect(end == .init(isGood: true, status: .success))
        let isNew = machine.openGate()
        #expect(isNew)
    }

    private func admission(of pdu: [UInt8], _ machine: LinkSecurityMachine) -> LinkSecurityMachine.Admission {
        machine.admission(of: pdu.span.bytes)
    }

    private func hold(_ pdu: [UInt8], _ machine: inout LinkSecurityMachine, isHeld: Bool = true) {
        let isWaiting = machine.postpone(pdu, tag: .none)
        #expect(isWaiting == isHeld)
    }

    // MARK: The gate

    @Test("A bond with a key for our role closes the gate, and its key opens it")
    func gate() {
        for role in [LinkRole.central, .peripheral] {
            var machine = machine(role)
            machine.closeGate(bonds(nil))
            #expect(machine.gate == .open, "a stranger")
            let useless = role == .central ? Self.bond(peerKey: nil) : Self.bond(local: nil)
            machine.closeGate(bonds(useless))
            #expect(machine.gate == .open, "a bond that proves nothing")
            machine.closeGate(bonds(Self.bond()))
            #expect(machine.gate == .closed(nil) && machine.isGated && !machine.isProven)
        }
        var effects = Effects()
        var machine = machine()
        let bonds = bonds(Self.bond())
        machine.closeGate(bonds)
        encrypt(&machine, bonds, &effects)
        #expect(machine.gate == .proven && machine.isProven && !machine.isGated)
        #expect(machine.keyInUse?.isOfBond == true)
    }

    @Test("Through a closed gate nothing from the peer is accepted, and a central sends nothing")
    func closed() {
        var machine = machine()
        machine.closeGate(bonds(Self.bond()))
        #expect(machine.isGated(Self.read) && machine.isGated(Self.notification))
        #expect(admission(of: Self.notification, machine) == .drop)
        #expect(admission(of: Self.indication, machine) == .confirm)
        #expect(
            machine.admission(of: Self.read.span.bytes) == .take, "our server answers once the peer has proved itself")
        _ = machine.refuseGate(.keyMissingAtPeer)
        #expect(admission(of: Self.read, machine) == .refuse(.readRequest))
        #expect(admission(of: Self.indication, machine) == .confirm)
    }

    @Test("A peripheral serves an unencrypted central, and requests nothing from it")
    func closedPeripheral() {
        var machine = machine(.peripheral)
        machine.closeGate(bonds(Self.bond()))
        #expect(machine.isGated(Self.read) && !machine.isGated(Self.notification))
        _ = machine.refuseGate(.noKey)
        #expect(machine.gate == .closed(nil), "the central may come to it yet")
    }

    @Test("A proof that failed is the reason until it is tried again")
    func refused() {
        var effects = Effects()
        var machine = machine()
        let bonds = bonds(Self.bond())
        machine.closeGate(bonds)
        for _ in 0..<2 { hold(Self.read, &machine) }
        let answers = machine.refuseGate(.keyMissingAtPeer)
        #expect(answers == 2)
        #expect(machine.proofFailure == .keyMissingAtPeer && machine.postponedFrames.isEmpty)
        guard case .none = machine.proof(bonds) else {
            Issue.record("tried again by itself")
            return
        }
        machine.encrypt(with: Self.key, Self.bond().keyProperties, into: &effects)
        #expect(machine.gate == .closed(nil))
    }

    @Test("A key that is weaker than required proves the peer and leaves the gate closed")
    func weak() {
        var effects = Effects()
        var machine = machine()
        let bonds = bonds(Self.bond(size: 7))
        machine.closeGate(bonds)
        machine.encrypt(with: Self.key, Self.bond(size: 7).keyProperties, into: &effects)
        _ = machine.encryptionEnded(isOn: true, status: .success, hasBegun: true, into: &effects)
        #expect(machine.isTooWeak(for: PairingOptions()))
        machine.proveWeakly()
        _ = machine.refuseGate(.keyTooWeak)
        #expect(machine.gate == .weak(.keyTooWeak) && machine.isProven && machine.isGated)
        machine.bondMade(Self.peer)
        _ = machine.openGate()
        #expect(machine.gate == .proven)
    }

    @Test("A peer that came in the clear is reported once, and counted each time")
    func cleartext() {
        var effects = Effects()
        var machine = machine()
        machine.recordCleartext(into: &effects)
        machine.recordCleartext(into: &effects)
        #expect(effects.counters.refusedCleartext == 2)
        #expect(effects.events.popFirst() == .cleartextRefused(machine.id, Self.peer))
        #expect(effects.events.isEmpty)
    }

    // MARK: Encryption

    @Test("A link that is no longer encrypted is in doubt; a refused command leaves the old key")
    func lost() {
        for hasBegun in [true, false] {
            var effects = Effects()
            var machine = machine()
            let bonds = bonds(Self.bond())
            machine.closeGate(bonds)
            encrypt(&machine, bonds, &effects)
            machine.encrypt(with: Self.key, Self.bond().keyProperties, into: &effects)
            let end = machine.encryptionEnded(
                isOn: false, status: .commandDisallowed, hasBegun: hasBegun, into: &effects)
            #expect(end == .init(isGood: false, status: .commandDisallowed, isInDoubt: hasBegun))
            #expect((machine.keyInUse != nil) == !hasBegun)
        }
    }

    @Test("A success that leaves the link unencrypted does not count, nor does a weaker key")
    func noSuccess() {
        var effects = Effects()
        var plain = machine()
        plain.encrypt(with: Self.key, Self.bond().keyProperties, into: &effects)
        #expect(
            plain.encryptionEnded(isOn: false, status: .success, hasBegun: true, into: &effects)
                == .init(isGood: false, status: .encryptionModeNotAcceptable))
        var weaker = machine()
        let strong = Self.bond(isAuthenticated: true)
        weaker.closeGate(bonds(strong))
        encrypt(&weaker, bonds(strong), &effects)
        weaker.encrypt(with: Self.key, Self.bond().keyProperties, into: &effects)
        #expect(
            weaker.encryptionEnded(isOn: true, status: .success, hasBegun: true, into: &effects)
                == .init(isGood: false, status: .insufficientSecurity, isInDoubt: true))
    }

    @Test("A controller that says a plain link is encrypted is not believed")
    func lies() {
        var effects = Effects()
        var machine = machine()
        #expect(machine.encryptionEnded(isOn: true, status: .success, hasBegun: true, into: &effects) == nil)
        #expect(machine.encryption == .off && effects.counters.unexpectedEvents == 1)
    }

    @Test("The key of a bond is given to the central that names it, and to no other")
    func keyRequests() {
        let bond = Self.bond(
            local: LongTermKey(key: Key128(rawValue: 5), encryptedDiversifier: 0x1234, randomNumber: 0x99))
        for (diversifier, isGiven) in [(0x1234, true), (0x1235, false)] as [(UInt16, Bool)] {
            var effects = Effects()
            var machine = machine(.peripheral)
            let wanted = LELongTermKeyRequest(
                connectionHandle: machine.id.handle, randomNumber: 0x99, encryptedDiversifier: diversifier)
            let isAnswered = machine.answer(wanted, bonds(bond), into: &effects)
            #expect(isAnswered == isGiven)
            #expect(machine.isChanging == isGiven)
        }
    }

    // MARK: Held traffic

    @Test("Data that waits for a change of key is sent in order, and a flood of it is noticed")
    func held() {
        var effects = Effects()
        var machine = machine(.peripheral)
        hold(Self.read, &machine, isHeld: false)
        let holdsBefore = machine.postpones(Self.read.span.bytes)
        #expect(!holdsBefore)
        machine.encrypt(with: Self.key, Self.bond().keyProperties, into: &effects)
        hold(Self.read, &machine)
        let holds = machine.postpones(Self.read.span.bytes)
        #expect(holds)
        for number in 0..<64 {
            let pdu: [UInt8] = [0x0A, UInt8(number), 0]
            let isKept = machine.postpone(pdu.span.bytes, on: .attributeProtocol)
            #expect(isKept)
        }
        let isKept = machine.postpone(Self.read.span.bytes, on: .leSignalling)
        #expect(!isKept)
        let (frames, pdus) = (machine.removePostponedFrames(), machine.removePostponedPDUs())
        #expect(frames.map { $0.payload } == [Self.read])
        #expect(pdus.map { $0.octets[1] } == (0..<64).map { UInt8($0) })
        #expect(machine.postponedFrames.isEmpty && machine.postponedPDUs.isEmpty)
    }

    @Test("As the central, only what the peer asks of the server waits: a value cannot be trusted later either")
    func heldByCentral() {
        var effects = Effects()
        var machine = machine()
        machine.encrypt(with: Self.key, Self.bond().keyProperties, into: &effects)
        // Read, Write Command; response, notification, indication, confirmation, and nothing.
        for (pdu, isHeld) in [
            ([0x0A, 3, 0], true), ([0x52, 3, 0], true), ([0x0B], false), ([0x1B, 3, 0], false), ([0x1D, 3, 0], false),
            ([0x1E], false), ([], false),
        ] as [([UInt8], Bool)] {
            let holds = machine.postpones(pdu.span.bytes)
            #expect(holds == isHeld)
        }
    }

    @Test("A client's configuration is saved once a second at most, and only for a peer that has proven itself")
    func records() {
        var effects = Effects()
        var machine = machine()
        let bonds = bonds(Self.bond())
        machine.closeGate(bonds)
        machine.isRecordDue = true
        func isKept(isLast: Bool = false, at now: Instant = .zero) -> Bool {
            machine.removeDueRecord(isLast: isLast, at: now)
        }
        #expect(!isKept(isLast: true))
        encrypt(&machine, bonds, &effects)
        #expect(isKept())
        #expect(!isKept(), "nothing is new")
        machine.recordKept(at: .zero)
        machine.isRecordDue = true
        #expect(!isKept())
        let later = Instant.zero.advanced(by: .seconds(1))
        #expect(machine.nextDeadline == later)
        #expect(isKept(at: later))
        machine.isRecordDue = true
        #expect(isKept(isLast: true), "a link that is in doubt keeps what it was sure of")
    }

    // MARK: Wishes

    @Test(
        "A bonded device encrypts with its key before it may pair; one that lost its keys is not paired with silently"
    )
    func wishes() {
        var machine = machine()
        let bonds = bonds(Self.bond())
        machine.closeGate(bonds)
        guard case .encrypt = machine.step(toPairWith: PairingOptions(), bonds, attempts()),
            case .encrypt = machine.step(
                onDemandOf: .insufficientAuthentication, for: ClientID(rawValue: 1), SecuritySettings(), bonds),
            case .encrypt = machine.step(requestedBy: .bonding, SecuritySettings(), bonds)
        else {
            Issue.record("the bond was passed over")
            return
        }
        let isOwed = machine.removeOwedAnswer()
        #expect(isOwed && !machine.owesRequestAnswer)
        machine.isBondRefused = true
        guard case .fail(.keyMissingAtPeer) = machine.step(toPairWith: PairingOptions(), bonds, attempts()),
            case .fail(.keyMissingAtPeer) = machine.step(
                onDemandOf: .insufficientAuthentication, for: ClientID(rawValue: 1), SecuritySettings(), bonds),
            case .fail = machine.step(requestedBy: .bonding, SecuritySettings(), bonds)
        else {
            Issue.record("paired anew")
            return
        }
        var byWord = PairingOptions()
        byWord.replacesBond = true
        guard case .pair = machine.step(toPairWith: byWord, bonds, attempts()) else {
            Issue.record("the operator's word does not count")
            return
        }
    }

    @Test(
        "A key of the peer may come as soon as the controller has the key for the encryption (Core 5.4, Vol 4, Part B, 2.1)",
        arguments: [true, false])
    func keyBeforeTheReport(hasKey: Bool) throws {
        let two = PairingCase.justWorks.machines()
        var responder: PairingMachine?
        two.change = { [unowned two] _, message in
            if message.from == .responder, message.pdu[0] == 0x0D { responder = two.machine(.responder) }
            return [message]
        }
        two.run()
        var machine = machine(.peripheral)
        machine.pairing = .running(try #require(responder), number: 1, question: nil)
        var effects = Effects()
        if hasKey {
            let wanted = LELongTermKeyRequest(
                connectionHandle: machine.id.handle, randomNumber: 0, encryptedDiversifier: 0)
            let isAnswered = machine.answer(wanted, bonds(nil), into: &effects)
            #expect(isAnswered)
        }
        let key: [UInt8] = [0x08] + [UInt8](repeating: 7, count: 16)
        machine.received(key.span.bytes, at: .zero)
        #expect(machine.machine?.isOver == !hasKey)
    }

    @Test("A pairing begins, asks, and ends once; an answer of the crypto provider for another is ignored")
    func pairing() {
        var effects = Effects()
        var attempts = attempts()
        var machine = machine()
        #expect(
            machine.refusal(toBegin: PairingOptions(), isClosing: false, bonds(nil), attempts, of: nil, at: .zero)
                == nil)
        machine.begin(
            .initiator, .init(options: PairingOptions(), needsConsent: true, passkeyEntriesUnderWay: 0), bonds(nil),
            &attempts, into: &effects)
        #expect(effects.events.popFirst() == .pairing(machine.id, .started))
        #expect(
            machine.refusal(toBegin: PairingOptions(), isClosing: false, bonds(nil), attempts, of: nil, at: .zero)
                == .alreadyPairing)
        machine.continuePairing { $0.start(at: .zero) }
        let task = machine.nextPairingTask(&attempts, into: &effects)
        #expect(task == nil)
        #expect(machine.question?.kind == .consent)
        // What was done is forgotten at once, and the secrets in it.
        guard case .running(let running, _, _) = machine.pairing else {
            Issue.record("no pairing")
            return
        }
        #expect(running.actions.isEmpty)
        let other = machine.continuePairing(number: 99) { $0.isOver }
        #expect(other == nil)
        for (answer, isAnswer) in [(.passkey(1), false), (.confirm(false), true)] as [(PairingAnswer, Bool)] {
            let isTaken = machine.userAnswered(answer, at: .zero)
            #expect(isTaken == isAnswer && (machine.question == nil) == isAnswer)
        }
        let failure = SecurityFailure.refusedByUs(.unspecifiedReason)
        for expected in [.send(.pairingFailed(.unspecifiedReason)), .fail(failure)] as [LinkSecurityMachine.PairingTask]
        {
            let task = machine.nextPairingTask(&attempts, into: &effects)
            #expect(task == expected)
        }
        machine.pairingEnded(with: failure, &attempts, into: &effects)
        #expect(!machine.isPairing && !machine.isBusy && machine.nextDeadline == nil)
    }

    @Test("After a pairing time-out the link does not pair again (Core 5.4, Vol 3, Part H, 3.4)")
    func blocked() {
        var effects = Effects()
        var attempts = attempts()
        var machine = machine()
        machine.pairingEnded(with: .timedOut, &attempts, into: &effects)
        #expect(
            machine.refusal(toBegin: PairingOptions(), isClosing: false, bonds(nil), attempts, of: nil, at: .zero)
                == .timedOut)
    }

    @Test("A security request is met by a key as strong as requested")
    func request() {
        var effects = Effects()
        var machine = machine(.peripheral)
        let bonds = bonds(Self.bond())
        let packet = machine.ask(for: PairingOptions(requiresAuthentication: true), at: .zero)
        #expect(packet == .securityRequest([.bonding, .mitm, .secureConnections]))
        #expect(machine.isBusy && machine.nextDeadline == Instant.zero.advanced(by: .seconds(30)))
        let wanted = LELongTermKeyRequest(
            connectionHandle: machine.id.handle, randomNumber: 0, encryptedDiversifier: 0)
        _ = machine.answer(wanted, bonds, into: &effects)
        _ = machine.encryptionEnded(isOn: true, status: .success, hasBegun: true, into: &effects)
        #expect(machine.request != nil, "the central may pair for a better key yet")
    }
}
