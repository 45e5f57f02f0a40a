import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// Two pairing machines that talk with each other, with somebody in between who may change what they say.
final class TwoMachines {
    enum Side: CaseIterable, Hashable {
        case initiator, responder

        var other: Side { self == .initiator ? .responder : .initiator }
    }

    struct Sent: Equatable {
        var from: Side
        var pdu: [UInt8]
    }

    static let initiatorAddress = DeviceAddress(value: 0x0011_2233_4455, kind: .public)
    static let responderAddress = DeviceAddress(value: 0xC0FF_EE00_0001, kind: .random)

    private var machines: [Side: PairingMachine] = [:]
    private var inFlight: [Sent] = []
    private var questions: [(side: Side, kind: PairingQuestion.Kind)] = []
    private(set) var now = Instant.zero
    /// Every PDU in the order in which it was sent, before anybody changed it.
    private(set) var sent: [Sent] = []
    private(set) var ends: [Side: PairingMachine.Action] = [:]
    private(set) var endCount = 0
    private(set) var displayed: [UInt32] = []
    private(set) var compared: [UInt32] = []
    /// What arrives in place of the PDU with this number.
    var change: (Int, Sent) -> [Sent] = { [$1] }
    /// The number that a user types, made from the one that is displayed.
    var typed: (UInt32) -> UInt32 = { $0 }
    var agrees = true
    /// Whether anybody answers the questions.
    var hasUsers = true
    /// How long the run waits once nothing moves any more.
    var patience = Microseconds.seconds(31)
    /// The side whose controller reports the encryption only after the PDUs that came through it.
    var hearsLate: Side?
    /// What this side then hears.
    var lateStatus = HCIStatus.success
    /// How much later than those PDUs the report comes.
    var lateness = Microseconds(rawValue: 0)
    /// The connection interval of the link, and what it is when the report comes.
    var interval = Microseconds(rawValue: 7500)
    var intervalAtReport: Microseconds?
    /// Whether the controllers are known to report late.
    var mayBeLate = false
    private var owesReport = false
    /// Whether crypto providers answer only when nothing else moves.
    var hasSlowCryptoProvider = false
    private var toAnswer: [(side: Side, request: CryptoRequest)] = []
    /// Those that say in their features that they keep no keys, and give and want them all the same.
    var keepsNothing: Set<Side> = []
    var cryptoProvider: any CryptoProvider = SwiftCryptoProvider()

    init(
        _ initiator: PairingOptions, _ responder: PairingOptions,
        outOfBand: (initiator: OutOfBandData?, responder: OutOfBandData?) = (nil, nil), bond: Bond? = nil
    ) {
        for side in Side.allCases {
            let isInitiator = side == .initiator
            machines[side] = PairingMachine(
                PairingMachine.Setup(
                    role: isInitiator ? .initiator : .responder, options: isInitiator ? initiator : responder,
                    initiatorAddress: Self.initiatorAddress, responderAddress: Self.responderAddress,
                    localIdentity: LocalIdentity(
                        address: isInitiator ? Self.initiatorAddress : Self.responderAddress,
                        resolvingKey: Key128(rawValue: isInitiator ? 0x1111 : 0x2222)),
                    outOfBand: isInitiator ? outOfBand.initiator : outOfBand.responder, bond: isInitiator ? bond : nil))
        }
    }

    func machine(_ side: Side) -> PairingMachine { machines[side]! }

    func outcome(_ side: Side) -> PairingOutcome? {
        if case .finished(let outcome)? = ends[side] { outcome } else { nil }
    }

    func failure(_ side: Side) -> SecurityFailure? {
        if case .failed(let failure)? = ends[side] { failure } else { nil }
    }

    /// Whether a side ever heard of the pairing.
    func hasBegun(_ side: Side) -> Bool {
        if case .start = machine(side).state { false } else { true }
    }

    /// Runs until nothing moves; then, if somebody still waits, until the time is over.
    @discardableResult
    func run() -> TwoMachines {
        for side in keepsNothing { machines[side]?.offer.authentication.remove(.bonding) }
        machines[.initiator]?.start(at: now)
        settle()
        if ends.count < 2 {
            now = now.advanced(by: patience)
            for side in Side.allCases { machines[side]?.advance(to: now) }
            settle()
        }
        return self
    }

