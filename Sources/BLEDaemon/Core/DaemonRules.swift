import BLEAppLifecycle
import BLEHost
import BLEPackets

/// The settings of a daemon that its rules need.
public struct DaemonRules: Sendable {
    /// The numeric IDs of the users who may connect, besides root.
    public var users: Set<UInt32> = []
    /// The numeric ID of the group whose members are operators, besides root and the daemon's own user.
    public var operatorGroup: UInt32?
    /// The limits of each client.
    public var limits = ClientLimits()
    /// The settings of the life of apps.
    public var lifecycle = LifecycleSettings()
    /// Whether apps send the overflow area; they share one, so that its company is that of all: Apple's if this names
    /// none.
    public var overflow: OverflowSetting {
        get { lifecycle.overflow }
        set { lifecycle.overflow = newValue.ofSharedSystem }
    }
    /// The key of the kernel's adapter, which is used whatever its number; `nil`: that of the adapter which the transport
    /// names once it has been there.
    public var adapterKey: AdapterKey?
    /// Whether this is the first of several daemons: it has the apps whose manifest names no adapter.
    public var isFirst = true
    /// The transport or the address of the adapter that has the apps whose manifest names none; `nil`: that of the first
    /// daemon.
    public var defaultAdapter: String?
    /// The program that passes requests to systemd.
    public var systemctlPath = "/usr/bin/systemctl"
    /// The daemon's own user.
    package var ownUser: UInt32 = 0
    /// The name that the transport gives the adapter in manifests.
    package var transportName: String?
    /// Whether the adapter is one of the kernel's, which have an address.
    package var isKernelAdapter = false
    package var hasAppsFolder = false
    /// Whether the running processes of apps are written down.
    package var listsProcesses = false
    /// How the engine pairs, apart from what programs want.
    package var security = SecuritySettings()
    package var timing = Timing.gateway
    package var deviceName = ""
    package var tools = ToolSettings()

    package init() {}
}
