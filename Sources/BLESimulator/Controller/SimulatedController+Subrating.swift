import BLEPackets

/// Connection subrating (Core 5.4, Vol 4, Part E, 7.8.115, 7.8.123 and 7.8.124).
extension SimulatedController {
    private static let hostSupportBit = UInt8(LEFeatures.connectionSubratingHostSupport.rawValue.trailingZeroBitCount)

    func leSetHostFeature(_ command: LESetHostFeature) -> HCIStatus {
        guard ends.isEmpty else { return .commandDisallowed }
        guard command.bitNumber == Self.hostSupportBit else { return .unsupportedFeatureOrParameterValue }
        settings.isSubratingAllowed = command.isSupported
        return .success
    }

    func leSetDefaultSubrate(_ command: LESetDefaultSubrate) -> HCIStatus {
        guard Self.isValid(command.parameters) else { return .invalidCommandParameters }
        settings.defaultSubrate = command.parameters
        return .success
    }

    func leSubrateRequest(_ command: LESubrateRequest) -> HCIStatus {
        guard let position = position(of: command.connectionHandle) else { return .unknownConnectionIdentifier }
        guard Self.isValid(command.parameters) else { return .invalidCommandParameters }
        guard settings.isSubratingAllowed else { return .unsupportedRemoteFeature }
        air.begin(.subrate(command.parameters, by: ends[position].side), on: ends[position].link)
        return .success
    }

    var acceptedSubrates: SubrateParameters? {
        guard configuration.features.contains(.connectionSubrating), settings.isSubratingAllowed else { return nil }
        return settings.defaultSubrate
    }

    func subrateChanged(on link: AirLink, status: HCIStatus) {
        guard let position = position(of: link) else { return }
        send(
            le: LESubrateChange(
                status: status, connectionHandle: ends[position].handle, subrateFactor: link.subrateFactor,
                latency: link.parameters.latency, continuationNumber: link.continuationNumber,
                supervisionTimeout: link.parameters.supervisionTimeout))
    }

    private static func isValid(_ parameters: SubrateParameters) -> Bool {
        1...500 ~= parameters.minimumFactor && parameters.minimumFactor...500 ~= parameters.maximumFactor
            && parameters.maximumLatency <= 499
            && Int(parameters.maximumFactor) * (Int(parameters.maximumLatency) + 1) <= 500
            && parameters.continuationNumber < parameters.maximumFactor
            && 0x000A...0x0C80 ~= parameters.supervisionTimeout.rawValue
    }
}
