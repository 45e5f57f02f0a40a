import BLEPackets

/// Information and settings that a host reads and writes at its start (Core 5.4, Vol 4, Part E, 7.3, 7.4 and 7.8).
extension SimulatedController {
    func reset(_ command: Reset) -> HCIStatus {
        reset()
        return .success
    }

    func setEventMask(_ command: SetEventMask) -> HCIStatus {
        settings.eventMask = command.mask
        return .success
    }

    func setEventMaskPage2(_ command: SetEventMaskPage2) -> HCIStatus {
        settings.eventMaskPage2 = command.mask
        settings.hasPageTwo = true
        return .success
    }

    func leSetEventMask(_ command: LESetEventMask) -> HCIStatus {
        if let known = faults.refusesUnknownMaskBits, !command.mask.isSubset(of: known) {
            return .invalidCommandParameters
        }
        settings.leEventMask = command.mask
        return .success
    }

    func readLEHostSupport(_ command: ReadLEHostSupport) -> ReadLEHostSupport.ReturnParameters {
        .init(isSupported: settings.isLEHostSupported)
    }

    func writeLEHostSupport(_ command: WriteLEHostSupport) -> HCIStatus {
        settings.isLEHostSupported = command.isSupported
        return .success
    }

    func readLocalVersionInformation(
        _ command: ReadLocalVersionInformation
    ) -> ReadLocalVersionInformation.ReturnParameters {
        .init(
            hciVersion: configuration.version,
            hciSubversion: configuration.hciRevision ?? configuration.subversion,
            lmpVersion: configuration.version, manufacturer: configuration.manufacturer,
            lmpSubversion: configuration.subversion)
    }

    func readLocalSupportedCommands(
        _ command: ReadLocalSupportedCommands
    ) -> ReadLocalSupportedCommands.ReturnParameters {
        .init(commands: supportedCommands)
    }

    func readLocalSupportedFeatures(
        _ command: ReadLocalSupportedFeatures
    ) -> ReadLocalSupportedFeatures.ReturnParameters {
        .init(features: configuration.linkManagerFeatures)
    }

    func leReadLocalSupportedFeatures(
        _ command: LEReadLocalSupportedFeatures
    ) -> LEReadLocalSupportedFeatures.ReturnParameters {
        .init(features: configuration.features)
    }

    func readBDADDR(_ command: ReadBDADDR) -> ReadBDADDR.ReturnParameters {
        .init(address: configuration.publicAddress ?? DeviceAddress(value: 0, kind: .public))
    }

    func readBufferSize(_ command: ReadBufferSize) -> ReadBufferSize.ReturnParameters {
        .init(
            aclDataPacketLength: configuration.claimedDataLength ?? configuration.aclDataLength,
            totalACLDataPackets: configuration.claimedDataCount ?? UInt16(configuration.aclDataCount))
    }

    func leReadBufferSize(_ command: LEReadBufferSize) -> LEReadBufferSize.ReturnParameters {
        configuration.sharesBuffers
            ? .init()
            : .init(
                aclDataPacketLength: configuration.claimedDataLength ?? configuration.aclDataLength,
                totalACLDataPackets: configuration.claimedDataCount.map { UInt8(clamping: $0) }
                    ?? configuration.aclDataCount)
    }

    func leReadSupportedStates(_ command: LEReadSupportedStates) -> LEReadSupportedStates.ReturnParameters {
        .init(states: configuration.supportedStates)
    }

    func leReadMaximumDataLength(_ command: LEReadMaximumDataLength) -> LEReadMaximumDataLength.ReturnParameters {
        let octets = maximumDataLength
        return .init(
            maximumTransmitOctets: octets, maximumTransmitTime: Self.time(octets: octets),
            maximumReceiveOctets: octets, maximumReceiveTime: Self.time(octets: octets))
    }

    func leReadSuggestedDefaultDataLength(
        _ command: LEReadSuggestedDefaultDataLength
    ) -> LEReadSuggestedDefaultDataLength.ReturnParameters {
        .init(
            maximumTransmitOctets: settings.suggestedTransmitOctets,
            maximumTransmitTime: settings.suggestedTransmitTime)
    }

    func leWriteSuggestedDefaultDataLength(_ command: LEWriteSuggestedDefaultDataLength) -> HCIStatus {
        guard 27...251 ~= command.maximumTransmitOctets, 328...17_040 ~= command.maximumTransmitTime else {
            return .invalidCommandParameters
        }
        settings.suggestedTransmitOctets = command.maximumTransmitOctets
        settings.suggestedTransmitTime = command.maximumTransmitTime
        return .success
    }

    func leSetDefaultPHY(_ command: LESetDefaultPHY) -> HCIStatus {
        let status = check(command.preferences)
        if status.isSuccess { settings.phyPreferences = command.preferences }
        return status
    }

    func leSetHostChannelClassification(_ command: LESetHostChannelClassification) -> HCIStatus {
        let channels = command.channelMap.rawValue
        guard channels.nonzeroBitCount >= 1, channels >> 37 == 0 else { return .invalidCommandParameters }
        settings.channelMap = command.channelMap
        return .success
    }

    func setControllerToHostFlowControl(_ command: SetControllerToHostFlowControl) -> HCIStatus {
        guard command.mode.rawValue <= 3 else { return .invalidCommandParameters }
        guard links.isEmpty else { return .commandDisallowed }
        settings.hostFlowControl = command.mode
        return .success
    }

    func hostBufferSize(_ command: HostBufferSize) -> HCIStatus {
        guard command.aclDataPacketLength > 0, command.totalACLDataPackets > 0 else { return .invalidCommandParameters }
        settings.hostBufferCount = Int(command.totalACLDataPackets)
        return .success
    }

    /// Octets of one packet of the link layer, within what the specification allows.
    var maximumDataLength: UInt16 { min(251, max(27, configuration.maximumDataLength)) }

    /// The duration of a packet with this many octets on LE 1M, in microseconds (Core 5.4, Vol 6, Part B, 4.5.10).
    static func time(octets: UInt16) -> UInt16 { (min(octets, 251) + 14) * 8 }

    /// Whether the host requests only existing PHYs.
    func check(_ preferences: PHYPreferences) -> HCIStatus {
        for (isAny, phys) in [
            (preferences.indifference.contains(.transmit), preferences.transmitPHYs),
            (preferences.indifference.contains(.receive), preferences.receivePHYs),
        ] where !isAny {
            guard !phys.isEmpty else { return .invalidCommandParameters }
            guard phys.isSubset(of: supportedPHYs) else { return .unsupportedFeatureOrParameterValue }
        }
        return .success
    }

    var supportedPHYs: PHYSet {
        var phys: PHYSet = .le1M
        if configuration.features.contains(.le2MPHY) { phys.insert(.le2M) }
        if configuration.features.contains(.leCodedPHY) { phys.insert(.leCoded) }
        return phys
    }
}
