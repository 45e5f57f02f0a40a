/// What the frames of pcap and pcapng files hold: one of tcpdump's link types.
public enum CaptureLink: UInt32, Sendable {
    /// H4 packets; pcapng tells their direction beside them, pcap does not.
    case h4 = 187
    /// H4 packets behind four octets with the direction.
    case h4WithDirection = 201
    /// Packets and notes behind adapter and opcode of the Linux monitor.
    case linuxMonitor = 254
}
