import BLE

/// The service that streams, as both stacks' programs know it.
public enum BenchmarkService {
    public static let service = uuid(1)
    /// Written: `01`, the number of octets in all (32 bits), the octets of a notification (16 bits).
    public static let control = uuid(8)
    /// Notifies; each value begins with its number (32 bits).
    public static let stream = uuid(9)
    /// Takes write commands, which are only counted.
    public static let sink = uuid(10)
    /// Is read; only the feeder has it.
    public static let reading = uuid(11)
    /// The SPSM of a channel that sends each message back.
    public static let echo: UInt16 = 0x80
    /// What both ends of that channel accept: so much is on its way at a time that btvirt drops nothing of it.
    public static let echoSettings = ChannelSettings(
        maximumTransmissionUnit: 2048, maximumPayloadSize: 247, credits: 16)

    /// 6B7Axxxx-9D1C-4F5E-8A2B-3C4D5E6F7081.
    private static func uuid(_ number: UInt64) -> BluetoothUUID {
        BluetoothUUID(high: 0x6B7A_0000_9D1C_4F5E | number << 32, low: 0x8A2B_3C4D_5E6F_7081)
    }
}
