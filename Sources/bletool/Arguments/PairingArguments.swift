import ArgumentParser
import BLE

/// How `pair` and `serve` pair.
struct PairingArguments: ParsableArguments {
    enum Capability: String, CaseIterable, ExpressibleByArgument {
        case display
        case keyboard
        case yesno
        case kbdisp
        case none

        var capability: IOCapability {
            switch self {
            case .display: .displayOnly
            case .keyboard: .keyboardOnly
            case .yesno: .displayYesNo
            case .kbdisp: .keyboardDisplay
            case .none: .noInputNoOutput
            }
        }
    }

    @Option(help: ArgumentHelp("What this side can display and enter.", valueName: "capability"))
    var io = Capability.none

    @Option(
        name: .customLong("passkey"),
        help: ArgumentHelp(
            "The passkey to enter or to display, six digits. Other users can read it until this program has started, and a shell may keep it.",
            valueName: "number"))
    var secretPasskey: Secret<Passkey>?

    @Option(
        "A file whose first line is the passkey, which no other user then sees; - is standard input.", "file",
        completion: .file())
    var passkeyFile: String?

    /// Whether a passkey was given, in either form.
    var givesPasskey: Bool { secretPasskey != nil || passkeyFile != nil }

    @Flag(help: "Require protection against a man in the middle.")
    var mitm = false

    @Flag(name: .customLong("no-sc"), help: "Use LE legacy pairing, without LE Secure Connections.")
    var withoutSecureConnections = false

    @Flag(help: "Accept a numeric comparison without asking.")
    var yes = false

    @OptionGroup var strength: KeyStrengthArguments

    func validate() throws {
        try secretPasskey?.check("--passkey <number>")
        if secretPasskey != nil, passkeyFile != nil {
            throw ValidationError("--passkey contradicts --passkey-file: omit one of them.")
        }
        if mitm, io == .none {
            throw ValidationError(
                "--mitm needs a display or a keyboard on this side: use --io display, keyboard, yesno or kbdisp.")
        }
        if strength.secureConnectionsOnly {
            guard io != .none else {
                throw ValidationError(
                    "--secure-connections-only needs a display or a keyboard on this side: use --io display, keyboard, "
                        + "yesno or kbdisp.")
            }
            guard !withoutSecureConnections else {
                throw ValidationError("--no-sc contradicts --secure-connections-only: omit one of them.")
            }
        }
    }

    /// - Throws: `Failure` when the file of the passkey cannot be read or has none.
    func options() throws -> PairingOptions {
        let passkey = try passkeyFile.map { try SecretFile.value(of: $0, Passkey.self) } ?? secretPasskey?.value
        var options = PairingOptions(
            ioCapability: io.capability, requiresAuthentication: mitm,
            allowsSecureConnections: !withoutSecureConnections, passkey: passkey?.number)
        strength.apply(to: &options)
        return options
    }
}

/// 0 to 999999, as devices show it: with all its six digits, because a shorter number may be one that was cut off.
struct Passkey: ExplainedArgument, Equatable, Sendable {
    var number: UInt32

    init?(argument: String) {
        guard argument.utf8.count == 6, argument.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt32(argument)
        else { return nil }
        self.number = number
    }

    static func mistake(in text: String) -> String {
        "a passkey has six digits, leading zeros included, such as 001234"
    }

    /// The number with its leading zeros, as devices show it.
    static func text(_ number: UInt32) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
    }
}
