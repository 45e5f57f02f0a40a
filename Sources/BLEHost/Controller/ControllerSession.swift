import BLEPackets

/// The controller itself: whether it can be used, how it is started, what it reports about itself, and how it is
/// recovered when it fails.
///
///     closed ──transport opened──▶ starting ──last step answered──▶ ready ──stop──▶ stopping ──all quiet──▶ stopped
///                                    ▲  ▲                             │
///                                    │  └──── reset ◀── falls ────────┤
///                                    └── awaitingTransport ◀──────────┤
///                                                       failed ◀──────┘
///
/// It issues the startup commands one after the other. The results of its methods say what the rest of the engine has
/// to do when the controller becomes ready or is lost.
struct ControllerSession {
    enum Phase: Equatable {
        case closed
        /// `next` is the index of the step that follows the one in flight.
        case starting(next: Int)
        case ready
        /// The transport is being reopened.
        case awaitingTransport
        case stopping(deadline: Instant)
        case stopped
        /// What operations end with from now on.
        case failed(HostFailure)
    }

    /// How far a start has come.
    enum Progress: Equatable {
        /// A command is in flight, or an address is being generated.
        case waiting
        /// `information.ownAddress` has been chosen; the start continues with the next call.
        case addressChosen
        /// Every step is done.
        case ready
    }

    private let shared: SharedConfiguration
    @inline(__always)
    private var configuration: HostConfiguration { shared.value }
    var phase = Phase.closed
    /// What the controller reported about itself.
    var information = ControllerInformation()
    private var findings = StartupFindings()
    private var ladder: RecoveryLadder
    /// How the controller names itself on USB.
    var identity: ControllerIdentity?
    /// The public address as the controller reports it, also if that counts as none.
    private(set) var reportedAddress: DeviceAddress?
    /// How often in succession a start came to nothing at the same step.
    private var failedStarts: (step: StartupStep, count: Int)?

    init(configuration: SharedConfiguration) {
        shared = configuration
        identity = configuration.value.controller
        ladder = RecoveryLadder(canReset: configuration.value.ownership == .exclusive)
    }

    var isStarting: Bool {
        if case .starting = phase { true } else { false }
    }

    /// Whether events and data of the controller are ignored because it is being reset or is not in use. Answers to
    /// commands and hardware errors are handled even then.
    func ignoresControllerEvents(_ commands: borrowing CommandQueue) -> Bool {
        switch phase {
        case .closed, .awaitingTransport, .failed, .stopped: true
        case .starting: commands.inFlight?.purpose == .startup(.reset)
        case .ready, .stopping: false
        }
    }

    // MARK: Starting

    /// The transport is open, or the controller has to be reset.
    mutating func start() {
        information = ControllerInformation()
        findings = StartupFindings()
        phase = .starting(next: 0)
    }

    /// Issues the next command that makes sense.
    /// - Parameter isAddressBeingMade: whether the address to set is still being generated.
    mutating func proceed(
        isAddressBeingMade: Bool, knowledge: inout ControllerKnowledge, at now: Instant,
        into commands: inout CommandQueue
    ) -> Progress {
        guard case .starting(var next) = phase else { return .waiting }
        let steps = StartupStep.allCases
        while next < steps.count {
            let step = steps[next]
            if step == .setRandomAddress, isAddressBeingMade { return .waiting }
            next += 1
            phase = .starting(next: next)
            if step == .chooseAddress {
                knowledge.expected = recogniseController()
                chooseAddress(knowledge.traits)
                return .addressChosen
            }
            if step == .readVendorCommands { knowledge.expected = recogniseController() }
            if step.applies(
                to: information, findings, configuration: configuration, traits: knowledge.traits)
            {
                submit(step, knowledge.traits, into: &commands)
                return .waiting
            }
        }
        phase = .ready
        failedStarts = nil
        ladder.isReady(at: now)
        return .ready
    }

    /// A step of the start was not answered, or the transport ended before it was. Some controllers leave their bus at each
    /// Reset. Once proves nothing: devices are unplugged, and programs stopped.
    mutating func startFailed(
        at step: StartupStep, isTransportClosed: Bool = false, knowledge: inout ControllerKnowledge
    ) {
        // Some ignore an event mask that is newer than they are: that of a reset is in force then.
        if step == .setLEEventMask, !isTransportClosed { _ = knowledge.suspect(.knowsOldEventMaskOnly, isThere: true) }
        // What is done without Reset fails as well, as it must on a line on which only its answer can be recognized.
        if knowledge.isSuspected(.leavesOnReset) { knowledge.drop(.leavesOnReset) }
        let count = (failedStarts?.step == step ? failedStarts?.count ?? 0 : 0) + 1
        failedStarts = (step, count)
        if step == .reset, isTransportClosed, count == 2 { _ = knowledge.suspect(.leavesOnReset, isThere: true) }
    }

