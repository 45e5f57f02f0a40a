// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEAppLifecycle
import BLEDaemonClient
import BLETransport
import Foundation

/// The environment of this app: its manifest, its launch, its folders (SPEC 5.3, 5.5; DESIGN section 3).
struct AppEnvironment: Sendable {
    /// `JELLING_TRANSPORT`: `nil` means the first adapter.
    var transport: String?
    /// The socket of a daemon that shares its controller; `nil`: the app has its own controller.
    var socketPath: String?
    /// `JELLING_STATE`, otherwise the default folder.
    var stateDirectory: String
    var identifier: String
    var modeNames: [String] = []
    var authorization = ManagerAuthorization.allowedAlways
    var startsInForeground = true
    var launchOptions = LaunchOptions()
    /// Whether the user is asked at the terminal during pairing.
    var asksAtTerminal = true
    /// Whether the app sees the services of peripherals that Apple's system hides.
    var showsSystemServices = false
    /// `JELLING_OVERFLOW`, otherwise what the manifest says about the overflow area; `nil`: neither says anything.
    var overflow: OverflowSetting?

    static let current: AppEnvironment = {
        var environment = AppEnvironment(ProcessInfo.processInfo.environment)
        environment.findDaemon()
        return environment
    }()

    /// Uses the daemon's socket unless `JELLING_TRANSPORT` is set to something other than a daemon (DESIGN section 3).
    private mutating func findDaemon() {
        guard let transport else {
            socketPath = DaemonClient.sharedSocketPath
            return
        }
        guard let address = try? TransportAddress(transport), case .daemon = address else { return }
        socketPath = DaemonClient.socketPath(of: address)
    }

    init(_ variables: [String: String]) {
        transport = variables["JELLING_TRANSPORT"].flatMap { $0.isEmpty ? nil : $0 }
        stateDirectory = Self.stateDirectory(variables)
        identifier = ProcessInfo.processInfo.processName
        if let path = variables["JELLING_MANIFEST"], !path.isEmpty { readManifest(path) }
        // The name under which the daemon launched this app.
        if let name = variables["JELLING_APP"], !name.isEmpty { identifier = name }
        if let text = variables["JELLING_OVERFLOW"], !text.isEmpty {
            overflow = Self.overflow(text, in: "JELLING_OVERFLOW")
        }
        launchOptions.centrals += Self.names(variables["CB_LAUNCH_CENTRALS"])
        launchOptions.peripherals += Self.names(variables["CB_LAUNCH_PERIPHERALS"])
        if !launchOptions.isEmpty { startsInForeground = false }
    }

    var manifest: AppManifest {
        var manifest = AppManifest(
            app: AppID(rawValue: identifier), backgroundModes: BackgroundModes(names: modeNames),
            authorization: authorization, showsSystemServices: showsSystemServices)
        manifest.overflow = overflow ?? .on
        return manifest
    }

    /// A user who writes a value does not want the default: nothing is sent that was not asked for.
    private static func overflow(_ text: String, in place: String) -> OverflowSetting {
        if let setting = OverflowSetting(rawValue: text) { return setting }
        MisuseLog.write("\(place) is \(OverflowSetting.forms), not ‘\(text)’; the overflow area is not sent")
        return .off
    }

    private static func stateDirectory(_ variables: [String: String]) -> String {
        if let path = variables["JELLING_STATE"], !path.isEmpty { return path }
        if let base = variables["XDG_STATE_HOME"], base.hasPrefix("/") { return base + "/jelling" }
        if let home = variables["HOME"], !home.isEmpty { return home + "/.local/state/jelling" }
        return "/var/lib/jelling"
    }

    private static func names(_ list: String?) -> [String] {
        (list ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
