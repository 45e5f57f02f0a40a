/// The content of frames in pcap and pcapng files: one of tcpdump's link types.
public enum CaptureLink: UInt32, Sendable {
    /// H4 packets; pcapng stores their direction as an option, pcap does not store it.
    case h4 = 187
    /// H4 packets after four octets with the direction.
    case h4WithDirection = 201
    /// Packets and notes after the adapter index and the opcode of the Linux monitor.
    case linuxMonitor = 254
}
