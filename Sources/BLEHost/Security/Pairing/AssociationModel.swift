import BLEPackets

/// How two devices make sure that no third device is between them (Core 5.4, Vol 3, Part H, 2.3.5.1).
enum AssociationModel: Equatable {
    case justWorks
    case numericComparison
    /// The initiator shows the passkey, the responder's user types it.
    case passkeyShownByInitiator
    /// The responder shows the passkey, the initiator's user types it.
    case passkeyShownByResponder
    /// Both users type the same passkey.
    case passkeyTypedByBoth
    case outOfBand

    /// Whether the model protects against a man in the middle.
    var isAuthenticated: Bool { self != .justWorks }

    var isPasskey: Bool {
        switch self {
        case .passkeyShownByInitiator, .passkeyShownByResponder, .passkeyTypedByBoth: true
        case .justWorks, .numericComparison, .outOfBand: false
        }
    }

    /// Selects the model by tables 2.6 to 2.8.
    init(initiator: PairingFeatures, responder: PairingFeatures, isSecureConnections: Bool) {
        let isOutOfBand =
            isSecureConnections
            ? initiator.hasOutOfBandData || responder.hasOutOfBandData
            : initiator.hasOutOfBandData && responder.hasOutOfBandData
        if isOutOfBand {
            self = .outOfBand
        } else if !initiator.authentication.contains(.mitm), !responder.authentication.contains(.mitm) {
            self = .justWorks
        } else {
            self = Self.model(initiator.ioCapability, responder.ioCapability, isSecureConnections)
        }
    }

    private static func model(
        _ initiator: IOCapability, _ responder: IOCapability, _ isSecureConnections: Bool
    ) -> AssociationModel {
        switch (initiator, responder) {
        case (.noInputNoOutput, _), (_, .noInputNoOutput): .justWorks
        case (.displayOnly, .displayOnly), (.displayOnly, .displayYesNo), (.displayYesNo, .displayOnly): .justWorks
        case (.displayYesNo, .displayYesNo), (.displayYesNo, .keyboardDisplay), (.keyboardDisplay, .displayYesNo):
            if isSecureConnections {
                .numericComparison
            } else if initiator == .keyboardDisplay {
                .passkeyShownByResponder
            } else if responder == .keyboardDisplay {
                .passkeyShownByInitiator
            } else {
                .justWorks
            }
        case (.keyboardDisplay, .keyboardDisplay):
            isSecureConnections ? .numericComparison : .passkeyShownByInitiator
        case (.keyboardOnly, .keyboardOnly): .passkeyTypedByBoth
        case (.displayOnly, .keyboardOnly), (.displayOnly, .keyboardDisplay), (.displayYesNo, .keyboardOnly),
            (.keyboardDisplay, .keyboardOnly):
            .passkeyShownByInitiator
        case (.keyboardOnly, .displayOnly), (.keyboardOnly, .displayYesNo), (.keyboardOnly, .keyboardDisplay),
            (.keyboardDisplay, .displayOnly):
            .passkeyShownByResponder
        }
    }
}
