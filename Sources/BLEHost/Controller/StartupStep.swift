import BLEPackets

/// The steps that find out about a controller and set it up, in their order.
enum StartupStep: CaseIterable, Equatable {
    case reset
    case readLocalVersion
    case readSupportedCommands
    case readSupportedFeatures
    case readAddress
    case readLEFeatures
    case readLEBufferSize
    case readBufferSize
    case readSupportedStates
    case readAcceptListSize
    case readResolvingListSize
    case readMaximumDataLength
    /// Which vendor commands of Zephyr there are, and the static addresses that it has.
    case readVendorCommands
    case readStaticAddresses
    /// No command: the address of this device can be chosen now.
    case chooseAddress
    case setEventMask
    /// Some controllers of BR/EDR and LE may need it; other stacks write it, too.
    case writeLEHostSupport
    case setLEEventMask
    case writeSuggestedDataLength
    case setRandomAddress
    /// Tells the peers' controllers that this host can use subrating; allowed only before the first link.
    case allowSubrating
    case setDefaultSubrate

    /// Whether the stack cannot work if the controller refuses this step or does not answer. A failure of any other
    /// step means that the feature is not supported.
    var isRequired: Bool {
        switch self {
        // Without the event mask no LE event comes.
        case .reset, .readLEFeatures, .readLEBufferSize, .setEventMask: true
        case .readLocalVersion, .readSupportedCommands, .readSupportedFeatures, .readAddress, .readBufferSize,
            .readSupportedStates, .readAcceptListSize, .readResolvingListSize, .readMaximumDataLength,
            .readVendorCommands, .readStaticAddresses, .chooseAddress, .writeLEHostSupport,
            .setLEEventMask, .writeSuggestedDataLength, .setRandomAddress, .allowSubrating, .setDefaultSubrate:
            false
        }
    }

    /// Whether the step changes the controller, which is not allowed on a shared one.
    var changesController: Bool {
        switch self {
        case .reset, .setEventMask, .writeLEHostSupport, .setLEEventMask, .writeSuggestedDataLength, .setRandomAddress,
            .allowSubrating, .setDefaultSubrate:
            true
        case .readLocalVersion, .readSupportedCommands, .readSupportedFeatures, .readAddress, .readLEFeatures,
            .readLEBufferSize, .readBufferSize, .readSupportedStates, .readAcceptListSize, .readResolvingListSize,
            .readMaximumDataLength, .readVendorCommands, .readStaticAddresses, .chooseAddress:
            false
        }
    }

    /// Whether the step makes sense with what is known so far.
    func applies(
        to information: ControllerInformation, _ findings: StartupFindings, configuration: HostConfiguration,
        traits: ControllerTraits
    ) -> Bool {
        if changesController, configuration.ownership == .shared { return false }
        switch self {
        case .readBufferSize:
            // Zero means that LE shares the buffers of BR/EDR (Core 5.4, Vol 4, Part E, 7.8.2).
            return information.aclDataLength == 0 || information.aclDataCount == 0
        case .readMaximumDataLength, .writeSuggestedDataLength:
            return information.features.contains(.dataPacketLengthExtension)
        case .readResolvingListSize:
            return information.features.contains(.linkLayerPrivacy)
        case .allowSubrating:
            return configuration.timing.allowsSubrating && information.features.contains(.connectionSubrating)
        case .setDefaultSubrate:
            return configuration.timing.allowsSubrating && information.features.contains(.connectionSubrating)
                && configuration.timing.acceptedSubrates != nil
        case .setRandomAddress:
            return information.ownAddress?.isRandom ?? false
        case .reset: return !traits.contains(.leavesOnReset)
        case .writeLEHostSupport:
            return configuration.adaptsToController && findings.isDualMode
                && findings.supports(WriteLEHostSupport.opcode, information)
        case .readVendorCommands:
            // Elsewhere the same opcodes mean something else.
            return configuration.adaptsToController && information.publicAddress == nil
                && configuration.takesStaticAddress && information.family == .zephyr
        case .readStaticAddresses: return findings.hasStaticAddresses
        case .readLocalVersion, .readSupportedCommands, .readSupportedFeatures, .readAddress, .readLEFeatures,
            .readLEBufferSize, .readSupportedStates, .readAcceptListSize, .chooseAddress, .setEventMask,
            .setLEEventMask:
            return true
        }
    }
}