    private func submit(_ step: StartupStep, _ traits: ControllerTraits, into commands: inout CommandQueue) {
        let purpose = CommandPurpose.startup(step)
        switch step {
        case .chooseAddress: break
        case .reset: commands.append(Reset(), purpose: purpose)
        case .readLocalVersion: commands.append(ReadLocalVersionInformation(), purpose: purpose)
        case .readSupportedCommands: commands.append(ReadLocalSupportedCommands(), purpose: purpose)
        case .readSupportedFeatures: commands.append(ReadLocalSupportedFeatures(), purpose: purpose)
        case .readAddress: commands.append(ReadBDADDR(), purpose: purpose)
        case .readLEFeatures: commands.append(LEReadLocalSupportedFeatures(), purpose: purpose)
        case .readLEBufferSize: commands.append(LEReadBufferSize(), purpose: purpose)
        case .readBufferSize: commands.append(ReadBufferSize(), purpose: purpose)
        case .readSupportedStates: commands.append(LEReadSupportedStates(), purpose: purpose)
        case .readAcceptListSize: commands.append(LEReadFilterAcceptListSize(), purpose: purpose)
        case .readResolvingListSize: commands.append(LEReadResolvingListSize(), purpose: purpose)
        case .readMaximumDataLength: commands.append(LEReadMaximumDataLength(), purpose: purpose)
        case .readVendorCommands:
            commands.append(opcode: ZephyrVendorCommands.readSupportedCommands, parameters: [], purpose: purpose)
        case .readStaticAddresses:
            commands.append(opcode: ZephyrVendorCommands.readStaticAddresses, parameters: [], purpose: purpose)
        case .writeLEHostSupport:
            commands.append(WriteLEHostSupport(isSupported: true), purpose: purpose)
        case .setEventMask:
            let mask = findings.hasRefusedEventMask ? EventMasks.leastHCI : EventMasks.hci
            commands.append(SetEventMask(mask: mask), purpose: purpose)
        case .setLEEventMask:
            let refused = traits.contains(.knowsOldEventMaskOnly) ? 2 : findings.refusedMasks
            let mask = EventMasks.le(for: information.features, configuration, refused: refused)
            commands.append(LESetEventMask(mask: mask), purpose: purpose)
        case .writeSuggestedDataLength:
            commands.append(
                LEWriteSuggestedDefaultDataLength(
                    maximumTransmitOctets: information.maximumTransmitOctets,
                    maximumTransmitTime: information.maximumTransmitMicroseconds),
                purpose: purpose)
        case .allowSubrating:
            let bit = LEFeatures.connectionSubratingHostSupport.rawValue.trailingZeroBitCount
            commands.append(
                LESetHostFeature(bitNumber: UInt8(truncatingIfNeeded: bit), isSupported: true), purpose: purpose)
        case .setDefaultSubrate:
            guard let parameters = configuration.timing.acceptedSubrates else { return }
            commands.append(LESetDefaultSubrate(parameters: parameters), purpose: purpose)
        case .setRandomAddress:
            guard let address = information.ownAddress else { return }
            commands.append(LESetRandomAddress(address: address), purpose: purpose)
        }
    }

    private mutating func chooseAddress(_ traits: ControllerTraits) {
        switch configuration.ownAddress {
        case .public: information.ownAddress = information.publicAddress
        case .random(let address): information.ownAddress = address
        case .automatic(let fallback), .resolvable(let fallback):
            // A public address that many controllers have identifies none of them.
            if traits.contains(.sharesPublicAddress) { information.publicAddress = nil }
            information.ownAddress = information.publicAddress ?? findings.staticAddress ?? fallback
        }
        information.identityAddress = information.ownAddress
    }

    /// What follows the answer to a startup command.
    enum Verdict: Equatable {
        /// The next step.
        case goOn
        /// Recovery: the stack cannot work without the step.
        case recover
        /// Nothing: no recovery would help.
        case giveUp(ControllerFault)
        /// The next step; and something was learned about the controller.
        case learn(ControllerTraits)
    }

