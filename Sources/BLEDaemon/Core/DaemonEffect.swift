import BLEAppLifecycle
import BLEHost
import BLETransport

/// What the owner of a `DaemonCore` carries out, in order.
package enum DaemonEffect: Equatable {
    /// Sends octets to a program.
    case send(ConnectionID, [UInt8])
    /// Ends a connection after what was sent before; `DaemonInput.closed` follows.
    case close(ConnectionID)
    /// Whether what a program sends is read.
    case read(ConnectionID, Bool)
    /// `DaemonInput.turn` as soon as everything that is ready has been handled.
    case planRound
    /// Answer with `DaemonInput.identified`.
    /// - Parameter unit: the systemd unit that the app is.
    case identify(ConnectionID, unit: String?)
    /// The process that was identified for a connection is an app's: watch for its end.
    case hold(ConnectionID, AppID)
    /// Opens the controller; `ControllerNews.refused` if that fails.
    case openController
    case closeController
    case reopenTransport
    /// Resets the device behind the adapter; `ControllerNews.resetEnded` follows. The transport is opened again afterwards
    /// if it was open.
    case resetDevice
    /// Keeps what was learned of the controller.
    case keep(ControllerExperience)
    /// Forgets what was learned of the adapter's controllers; `DaemonInput.forgotten` follows.
    case forgetTraits(by: ConnectionID)
    /// The controller works: its device is looked at, and `ControllerNews.notes` may follow.
    case controllerIsReady
    /// The adapter cannot be used at all; `ControllerNews.otherAdapter` follows if another one is taken.
    case takeNextAdapter
    /// Launches an app or asks systemd for its unit; `ProcessNews` follows.
    indirect case launch(InstalledApp, LaunchOptions)
    case process(AppID, ProcessOrder)
    /// Writes the list of processes.
    case saveProcesses(String)
    indirect case journal(JournalEntry)
    /// Reads the manifests; `DaemonInput.manifests` follows.
    /// - Parameter before: those so far: the apps of files with an error stay.
    indirect case readManifests(before: InstalledApps, ManifestReason)
    /// Writes a manifest, if the operator may; `DaemonInput.installed` follows.
    indirect case install([UInt8], PeerCredentials, InstalledApps, AppOwners, by: ConnectionID)
    /// Deletes the manifests of an app, if the operator may; `DaemonInput.removed` follows.
    /// - Parameter hasState: whether something is left of the app, installed or not.
    indirect case remove(
        AppID, keepsState: Bool, PeerCredentials, InstalledApps, owner: UInt32?, hasState: Bool, by: ConnectionID)
    /// An operator has installed an app: it may be that of another adapter.
    case manifestsChanged
    /// An operator has removed an app: the other daemons forget it, too.
    case appRemoved(AppID, keepsState: Bool)
    /// Lets other users open the socket.
    case openSocketToOthers
    /// Whether `DaemonInput.packet` is wanted.
    case capture(Bool)
    case log(DaemonSettings.LogLevel, String)
}

/// What is done with the process of an app.
package enum ProcessOrder: Equatable {
    case stop, resume, kill
    /// Ends what the app has left behind, after the end of its process.
    case forget
    /// Nobody watches for its end any more.
    case release
    /// Limits the memory of a process that was started elsewhere, in octets.
    case limitMemory(UInt64)
}
