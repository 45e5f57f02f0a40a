import BLEPackets

/// What is wrong with a controller that cannot be used.
public enum ControllerFault: Hashable, Sendable {
    /// It did not answer this command, also after every step of recovery.
    case unanswered(HCIOpcode)
    /// It refuses a command without which the stack cannot work.
    case refused(HCIStatus, HCIOpcode)
    /// It scans and reports nothing any more, also after every step of recovery.
    case noReports
    /// It has no Bluetooth LE.
    case noLowEnergy
    /// It reports itself as the sender of every advertisement.
    case reportsItself
    /// It acknowledges no data on any link.
    case stalledLinks
    /// It receives devices and connects to none of them.
    case connectsToNobody
    /// It has forgotten what it was told, as after a reset that nobody asked for.
    case forgetsState
    /// It reported a hardware error with this code, again and again (Core 5.4, Vol 4, Part E, 7.7.16).
    case hardwareError(UInt8)
    /// The transport lost its packets, again and again.
    case packetsLost
}