/// What the first steps of a start found out for the later ones.
struct StartupFindings {
    /// The LMP feature bits (Core 5.4, Vol 2, Part C, 3.3); `nil` if the controller did not report them.
    var lmpFeatures: UInt64?
    /// Whether Zephyr's Read Static Addresses is there.
    var hasStaticAddresses = false
    /// A static address that the maker gave to the controller.
    var staticAddress: DeviceAddress?
    /// How many LE event masks the controller has refused.
    var refusedMasks = 0
    /// Whether the controller has refused an event mask.
    var hasRefusedEventMask = false

    /// Whether the controller has BR/EDR and LE.
    var isDualMode: Bool {
        guard let lmpFeatures else { return false }
        return lmpFeatures >> 38 & 1 == 1 && lmpFeatures >> 37 & 1 == 0
    }

    func supports(_ opcode: HCIOpcode, _ information: ControllerInformation) -> Bool {
        var reader = PacketReader(information.supportedCommands.span.bytes)
        do throws(DecodingError) {
            return try SupportedCommands(decoding: &reader).contains(opcode)
        } catch { return false }
    }
}

extension HostConfiguration {
    /// Whether a static address of the maker may replace the owner's random one.
    var takesStaticAddress: Bool {
        switch ownAddress {
        case .automatic, .resolvable: true
        case .public, .random: false
        }
    }
}

/// Vendor commands of Zephyr's controllers (Zephyr, hci_vs.h).
enum ZephyrVendorCommands {
    static let readSupportedCommands = HCIOpcode(rawValue: 0xFC02)
    static let readStaticAddresses = HCIOpcode(rawValue: 0xFC09)
}

/// The event masks: the events that the engine handles.
enum EventMasks {
    /// Core 5.4, Vol 4, Part E, 7.3.1.
    static let hci: EventMask = [
        .disconnectionComplete, .encryptionChange, .readRemoteVersionInformationComplete, .hardwareError,
        .dataBufferOverflow, .encryptionKeyRefreshComplete, .leMeta,
    ]

    /// For a controller that refuses the other: what it has after a reset, and LE.
    static let leastHCI = EventMask(rawValue: 0x0000_1FFF_FFFF_FFFF).union(.leMeta)

    /// Core 5.4, Vol 4, Part E, 7.8.1. Only events of features that the controller supports, because old controllers
    /// refuse unknown bits.
    /// - Parameter refused: how many masks the controller has refused: each time, one with fewer events is left.
    static func le(for features: LEFeatures, _ configuration: HostConfiguration, refused: Int = 0) -> LEEventMask {
        let mask = full(for: features, configuration)
        return switch refused {
        case 0: mask
        // Without the events that came after Core 5.0.
        case 1: mask.intersection(core50)
        default: .afterReset
        }
    }

    private static let core50: LEEventMask = LEEventMask.afterReset.union([
        .remoteConnectionParameterRequest, .dataLengthChange, .enhancedConnectionComplete, .directedAdvertisingReport,
        .phyUpdateComplete, .extendedAdvertisingReport, .scanTimeout, .advertisingSetTerminated,
    ])

    private static func full(for features: LEFeatures, _ configuration: HostConfiguration) -> LEEventMask {
        var mask = LEEventMask.afterReset
        if features.contains(.connectionParametersRequestProcedure) { mask.insert(.remoteConnectionParameterRequest) }
        if features.contains(.dataPacketLengthExtension) { mask.insert(.dataLengthChange) }
        // Either of the features requires that event (Core 5.3, Vol 4, Part E, 3.1, C24), and some controllers then send
        // no other.
        if features.contains(.linkLayerPrivacy)
            || configuration.adaptsToController && features.contains(.extendedAdvertising)
        {
            mask.insert(.enhancedConnectionComplete)
        }
        if features.contains(.le2MPHY) || features.contains(.leCodedPHY) { mask.insert(.phyUpdateComplete) }
        if features.contains(.extendedAdvertising) {
            mask.formUnion([.extendedAdvertisingReport, .scanTimeout, .advertisingSetTerminated])
        }
        if configuration.timing.allowsSubrating, features.contains(.connectionSubrating) { mask.insert(.subrateChange) }
        if Features.linkReports {
            if !features.isDisjoint(with: [.powerControlRequest, .powerControlRequestAlternative]) {
                mask.insert(.transmitPowerReporting)
            }
            if features.contains(.pathLossMonitoring) { mask.insert(.pathLossThreshold) }
        }
        if configuration.usesControllerResolution, features.contains(.extendedScanningFilterPolicies) {
            mask.insert(.directedAdvertisingReport)
        }
        return mask
    }
}
