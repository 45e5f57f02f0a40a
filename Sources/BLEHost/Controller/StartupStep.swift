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
    /// No command: the address of this device can be chosen now.
    case chooseAddress
    case setEventMask
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
        case .reset, .readLEFeatures, .readLEBufferSize, .setLEEventMask: true
        case .readLocalVersion, .readSupportedCommands, .readSupportedFeatures, .readAddress, .readBufferSize,
            .readSupportedStates, .readAcceptListSize, .readResolvingListSize, .readMaximumDataLength, .chooseAddress,
            .setEventMask, .writeSuggestedDataLength, .setRandomAddress, .allowSubrating, .setDefaultSubrate:
            false
        }
    }

    /// Whether the step changes the controller, which is not allowed on a shared one.
    var changesController: Bool {
        switch self {
        case .reset, .setEventMask, .setLEEventMask, .writeSuggestedDataLength, .setRandomAddress, .allowSubrating,
            .setDefaultSubrate:
            true
        case .readLocalVersion, .readSupportedCommands, .readSupportedFeatures, .readAddress, .readLEFeatures,
            .readLEBufferSize, .readBufferSize, .readSupportedStates, .readAcceptListSize, .readResolvingListSize,
            .readMaximumDataLength, .chooseAddress:
            false
        }
    }

    /// Whether the step makes sense with what is known so far.
    func applies(to information: ControllerInformation, configuration: HostConfiguration) -> Bool {
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
        case .reset, .readLocalVersion, .readSupportedCommands, .readSupportedFeatures, .readAddress, .readLEFeatures,
            .readLEBufferSize, .readSupportedStates, .readAcceptListSize, .chooseAddress, .setEventMask,
            .setLEEventMask:
            return true
        }
    }
}

/// The event masks: the events that the engine handles.
enum EventMasks {
    /// Core 5.4, Vol 4, Part E, 7.3.1.
    static let hci: EventMask = [
        .disconnectionComplete, .encryptionChange, .readRemoteVersionInformationComplete, .hardwareError,
        .dataBufferOverflow, .encryptionKeyRefreshComplete, .leMeta,
    ]

    /// Core 5.4, Vol 4, Part E, 7.8.1. Only events of features that the controller supports, because old controllers
    /// refuse unknown bits.
    static func le(for features: LEFeatures, _ configuration: HostConfiguration) -> LEEventMask {
        var mask = LEEventMask.afterReset
        if features.contains(.connectionParametersRequestProcedure) { mask.insert(.remoteConnectionParameterRequest) }
        if features.contains(.dataPacketLengthExtension) { mask.insert(.dataLengthChange) }
        if features.contains(.linkLayerPrivacy) { mask.insert(.enhancedConnectionComplete) }
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
