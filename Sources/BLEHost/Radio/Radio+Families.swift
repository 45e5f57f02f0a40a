import BLEPackets

/// The two families of commands that scan, initiate and advertise, and which of them a controller really knows.
///
/// By the specification a controller takes one of them for everything (Core 5.4, Vol 4, Part E, 3.1.1). Real ones claim
/// commands that they do not know, or that they never answer: so each use has its own choice, which changes when a
/// command fails.
enum CommandFamily: Equatable {
    case legacy, extended

    /// The family of a command; `nil` if it belongs to none.
    init?(_ opcode: HCIOpcode) {
        switch opcode {
        case LESetScanParameters.opcode, LESetScanEnable.opcode, LECreateConnection.opcode,
            LESetAdvertisingParameters.opcode, LESetAdvertisingData.opcode, LESetScanResponseData.opcode,
            LESetAdvertisingEnable.opcode:
            self = .legacy
        case LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode, LEExtendedCreateConnection.opcode,
            LESetExtendedAdvertisingParameters.opcode, LESetExtendedAdvertisingData.opcode,
            LESetExtendedScanResponseData.opcode, LESetExtendedAdvertisingEnable.opcode,
            LESetAdvertisingSetRandomAddress.opcode:
            self = .extended
        default: return nil
        }
    }
}

extension ControllerTraits {
    /// Everything with legacy commands.
    static let usesLegacyCommandsOnly: ControllerTraits = [
        .scansWithLegacyCommands, .initiatesWithLegacyCommands, .advertisesWithLegacyCommands,
    ]

    /// The trait of a controller that does not know this extended command, or does not answer it.
    fileprivate static func without(_ opcode: HCIOpcode) -> ControllerTraits {
        switch opcode {
        case LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode, LESetScanParameters.opcode,
            LESetScanEnable.opcode:
            .scansWithLegacyCommands
        case LEExtendedCreateConnection.opcode, LECreateConnection.opcode: .initiatesWithLegacyCommands
        default: .advertisesWithLegacyCommands
        }
    }
}

extension Radio {
    /// Looks at the answer to a command that scans, initiates or advertises.
    /// - Returns: whether other commands are used from now on, so that what was begun begins again.
    mutating func changesFamily(_ status: HCIStatus, _ opcode: HCIOpcode, into effects: inout Effects) -> Bool {
        if !status.isSuccess { refusedOpcode = opcode }
        guard let family = CommandFamily(opcode) else { return false }
        switch status {
        case .success:
            if family == .extended { hasAcceptedExtended = true } else { hasAcceptedLegacy = true }
            return false
        case .unknownCommand: return takeOtherFamily(than: family, for: opcode, into: &effects)
        // Its data, above all: some controllers cannot take any (bazzite#5447).
        case _ where opcode == LESetExtendedAdvertisingData.opcode:
            return takeOtherFamily(than: family, for: opcode, into: &effects)
        case .commandDisallowed:
            guard configuration.ownership == .exclusive else {
                // The kernel's own stack may have chosen the other family.
                guard !hasAcceptedLegacy, !hasAcceptedExtended, !hasTriedOther else { return false }
                hasTriedOther = true
                return takeOtherFamily(than: family, for: opcode, into: &effects)
            }
            // Where the families must not be mixed, one is left: that of Core 4.0, from a reset on.
            guard family == .legacy ? hasAcceptedExtended : hasAcceptedLegacy else { return false }
            guard effects.learn(.usesLegacyCommandsOnly) else { return false }
            chooseCommands(effects.controller.traits)
            effects.requestRestart()
            return true
        default: return false
        }
    }

    /// A command was not answered. The next start takes the other family if this one failed before.
    /// - Parameter isFirst: whether the controller worked before: then it may just have stopped working.
    mutating func commandLost(_ opcode: HCIOpcode, isFirst: Bool, into effects: inout Effects) {
        guard let family = CommandFamily(opcode), family == .legacy || !isFirst else { return }
        _ = takeOtherFamily(than: family, for: opcode, isProven: false, into: &effects)
    }

    private mutating func takeOtherFamily(
        than family: CommandFamily, for opcode: HCIOpcode, isProven: Bool = true, into effects: inout Effects
    ) -> Bool {
        guard knowsExtendedCommands || family == .extended else { return false }
        let trait = ControllerTraits.without(opcode)
        guard
            isProven
                ? effects.learn(trait, isThere: family == .extended)
                : effects.suspect(trait, isThere: family == .extended)
        else { return false }
        chooseCommands(effects.controller.traits)
        return true
    }
}