    private func settle() {
        var steps = 0
        repeat {
            for side in Side.allCases { drain(side) }
            steps += 1
        } while (deliver() || answerCryptoProvider() || answerUsers() || reportLate()) && steps < 10_000
    }

    private func drain(_ side: Side) {
        while let action = machines[side]?.nextAction() {
            switch action {
            case .send(let packet):
                let number = sent.count
                let message = Sent(from: side, pdu: packet.encoded())
                sent.append(message)
                inFlight += change(number, message)
            case .ask(let request) where hasSlowCryptoProvider: toAnswer.append((side, request))
            case .ask(let request): machines[side]?.cryptoAnswered(cryptoProvider.answer(request), at: now)
            case .display(let number): displayed.append(number)
            case .question(let kind): questions.append((side, kind))
            case .encrypt(let key, _): encrypt(with: key)
            case .finished, .failed:
                ends[side] = action
                endCount += 1
            }
        }
    }

    private func encrypt(with key: Key128) {
        let isEqual = machine(.responder).awaitedKey?.key == key
        machines[.responder]?.encryptionBegan()
        for side in Side.allCases {
            if side == hearsLate {
                owesReport = true
                continue
            }
            machines[side]?.encryptionChanged(
                to: isEqual, status: isEqual ? .success : .pinOrKeyMissing, interval: interval, at: now)
        }
    }

    private func reportLate() -> Bool {
        guard owesReport, let hearsLate else { return false }
        owesReport = false
        now = now.advanced(by: lateness)
        machines[hearsLate]?.encryptionChanged(
            to: lateStatus.isSuccess, status: lateStatus, interval: intervalAtReport ?? interval, mayBeLate: mayBeLate,
            at: now)
        return true
    }

    private func deliver() -> Bool {
        guard !inFlight.isEmpty else { return false }
        let message = inFlight.removeFirst()
        machines[message.from.other]?.receive(message.pdu.span.bytes, interval: interval, at: now)
        return true
    }

    private func answerCryptoProvider() -> Bool {
        guard !toAnswer.isEmpty else { return false }
        let (side, request) = toAnswer.removeFirst()
        machines[side]?.cryptoAnswered(cryptoProvider.answer(request), at: now)
        return true
    }

    private func answerUsers() -> Bool {
        guard hasUsers, !questions.isEmpty else { return false }
        let (side, kind) = questions.removeFirst()
        switch kind {
        case .enterPasskey: machines[side]?.userAnswered(.passkey(typed(displayed.last ?? 123_456)), at: now)
        case .compare(let number):
            compared.append(number)
            machines[side]?.userAnswered(.confirm(agrees), at: now)
        case .consent, .replaceBond: machines[side]?.userAnswered(.confirm(agrees), at: now)
        }
        return true
    }
}

