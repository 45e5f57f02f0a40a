import BLE
import BLESimulator

/// A device on a radio: what a test changes about it, and what it sees of it.
public struct TestPeer: Sendable {
    private let radio: TestRadio
    /// Identifies the device on the air, for `TestRadio.onAir(_:)`.
    public let identifier: SimulatedDeviceID
    /// The device as it was added.
    public let device: TestDevice
    /// Its address.
    public let address: DeviceAddress

    init(radio: TestRadio, identifier: SimulatedDeviceID, device: TestDevice, address: DeviceAddress) {
        self.radio = radio
        self.identifier = identifier
        self.device = device
        self.address = address
    }

    // MARK: The link

    /// Whether a central is connected.
    public var isConnected: Bool { statistics.isConnected }

    /// What has happened so far: links, requests, writes, notifications.
    public var statistics: SimulatedDeviceStatistics {
        let identifier = identifier
        return radio.onAir { $0.statistics(of: identifier) }
    }

    /// Disconnects the central.
    /// - Parameter reason: what the central reports.
    public func disconnect(_ reason: HCIStatus = .remoteUserTerminatedConnection) {
        change { $0.disconnect($1, reason: reason) }
    }

    // MARK: The radio

    /// Moves out of range: a link is lost after the supervision timeout.
    public func goOutOfRange() { change { $0.setInRange(false, $1) } }

    /// Moves back into range.
    public func comeIntoRange() { change { $0.setInRange(true, $1) } }

    /// Sets the strength at which the device is received, in dBm.
    public func setSignal(_ rssi: Int8) { change { $0.setSignal(rssi, of: $1) } }

    /// Sets the distance in free space, at a transmit power of 0 dBm.
    public func setDistance(metres: Double) { change { $0.setDistance(metres: metres, of: $1) } }

    /// Switches the device off for good; a link is lost after the supervision timeout.
    public func remove() { change { $0.remove($1) } }

    // MARK: Advertising

    /// Stops advertising, or begins again.
    public func setAdvertising(_ isOn: Bool) { change { $0.setAdvertising(isOn, of: $1) } }

    /// Advertises as another device would: the name, the services, the data and the interval of `other` count.
    public func advertise(as other: TestDevice) {
        let advertisement = other.advertisement
        change { $0.setAdvertisement(advertisement, of: $1) }
    }

    // MARK: Attributes

    /// The value of the first characteristic with this UUID; `nil` if the device has none.
    public func value(of characteristic: BluetoothUUID) -> [UInt8]? {
        let identifier = identifier
        return radio.onAir { $0.value(of: characteristic, on: identifier) }
    }

    /// Changes the value of the first characteristic with this UUID, and sends it to a subscriber.
    public func setValue(_ value: [UInt8], of characteristic: BluetoothUUID) {
        change { $0.setValue(value, of: characteristic, on: $1) }
    }

    /// Refuses reads of the first characteristic with this UUID; `nil` allows them again.
    public func failReads(of characteristic: BluetoothUUID, with error: ATTError?) {
        change { air, device in air.changeCharacteristic(characteristic, on: device) { $0.readError = error } }
    }

    /// Refuses writes to the first characteristic with this UUID; `nil` allows them again.
    public func failWrites(to characteristic: BluetoothUUID, with error: ATTError?) {
        change { air, device in air.changeCharacteristic(characteristic, on: device) { $0.writeError = error } }
    }

    /// Replaces the services, as after an update of the firmware, and indicates Service Changed.
    public func replaceServices(@TestServiceBuilder _ services: () -> [TestService]) {
        let simulated = services().map(\.simulated)
        change { $0.replaceServices(simulated, on: $1) }
    }

    private func change(_ body: @escaping @Sendable (SimulatedAir, SimulatedDeviceID) -> Void) {
        let identifier = identifier
        radio.onAir { body($0, identifier) }
    }
}

extension TestPeer: CustomStringConvertible {
    public var description: String { "\(device) at \(address)" }
}
