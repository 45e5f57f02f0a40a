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
        case failed
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
    private var ladder: RecoveryLadder

    init(configuration: SharedConfiguration) {
        shared = configuration
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
        phase = .starting(next: 0)
    }

    /// Issues the next command that makes sense.
    /// - Parameter isAddressBeingMade: whether the address to set is still being generated.
    mutating func proceed(isAddressBeingMade: Bool, at now: Instant, into commands: inout CommandQueue) -> Progress {
        guard case .starting(var next) = phase else { return .waiting }
        let steps = StartupStep.allCases
        while next < steps.count {
            let step = steps[next]
            if step == .setRandomAddress, isAddressBeingMade { return .waiting }
            next += 1
            phase = .starting(next: next)
            if step == .chooseAddress {
                chooseAddress()
                return .addressChosen
            }
            if step.applies(to: information, configuration: configuration) {
                submit(step, into: &commands)
                return .waiting
            }
        }
        phase = .ready
        ladder.isReady(at: now)
        return .ready
    }

    private func submit(_ step: StartupStep, into commands: inout CommandQueue) {
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
        case .setEventMask: commands.append(SetEventMask(mask: EventMasks.hci), purpose: purpose)
        case .setLEEventMask:
            let mask = EventMasks.le(for: information.features, configuration)
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

    private mutating func chooseAddress() {
        switch configuration.ownAddress {
        case .public: information.ownAddress = information.publicAddress
        case .random(let address): information.ownAddress = address
        case .automatic(let fallback), .resolvable(let fallback):
            information.ownAddress = information.publicAddress ?? fallback
        }
        information.identityAddress = information.ownAddress
    }

    /// A startup command was answered.
    /// - Returns: whether the next step may follow; `false` if the controller has to be recovered.
    mutating func answered(
        _ step: StartupStep, _ parameters: RawSpan, into commands: inout CommandQueue
    ) throws(DecodingError) -> Bool {
        let status = HCIStatus(rawValue: parameters.byte(at: 0) ?? HCIStatus.unspecifiedError.rawValue)
        guard status.isSuccess else {
            // A refusal means that the controller does not know all bits of the mask: try the oldest mask.
            if step == .setLEEventMask {
                commands.append(LESetEventMask(mask: .afterReset), purpose: .unattended)
                return true
            }
            return !step.isRequired
        }
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
        case .readAddress:
            let answer = try ReadBDADDR.ReturnParameters(decoding: &reader)
            information.publicAddress = answer.address.value == 0 ? nil : answer.address
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
        case .reset, .readSupportedFeatures, .chooseAddress, .setEventMask, .setLEEventMask, .writeSuggestedDataLength,
            .setRandomAddress, .allowSubrating, .setDefaultSubrate:
            break
        }
        return true
    }

    // MARK: Recovery

    /// The controller failed.
    /// - Returns: what to try now; `nil` if the controller is not in use.
    mutating func fall(at now: Instant) -> RecoveryLadder.Step? {
        switch phase {
        case .starting, .ready: ladder.fall(at: now)
        case .stopping, .closed, .awaitingTransport, .stopped, .failed: nil
        }
    }
}