/// A way of pairing, with all that both sides bring along.
struct PairingCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var initiator: PairingOptions
    var responder: PairingOptions
    var outOfBand: (initiator: OutOfBandData?, responder: OutOfBandData?) = (nil, nil)

    func machines(bond: Bond? = nil) -> TwoMachines {
        TwoMachines(initiator, responder, outOfBand: outOfBand, bond: bond)
    }

    static let legacyJustWorks = PairingCase(
        testDescription: "legacy, just works", initiator: PairingOptions(allowsSecureConnections: false),
        responder: PairingOptions())
    static let legacyPasskey = PairingCase(
        testDescription: "legacy, passkey",
        initiator: PairingOptions(
            ioCapability: .keyboardOnly, requiresAuthentication: true, allowsSecureConnections: false),
        responder: PairingOptions(ioCapability: .displayOnly))
    static let legacyOutOfBand = PairingCase(
        testDescription: "legacy, out of band", initiator: PairingOptions(allowsSecureConnections: false),
        responder: PairingOptions(allowsSecureConnections: false),
        outOfBand: (
            OutOfBandData(temporaryKey: Key128(rawValue: 77)), OutOfBandData(temporaryKey: Key128(rawValue: 77))
        ))
    /// The initiator cannot know that it will be legacy pairing.
    static let legacyOutOfBandBySurprise = PairingCase(
        testDescription: "legacy, out of band, where Secure Connections was offered",
        initiator: PairingOptions(), responder: PairingOptions(allowsSecureConnections: false),
        outOfBand: (
            OutOfBandData(temporaryKey: Key128(rawValue: 77)), OutOfBandData(temporaryKey: Key128(rawValue: 77))
        ))
    static let justWorks = PairingCase(
        testDescription: "just works", initiator: PairingOptions(), responder: PairingOptions())
    static let numericComparison = PairingCase(
        testDescription: "numeric comparison",
        initiator: PairingOptions(ioCapability: .displayYesNo, requiresAuthentication: true),
        responder: PairingOptions(ioCapability: .keyboardDisplay))
    static let justWorksWithoutProtection = PairingCase(
        testDescription: "just works, where protection was asked for and there is none",
        initiator: PairingOptions(ioCapability: .displayYesNo, prefersAuthentication: true),
        responder: PairingOptions())
    static let protectionByRequest = PairingCase(
        testDescription: "numeric comparison, where protection was asked for and not demanded",
        initiator: PairingOptions(ioCapability: .displayYesNo),
        responder: PairingOptions(ioCapability: .displayYesNo, prefersAuthentication: true))
    static let passkeyShownByInitiator = PairingCase(
        testDescription: "passkey shown by the initiator",
        initiator: PairingOptions(ioCapability: .displayOnly, requiresAuthentication: true),
        responder: PairingOptions(ioCapability: .keyboardOnly))
    static let passkeyShownByResponder = PairingCase(
        testDescription: "passkey shown by the responder",
        initiator: PairingOptions(ioCapability: .keyboardOnly),
        responder: PairingOptions(ioCapability: .displayYesNo, requiresAuthentication: true))
    static let passkeyTypedByBoth = PairingCase(
        testDescription: "passkey typed by both",
        initiator: PairingOptions(ioCapability: .keyboardOnly, requiresAuthentication: true),
        responder: PairingOptions(ioCapability: .keyboardOnly))

    /// Both told each other their values.
    static var outOfBandBothWays: PairingCase {
        let (a, b) = (localOutOfBandData(1), localOutOfBandData(2))
        return PairingCase(
            testDescription: "out of band both ways", initiator: PairingOptions(), responder: PairingOptions(),
            outOfBand: (
                OutOfBandData(peer: .init(random: b.random, confirm: b.confirm), local: a),
                OutOfBandData(peer: .init(random: a.random, confirm: a.confirm), local: b)
            ))
    }

    /// The initiator alone heard the other's values.
    static var outOfBandOneWay: PairingCase {
        let b = localOutOfBandData(2)
        return PairingCase(
            testDescription: "out of band one way", initiator: PairingOptions(), responder: PairingOptions(),
            outOfBand: (
                OutOfBandData(peer: .init(random: b.random, confirm: b.confirm)), OutOfBandData(local: b)
            ))
    }

    /// The responder alone heard the other's values.
    static var outOfBandOtherWay: PairingCase {
        let a = localOutOfBandData(1)
        return PairingCase(
            testDescription: "out of band the other way", initiator: PairingOptions(), responder: PairingOptions(),
            outOfBand: (
                OutOfBandData(local: a), OutOfBandData(peer: .init(random: a.random, confirm: a.confirm))
            ))
    }

    static func localOutOfBandData(_ number: UInt128) -> LocalOutOfBandData {
        let cryptoProvider = SwiftCryptoProvider()
        let random = Key128(rawValue: number << 100 | number)
        guard case .keyPair(let privateKey, let publicKey) = cryptoProvider.answer(.generateKeyPair) else {
            fatalError()
        }
        let function = SecurityFunction.f4(publicKey.x, publicKey.x, key: random.mostSignificantOctets, 0)
        guard case .octets(let confirm) = cryptoProvider.answer(function.request) else { fatalError() }
        return LocalOutOfBandData(
            random: random, confirm: Key128(mostSignificantFirst: confirm)!, privateKey: privateKey,
            publicKey: publicKey)
    }

    static var all: [PairingCase] {
        [
            legacyJustWorks, legacyPasskey, legacyOutOfBand, legacyOutOfBandBySurprise, justWorks,
            justWorksWithoutProtection, protectionByRequest, numericComparison, passkeyShownByInitiator,
            passkeyShownByResponder, passkeyTypedByBoth, outOfBandBothWays, outOfBandOneWay,
            outOfBandOtherWay,
        ]
    }
}
