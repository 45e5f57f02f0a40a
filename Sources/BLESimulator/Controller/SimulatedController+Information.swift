import BLEPackets

/// What a host asks and sets before it begins (Core 5.4, Vol 4, Part E, 7.3, 7.4 and 7.8).
extension SimulatedController {
    /// - Returns: Whether the command belongs here.
    func carryOutInformation(_ opcode: HCIOpcode, _ parameters: RawSpan) -> Bool {
        let configuration = configuration
        switch opcode {
        case Reset.opcode:
            perform(Reset.self, parameters) { _ in
                reset()
                return .success
            }
        case SetEventMask.opcode:
            perform(SetEventMask.self, parameters) {
                settings.eventMask = $0.mask
                return .success
            }
        case SetEventMaskPage2.opcode:
            perform(SetEventMaskPage2.self, parameters) {
                settings.eventMaskPage2 = $0.mask
                return .success
            }
        case LESetEventMask.opcode:
            perform(LESetEventMask.self, parameters) {
                settings.leEventMask = $0.mask
                return .success
            }
        case ReadLEHostSupport.opcode:
            query(ReadLEHostSupport.self, parameters) { _ in .init(isSupported: settings.isLEHostSupported) }
        case WriteLEHostSupport.opcode:
            perform(WriteLEHostSupport.self, parameters) {
                settings.isLEHostSupported = $0.isSupported
                return .success
            }
        case ReadLocalVersionInformation.opcode:
            query(ReadLocalVersionInformation.self, parameters) { _ in
                .init(
                    hciVersion: configuration.version, hciSubversion: configuration.subversion,
                    lmpVersion: configuration.version, manufacturer: configuration.manufacturer,
                    lmpSubversion: configuration.subversion)
            }
        case ReadLocalSupportedCommands.opcode:
            query(ReadLocalSupportedCommands.self, parameters) { _ in .init(commands: supportedCommands) }
        case ReadLocalSupportedFeatures.opcode:
            // No BR/EDR, LE supported (Core 5.4, Vol 2, Part C, 3.3).
            query(ReadLocalSupportedFeatures.self, parameters) { _ in .init(features: 0x60 << 32) }
        case LEReadLocalSupportedFeatures.opcode:
            query(LEReadLocalSupportedFeatures.self, parameters) { _ in .init(features: configuration.features) }
        case ReadBDADDR.opcode:
            query(ReadBDADDR.self, parameters) { _ in
                .init(address: configuration.publicAddress ?? DeviceAddress(value: 0, kind: .public))
            }
        case ReadBufferSize.opcode:
            query(ReadBufferSize.self, parameters) { _ in
                .init(
                    aclDataPacketLength: configuration.aclDataLength,
                    totalACLDataPackets: UInt16(configuration.aclDataCount))
            }
        case LEReadBufferSize.opcode:
            query(LEReadBufferSize.self, parameters) { _ in
                configuration.sharesBuffers
                    ? .init()
                    : .init(
                        aclDataPacketLength: configuration.aclDataLength,
                        totalACLDataPackets: configuration.aclDataCount)
            }
        case LEReadSupportedStates.opcode:
            query(LEReadSupportedStates.self, parameters) { _ in .init(states: configuration.supportedStates) }
        case LEReadMaximumDataLength.opcode:
            query(LEReadMaximumDataLength.self, parameters) { _ in
                let octets = maximumDataLength
                return .init(
                    maximumTransmitOctets: octets, maximumTransmitTime: Self.time(octets: octets),
                    maximumReceiveOctets: octets, maximumReceiveTime: Self.time(octets: octets))
            }
        case LEReadSuggestedDefaultDataLength.opcode:
            query(LEReadSuggestedDefaultDataLength.self, parameters) { _ in
                .init(
                    maximumTransmitOctets: settings.suggestedTransmitOctets,
                    maximumTransmitTime: settings.suggestedTransmitTime)
            }
        case LEWriteSuggestedDefaultDataLength.opcode:
            perform(LEWriteSuggestedDefaultDataLength.self, parameters) {
                guard 27...251 ~= $0.maximumTransmitOctets, 328...17_040 ~= $0.maximumTransmitTime else {
                    return .invalidCommandParameters
                }
                settings.suggestedTransmitOctets = $0.maximumTransmitOctets
                settings.suggestedTransmitTime = $0.maximumTransmitTime
                return .success
            }
        case LESetDefaultPHY.opcode:
            perform(LESetDefaultPHY.self, parameters) {
                let status = check($0.preferences)
                if status.isSuccess { settings.phyPreferences = $0.preferences }
                return status
            }
        case LESetHostChannelClassification.opcode:
            perform(LESetHostChannelClassification.self, parameters) {
                let channels = $0.channelMap.rawValue
                guard channels.nonzeroBitCount >= 1, channels >> 37 == 0 else { return .invalidCommandParameters }
                settings.channelMap = $0.channelMap
                return .success
            }
        case SetControllerToHostFlowControl.opcode:
            perform(SetControllerToHostFlowControl.self, parameters) {
                guard $0.mode.rawValue <= 3 else { return .invalidCommandParameters }
                guard links.isEmpty else { return .commandDisallowed }
                settings.hostFlowControl = $0.mode
                return .success
            }
        case HostBufferSize.opcode:
            perform(HostBufferSize.self, parameters) {
                guard $0.aclDataPacketLength > 0, $0.totalACLDataPackets > 0 else { return .invalidCommandParameters }
                settings.hostBufferCount = Int($0.totalACLDataPackets)
                return .success
            }
        default: return false
        }
        return true
    }

    /// Octets of one packet of the link layer, within what the specification allows.
    var maximumDataLength: UInt16 { min(251, max(27, configuration.maximumDataLength)) }

    /// Microseconds that a packet with so many octets takes on LE 1M (Core 5.4, Vol 6, Part B, 4.5.10).
    static func time(octets: UInt16) -> UInt16 { (min(octets, 251) + 14) * 8 }

    /// Whether the host asks only for PHYs that there are.
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
