import BLEHost
import BLEPackets
import BLESimulator
import TestSupport

/// A remote central as tests of apps use it.
extension HostStation {
    /// A station with an address of its own that is ready.
    static func remote(
        in world: World, configuration: HostConfiguration = HostConfiguration(),
        address: DeviceAddress? = DeviceAddress("C0:FF:EE:00:00:01")
    ) -> HostStation {
        var controller = SimulatedControllerConfiguration()
        controller.publicAddress = address
        let station = HostStation(world, configuration: configuration, controller: controller)
        station.start()
        return station
    }

    /// The error with which the server answers; `nil` where it answers otherwise or not at all.
    func attError(_ link: LinkID, _ operation: GATTOperation) -> ATTError? {
        guard case .failure(.gatt(.att(let error, _)))? = result(of: .link(link, .gatt(operation))) else { return nil }
        return error
    }

    /// The characteristics of the first service with a UUID.
    func characteristics(_ link: LinkID, _ service: BluetoothUUID) -> [DiscoveredCharacteristic] {
        guard case .services(let services)? = gatt(link, .discoverServices(uuids: [service])),
            let found = services.first,
            case .characteristics(let list)? = gatt(link, .discoverCharacteristics(found.range, uuids: []))
        else { return [] }
        return list
    }

    /// - Returns: whether the server has confirmed the subscription.
    func subscribe(_ link: LinkID, _ characteristic: DiscoveredCharacteristic) -> Bool {
        guard let first = characteristic.valueHandle.next,
            case .descriptors(let found)? = gatt(
                link, .discoverDescriptors(AttributeHandleRange(first, characteristic.endHandle))),
            let configuration = found.first(where: { $0.uuid == .clientCharacteristicConfiguration }),
            let mode = characteristic.properties.subscriptionMode
        else { return false }
        return gatt(link, .subscribe(characteristic.valueHandle, configuration: configuration.handle, mode: mode))
            == .subscribed
    }

    /// The values of all notifications, in order.
    var notifications: [[UInt8]] {
        events.compactMap { if case .gatt(_, .notification(let value)) = $0 { value.value } else { nil } }
    }
}
