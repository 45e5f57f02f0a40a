import ArgumentParser
import BLE

/// Enhanced attribute bearers of a command that uses a device's services.
struct BearerOptions: ParsableArguments {
    @Option(
        "Once the link is encrypted, open this many enhanced bearers (EATT), up to 5, if the device supports them "
            + "(default: 0).", "number")
    var eatt = 0

    func validate() throws {
        guard (0...5).contains(eatt) else { throw ValidationError("--eatt must be 0 to 5.") }
    }

    /// - Returns: `nil` without enhanced bearers.
    var settings: EnhancedBearerSettings? { eatt > 0 ? EnhancedBearerSettings(opened: eatt) : nil }
}
