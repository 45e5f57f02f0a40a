import BLEHost
import BLEPackets

/// The bearer of a device (`Bearer.LE1`), which BlueZ has among its experimental interfaces.
extension BlueZService {
    func bearerInterface(of device: DeviceRoom, adapter: String) -> [ObjectTree.Interface] {
        guard settings.isExperimental else { return [] }
        return [
            ObjectTree.Interface(
                name: InterfaceName.bearer,
                properties: [
                    ("Adapter", .path(adapter)), ("Paired", .boolean(device.isBonded)),
                    ("Bonded", .boolean(device.isBonded)), ("Connected", .boolean(device.isConnected)),
                ])
        ]
    }

    /// Shows whether a device is connected, and its bearer.
    mutating func setConnected(_ isConnected: Bool, _ path: String, because reason: DisconnectionReason? = nil) {
        tree.set([("Connected", .boolean(isConnected))], InterfaceName.device, of: path)
        guard tree.interface(InterfaceName.bearer, of: path) != nil else { return }
        tree.set([("Connected", .boolean(isConnected))], InterfaceName.bearer, of: path)
        guard !isConnected else { return }
        let (name, text) = Self.words(for: reason)
        tree.report(
            BusSignal(
                path: path, interface: InterfaceName.bearer, member: "Disconnected",
                arguments: [.string("org.bluez.Reason." + name), .string(text)]))
    }

    private static func words(for reason: DisconnectionReason?) -> (name: String, text: String) {
        switch reason {
        case .controller(.connectionTimeout): ("Timeout", "Connection timeout")
        case .controller(.connectionTerminatedByLocalHost), .releasedByClient:
            ("Local", "Connection terminated by local host")
        case .controller(.authenticationFailure):
            ("Authentication", "Connection terminated due to authentication failure")
        case .controller(.remoteUserTerminatedConnection), .controller(.remoteDeviceLowResources),
            .controller(.remoteDevicePowerOff):
            ("Remote", "Connection terminated by remote user")
        case .controller, .controllerLost, nil: ("Unknown", "Unspecified")
        }
    }

    mutating func receiveBearer(_ call: BusCall) {
        guard let device = devices[call.path] else { return refuse(call, .unknownObject(call.path)) }
        guard adapters[device.adapter]?.isPowered == true else { return refuse(call, .notReady) }
        switch (call.member, device.connection) {
        case ("Connect", .connected), ("Connect", .disconnecting): refuse(call, .alreadyConnected)
        case ("Connect", .none) where device.pairing == nil: connect(call)
        case ("Connect", _), ("Disconnect", .disconnecting): refuse(call, .inProgress("In Progress"))
        case ("Disconnect", .connected): disconnect(call)
        default: refuse(call, .bearerNotConnected)
        }
    }
}
