import BLEPackets

/// A request of an operator.
public enum OperatorRequest: Choice, Hashable, Sendable {
    /// Lists the installed apps.
    case list
    /// Reads the manifests again.
    case reload
    /// Brings an app to the foreground; launches it if it does not run.
    case foreground(String)
    /// Sends an app to the background.
    case background(String)
    /// Stops an app until an event wakes it.
    case suspend(String)
    /// Force-quits an app: all its operations end, and no event launches it (SPEC SPR-30).
    case quit(String)
    /// Describes one installed app, with its manifest.
    case show(String)
    /// Installs an app: the octets of its manifest.
    case install([UInt8])
    /// Removes an installed app: ends it as `quit` does, deletes its manifest, and forgets what the daemon knows of it.
    /// `keepsState`: the devices that it knows are saved, for when it is installed again. Bonds stay.
    case remove(String, keepsState: Bool)
    /// The state of the daemon, its controller and its clients.
    case status
    /// The alerts that wait for an answer.
    case alerts
    /// The same; later alerts, and those that are withdrawn or answered, are reported until the connection ends.
    case followAlerts
    /// Answers an alert; accepting it brings the app to the foreground (SPEC ALR-4).
    case answerAlert(UInt32, accepts: Bool)
    /// The bonds, without keys.
    case bonds
    /// Removes a bond, and ends a link to its device.
    case removeBond(DeviceAddress)
    /// Reports what crosses HCI until the connection ends, without keys.
    case capture
    /// Switches Bluetooth off or on (SPEC SPR-30). Off, links end and managers become `poweredOff`; on, they become
    /// `poweredOn` as soon as the controller can be used. It lasts until the daemon ends.
    case power(Bool)
    /// Resets the device behind the adapter as if it were unplugged and plugged in; answered when it is back.
    case resetDevice
    /// Forgets what was learned of the controllers of this adapter.
    case forgetTraits
    /// A request of a newer client, or with a value that its field cannot have. It is answered with an error.
    case unknown

    public static var blank: Self { .unknown }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.choice(&it, else: .unknown)
    }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(1, "list", &it, .list)
        try c.option(2, "foreground", &it, Self.foreground) { if case .foreground(let app) = $0 { app } else { nil } }
        try c.option(3, "background", &it, Self.background) { if case .background(let app) = $0 { app } else { nil } }
        try c.option(4, "suspend", &it, Self.suspend) { if case .suspend(let app) = $0 { app } else { nil } }
        try c.option(5, "quit", &it, Self.quit) { if case .quit(let app) = $0 { app } else { nil } }
        try c.option(6, "reload", &it, .reload)
        try c.option(7, "status", &it, .status)
        try c.option(8, "alerts", &it, .alerts)
        try c.option(9, "follow_alerts", &it, .followAlerts)
        try c.option(10, "answer_alert", as: "AnswerAlert", &it, Self.answerAlert, "alert", "accepts") {
            if case .answerAlert(let alert, let accepts) = $0 { (alert, accepts) } else { nil }
        }
        try c.option(11, "show", &it, Self.show) { if case .show(let app) = $0 { app } else { nil } }
        try c.option(12, "install", &it, Self.install) { if case .install(let file) = $0 { file } else { nil } }
        try c.option(13, "bonds", &it, .bonds)
        try c.option(14, "remove_bond", &it, Self.removeBond) { if case .removeBond(let a) = $0 { a } else { nil } }
        try c.option(15, "capture", &it, .capture)
        try c.option(16, "power", &it, Self.power) { if case .power(let isOn) = $0 { isOn } else { nil } }
        try c.option(18, "reset_device", &it, .resetDevice)
        try c.option(19, "forget_traits", &it, .forgetTraits)
        try c.option(17, "remove", as: "RemoveApp", &it, Self.remove, "app", "keeps_state") {
            if case .remove(let app, let keepsState) = $0 { (app, keepsState) } else { nil }
        }
    }
}