    /// A startup command was answered.
    mutating func answered(
        _ step: StartupStep, _ parameters: RawSpan
    ) throws(DecodingError) -> Verdict {
        let status = HCIStatus(rawValue: parameters.byte(at: 0) ?? HCIStatus.unspecifiedError.rawValue)
        guard status.isSuccess else { return refused(step, status) }
        var reader = PacketReader(parameters)
        switch step {
        case .readLocalVersion:
            let answer = try ReadLocalVersionInformation.ReturnParameters(decoding: &reader)
            information.hciVersion = answer.hciVersion.rawValue
            information.hciSubversion = answer.hciSubversion
            information.lmpVersion = answer.lmpVersion.rawValue
            information.lmpSubversion = answer.lmpSubversion
            information.companyIdentifier = answer.manufacturer.rawValue
        case .readSupportedCommands:
            information.supportedCommands = parameters.extracting(droppingFirst: 1).copied()
        case .readSupportedFeatures:
            findings.lmpFeatures = try ReadLocalSupportedFeatures.ReturnParameters(decoding: &reader).features
        case .readAddress:
            let answer = try ReadBDADDR.ReturnParameters(decoding: &reader)
            information.publicAddress = answer.address.value == 0 ? nil : answer.address
            reportedAddress = information.publicAddress
        case .readLEFeatures:
            information.features = try LEReadLocalSupportedFeatures.ReturnParameters(decoding: &reader).features
        case .readLEBufferSize:
            let answer = try LEReadBufferSize.ReturnParameters(decoding: &reader)
            information.aclDataLength = answer.aclDataPacketLength
            information.aclDataCount = UInt16(answer.totalACLDataPackets)
        case .readBufferSize:
            let answer = try ReadBufferSize.ReturnParameters(decoding: &reader)
            information.aclDataLength = answer.aclDataPacketLength
            information.aclDataCount = answer.totalACLDataPackets
        case .readSupportedStates:
            information.supportedStates = try LEReadSupportedStates.ReturnParameters(decoding: &reader).states
        case .readAcceptListSize:
            information.filterAcceptListSize = try LEReadFilterAcceptListSize.ReturnParameters(decoding: &reader).size
        case .readResolvingListSize:
            information.resolvingListSize = try LEReadResolvingListSize.ReturnParameters(decoding: &reader).size
        case .readMaximumDataLength:
            let answer = try LEReadMaximumDataLength.ReturnParameters(decoding: &reader)
            information.maximumTransmitOctets = answer.maximumTransmitOctets
            information.maximumTransmitMicroseconds = answer.maximumTransmitTime
        case .readVendorCommands:
            // Bit 8 stands for Read Static Addresses, bit 0 for the first command.
            findings.hasStaticAddresses = (parameters.byte(at: 2) ?? 0) & 1 == 1
        case .readStaticAddresses: findings.staticAddress = Self.staticAddress(in: parameters)
        case .reset, .chooseAddress, .setEventMask, .writeLEHostSupport, .setLEEventMask, .writeSuggestedDataLength,
            .setRandomAddress, .allowSubrating, .setDefaultSubrate:
            break
        }
        return .goOn
    }

    private mutating func refused(_ step: StartupStep, _ status: HCIStatus) -> Verdict {
        switch step {
        // The controller does not know all bits of the mask.
        case .setLEEventMask where findings.refusedMasks < 2:
            findings.refusedMasks += 1
            if case .starting(let next) = phase { phase = .starting(next: next - 1) }
            return findings.refusedMasks == 2 ? .learn(.knowsOldEventMaskOnly) : .goOn
        case .setEventMask where !findings.hasRefusedEventMask:
            findings.hasRefusedEventMask = true
            if case .starting(let next) = phase { phase = .starting(next: next - 1) }
            return .goOn
        // Only a controller without LE does not know its first command, and then it does not claim LE either.
        case .readLEFeatures where status == .unknownCommand && !(findings.lmpFeatures.map(Self.hasLE) ?? false):
            return .giveUp(.noLowEnergy)
        case .setRandomAddress where information.publicAddress != nil:
            // A virtual adapter knows no random address (bumble#605).
            information.ownAddress = information.publicAddress
            information.identityAddress = information.publicAddress
            return .goOn
        default: return step.isRequired ? .recover : .goOn
        }
    }

    private static func hasLE(_ lmpFeatures: UInt64) -> Bool { lmpFeatures >> 38 & 1 == 1 }

    /// The first static address that Zephyr's controller reports: after status and count, six octets each, and an
    /// identity root.
    private static func staticAddress(in parameters: RawSpan) -> DeviceAddress? {
        guard parameters.byte(at: 1) ?? 0 > 0, parameters.byteCount >= 8 else { return nil }
        var value: UInt64 = 0
        for index in (2..<8).reversed() { value = value << 8 | UInt64(parameters.byte(at: index) ?? 0) }
        // The two most significant bits of a static address are 1 (Core 5.4, Vol 6, Part B, 1.3.2.1).
        guard value >> 46 == 0b11, value & 0x3FFF_FFFF_FFFF != 0, value & 0x3FFF_FFFF_FFFF != 0x3FFF_FFFF_FFFF else {
            return nil
        }
        return DeviceAddress(value: value, kind: .random)
    }

    /// Finds out which family the controller belongs to.
    /// - Returns: what is expected of it.
    private mutating func recogniseController() -> ControllerTraits {
        information.family = ControllerFamily(identity, information)
        return information.reportedTraits.union(information.family?.traits ?? [])
    }

    // MARK: Recovery

    /// Whether the controller has worked without a failure for a while.
    func isReliable(at now: Instant) -> Bool { ladder.isFresh(at: now) }

    /// The controller failed.
    /// - Parameter lastReport: when the last advertising report came.
    /// - Returns: what to try now; `nil` if the controller is not in use.
    mutating func fall(from fault: ControllerFault, lastReport: Instant, at now: Instant) -> RecoveryLadder.Step? {
        switch phase {
        case .starting, .ready:
            // What brings no reports back the first time does not do so the second time.
            fault == .noReports
                ? ladder.fall(at: now, lastWorked: lastReport, isRepeatable: false) : ladder.fall(at: now)
        case .stopping, .closed, .awaitingTransport, .stopped, .failed: nil
        }
    }
}
