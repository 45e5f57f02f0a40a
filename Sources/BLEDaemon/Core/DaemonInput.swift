import BLEAppLifecycle
import BLEHost
import BLEPackets
import BLETransport

/// Everything that can happen to the daemon.
package enum DaemonInput: Equatable {
    /// The processes that an earlier daemon launched have been found: the work begins.
    case begun
    /// A program has connected.
    case connected(ConnectionID, PeerCredentials)
    /// A program has sent octets; `DaemonCore.receive` does the same without a copy.
    case received(ConnectionID, [UInt8])
    /// How far the octets for a program are that were sent before: those that the kernel has taken since the program
    /// connected, that it did not take, and that wait, with those that it has not been given yet.
    case wrote(ConnectionID, taken: UInt64, refused: Int, waiting: Int)
    /// The kernel has taken some of what it did not take before.
    case flushed(ConnectionID)
    /// A connection has ended.
    case closed(ConnectionID)
    /// The next turn of a round, which `DaemonEffect.planRound` asked for; repeat it while `isInRound`.
    case turn
    /// The engine may have an event.
    case engine
    case controller(ControllerNews)
    case process(AppID, ProcessNews)
    /// The request to systemd for a unit has failed, for this reason.
    case unitFailed(String)
    /// Which process a program that greeted as an installed app is; `nil`: it has ended.
    indirect case identified(ConnectionID, PeerProcess?)
    /// The manifests have been read.
    indirect case manifests(InstalledApps, ManifestReason)
    indirect case installed(Installation, by: ConnectionID)
    indirect case removed(Removal, by: ConnectionID)
    /// What was learned of controllers has been forgotten, or not for this reason.
    case forgotten(String?, by: ConnectionID)
    /// Another daemon of the process has removed an app.
    case appRemoved(AppID, keepsState: Bool)
    /// The manifests are to be read again.
    case reload
    indirect case settings(DaemonChange)
    /// A packet has crossed HCI, without its secrets.
    case packet([UInt8], isFromController: Bool, unixMicroseconds: UInt64)
    case memoryIsShort
    /// Time has passed.
    case advance
    /// The daemon ends.
    case stop
}

/// A connection of a program, by the number that it was given when it connected.
package struct ConnectionID: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Its client in the engine as a tool. Tools have these numbers, managers of apps have lower ones.
    package var client: ClientID { ClientID(rawValue: 0x8000_0000 + rawValue) }

    var next: ConnectionID { ConnectionID(rawValue: rawValue >= 0x7FFF_FFFE ? 0 : rawValue + 1) }
}

extension ClientID {
    /// Whether this is the number of a connection as a tool; managers of apps have lower ones.
    var isTool: Bool { rawValue >= 0x8000_0000 && rawValue != .max }
}

/// What happens to the controller apart from the engine's events.
package enum ControllerNews: Equatable {
    /// It could not be opened.
    /// - Parameters:
    ///   - isBlocked: whether rfkill forbids it.
    ///   - isGivenBack: whether the kernel had to let go of the adapter, and so reports soon that it has come.
    case refused(String, isBlocked: Bool, isGivenBack: Bool)
    /// The transport has ended; `nil`: without an error.
    case ended(String?)
    /// An adapter has been plugged in.
    case adapterCame
    /// By what the kernel's adapter is known, and where it is.
    case adapterIs(AdapterKey?, place: String?)
    /// The device has been reset, or could not be for this reason.
    case resetEnded(String?)
    /// Another adapter takes the place of one that cannot be used.
    case otherAdapter
    /// What the device is, and what people should know of it.
    case notes(String, [String])
    /// The name of a switch of the machine that switches Bluetooth off; `nil`: none does.
    case machineSwitch(String?)
}

/// What happens to the process of an installed app.
package enum ProcessNews: Equatable {
    /// It was launched by an earlier daemon.
    case found(ProcessFacts, isInForeground: Bool)
    case launched(ProcessFacts)
    /// systemd was asked to start its unit.
    case requested
    /// It could not be launched, for this errno value and its text.
    case notLaunched(Int32, String)
    case ended(ProcessEnding)
    /// It could not be stopped: it belongs to another user.
    case notStopped
    /// Its memory could not be limited.
    case notLimited
}

/// How a process has ended.
package enum ProcessEnding: Equatable {
    /// By itself, with this status.
    case exited(Int32)
    /// By a signal of this number.
    case signalled(Int32)
    /// It is no child of this process, which gets no status then.
    case unknown
    /// Its program could not be started, for this errno value and its text.
    case notStarted(Int32, String)
}

/// What belongs to the app besides the process itself.
package enum ProcessKind: String, Sendable {
    /// Nothing: it was started elsewhere and connected.
    case process
    /// Its process group, because the daemon launched it.
    case group
    /// Its cgroup, which the daemon made for it.
    case cgroup
    /// The cgroup of the systemd unit that it is.
    case unit
}

/// What identifies a process.
package struct ProcessFacts: Equatable {
    package var number: Int32
    /// Its start time as /proc reports it, and the start of the machine.
    package var began: String
    package var kind: ProcessKind

    package init(number: Int32, began: String, kind: ProcessKind) {
        self.number = number
        self.began = began
        self.kind = kind
    }
}

/// The process of a program that greeted as an installed app.
package struct PeerProcess: Equatable {
    /// The number of its process group.
    package var group: Int32
    /// Whether it is of the app's systemd unit, which root started.
    package var isOfUnit: Bool
    /// `nil`: it has ended meanwhile.
    package var facts: ProcessFacts?

    package init(group: Int32, isOfUnit: Bool, facts: ProcessFacts?) {
        self.group = group
        self.isOfUnit = isOfUnit
        self.facts = facts
    }
}

/// Why manifests are read, and so what follows.
package enum ManifestReason: Equatable {
    /// They may have changed.
    case reload
    /// The settings have changed, and with them perhaps the company of the overflow area.
    indirect case settings(isOverflowChanged: Bool)
    /// The address of the adapter has become known.
    case adapterKnown
    /// An operator asked for it.
    case reloadedBy(ConnectionID)
    case installed(InstalledApp, path: String, by: ConnectionID)
    case removed(AppID, Removal, by: ConnectionID)
    /// Another daemon has removed an app.
    case removedElsewhere(AppID, keepsState: Bool)
}

/// How the installation of an app ended.
package enum Installation: Equatable {
    case written(InstalledApp, path: String)
    case refused(String)
}

/// How the removal of an app ended.
package struct Removal: Equatable {
    package var app: AppID
    package var keepsState: Bool
    /// The manifests that were deleted.
    package var deleted: [String] = []
    /// Why the app stays installed.
    package var refusal: String?
    /// Its process, and whether it could be ended; `nil`: it had none.
    package var process: Int32?
    package var isKilled: Bool?

    package init(app: AppID, keepsState: Bool) {
        self.app = app
        self.keepsState = keepsState
    }
}

/// What a new reading of the configuration changes.
package struct DaemonChange: Equatable {
    package var users: Set<UInt32>
    package var operatorGroup: UInt32?
    package var limits: ClientLimits
    package var overflow: OverflowSetting

    package init(users: Set<UInt32>, operatorGroup: UInt32?, limits: ClientLimits, overflow: OverflowSetting) {
        (self.users, self.operatorGroup) = (users, operatorGroup)
        (self.limits, self.overflow) = (limits, overflow)
    }
}
