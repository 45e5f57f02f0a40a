import BLEHost
import BLEJSON
import BLEPackets

/// What a server asks for.
enum MatterCommand: Equatable {
    case startScan(MatterScan)
    case stopScan
    case connect(address: UInt64, timeout: Microseconds)
    case onLink(UInt16, LinkCommand)

    /// What it asks for on a link.
    enum LinkCommand: Equatable {
        case disconnect
        case services
        case characteristics(of: BluetoothUUID)
        case read(BluetoothUUID)
        case write(MatterWrite)
        case subscribe(BluetoothUUID)
        /// The second begins when the first has ended, and nothing comes between them.
        case writeAndSubscribe(MatterWrite, BluetoothUUID)
        case unsubscribe(BluetoothUUID)
        case requestMTU
        /// A frame of octets for the characteristic that was written last. It has no answer.
        case data([UInt8])
    }

    /// The time in which a link has to be established if the command names none.
    private static let connectTime = Microseconds.seconds(30)
    private static let longestConnectTime = Microseconds.seconds(300)

    init(_ name: String, _ arguments: MatterArguments) throws(MatterFailure) {
        func onLink(_ command: LinkCommand) throws(MatterFailure) -> Self {
            .onLink(try arguments.handle(), command)
        }
        switch name {
        case "start_scan": self = .startScan(try MatterScan(arguments))
        case "stop_scan": self = .stopScan
        case "connect":
            self = .connect(
                address: try arguments.address(),
                timeout: try arguments.milliseconds("timeout", atMost: Self.longestConnectTime) ?? Self.connectTime)
        case "disconnect": self = try onLink(.disconnect)
        case "discover_services": self = try onLink(.services)
        case "discover_characteristics":
            self = try onLink(.characteristics(of: try arguments.uuid("service_uuid", orElse: .serviceNotFound)))
        case "read_characteristic": self = try onLink(.read(try arguments.characteristic("characteristic_uuid")))
        case "write_characteristic":
            self = try onLink(
                .write(
                    MatterWrite(
                        to: try arguments.characteristic("characteristic_uuid"), try arguments.octets("value"),
                        withResponse: try arguments.boolean("response") ?? false)))
        case "subscribe_characteristic":
            self = try onLink(.subscribe(try arguments.characteristic("characteristic_uuid")))
        case "write_and_subscribe":
            let write = MatterWrite(
                to: try arguments.characteristic("write_uuid"), try arguments.octets("write_value"),
                withResponse: try arguments.boolean("write_response") ?? false)
            self = try onLink(.writeAndSubscribe(write, try arguments.characteristic("subscribe_uuid")))
        case "unsubscribe_characteristic":
            self = try onLink(.unsubscribe(try arguments.characteristic("characteristic_uuid")))
        case "request_mtu":
            _ = try arguments.integer("mtu", in: 1...0xFFFF)
            self = try onLink(.requestMTU)
        default: throw MatterFailure(.internalError, "there is no such command")
        }
    }
}

/// A value for a characteristic.
struct MatterWrite: Equatable {
    let characteristic: BluetoothUUID
    let value: [UInt8]
    let withResponse: Bool

    init(to characteristic: BluetoothUUID, _ value: [UInt8], withResponse: Bool) {
        self.characteristic = characteristic
        self.value = value
        self.withResponse = withResponse
    }
}
