import BLE
import BLESimulator

/// A simulated device for the tests of an app: what it advertises, its services, and how it behaves.
///
///     TestDevice("Belt") {
///         TestService(.heartRate) {
///             TestCharacteristic(.heartRateMeasurement, [.notify])
///                 .notifying(every: .seconds(1)) { [0, UInt8(60 + $0 % 100)] }
///             TestCharacteristic(.bodySensorLocation, [.read], value: [1])
///         }
///         TestService(.batteryService) {
///             TestCharacteristic(.batteryLevel, [.read, .notify], value: [87])
///         }
///     }
///     .signal(-70)
///     .responding(after: .milliseconds(30))
///
/// Each modifier returns a changed copy.
public struct TestDevice: Sendable {
    /// The device name, in Generic Access and in what it advertises.
    public private(set) var name: String
    /// The address; `nil` until `TestRadio.add(_:)` chooses one.
    public private(set) var address: DeviceAddress?

    var services: [TestService]
    private var advertised: [BluetoothUUID]?
    private var manufacturerData: (company: UInt16, data: [UInt8])?
    private var serviceData: (uuid: BluetoothUUID, data: [UInt8])?
    private var interval = Duration.milliseconds(100)
    private var isConnectable = true
    private var rssi: Int8 = -55
    private var mtu = 517
    private var link = SimulatedLinkBehaviour()
    private(set) var startsInRange = true
    private(set) var startsAdvertising = true

    /// - Parameters:
    ///   - name: the device name.
    ///   - address: `nil` for a random static address that no other device has.
    ///   - services: what a central discovers, after Generic Access and Generic Attribute.
    public init(
        _ name: String, address: DeviceAddress? = nil, @TestServiceBuilder services: () -> [TestService] = { [] }
    ) {
        self.name = name
        self.address = address
        self.services = services()
    }

    private func changed(_ change: (inout TestDevice) -> Void) -> TestDevice {
        var copy = self
        change(&copy)
        return copy
    }

    // MARK: Advertising

    /// Advertises these services; by default its primary services are advertised.
    public func advertising(_ services: [BluetoothUUID]) -> TestDevice { changed { $0.advertised = services } }

    /// Advertises this manufacturer data.
    public func manufacturerData(company: UInt16, _ data: [UInt8]) -> TestDevice {
        changed { $0.manufacturerData = (company, data) }
    }

    /// Advertises this service data.
    public func serviceData(_ service: BluetoothUUID, _ data: [UInt8]) -> TestDevice {
        changed { $0.serviceData = (service, data) }
    }

    /// Sets the advertising interval, at least 20 ms; 100 ms by default.
    public func advertising(every interval: Duration) -> TestDevice { changed { $0.interval = interval } }

    /// Accepts no connections: a beacon.
    public func notConnectable() -> TestDevice { changed { $0.isConnectable = false } }

    /// Does not advertise until `TestPeer.setAdvertising(_:)`.
    public func silent() -> TestDevice { changed { $0.startsAdvertising = false } }

    // MARK: The radio

    /// Sets the strength at which the device is received, in dBm; −55 by default.
    public func signal(_ rssi: Int8) -> TestDevice { changed { $0.rssi = rssi } }

    /// Is out of range until `TestPeer.comeIntoRange()`.
    public func outOfRange() -> TestDevice { changed { $0.startsInRange = false } }

    // MARK: Behaviour on a link

    /// Sets the longest ATT_MTU that the device accepts, 23 to 517 octets; 517 by default.
    public func maximumMTU(_ octets: Int) -> TestDevice { changed { $0.mtu = octets } }

    /// Delays each response.
    public func responding(after delay: Duration) -> TestDevice {
        changed { $0.link.responseDelayMicroseconds = delay.wholeMicroseconds }
    }

    /// Disconnects instead of answering a request.
    /// - Parameter number: which request of a link, from 1. Discovery and the exchange of the MTU consist of requests.
    public func disconnecting(atRequest number: Int) -> TestDevice { changed { $0.link.disconnectsAtRequest = number } }

    /// Changes anything else of the behaviour on a link: features, PHYs, connection parameters, keys.
    public func link(_ change: (inout SimulatedLinkBehaviour) -> Void) -> TestDevice { changed { change(&$0.link) } }

    // MARK: Building

    /// What the device advertises.
    var advertisement: SimulatedAdvertisement {
        SimulatedAdvertisement(
            name: name, serviceUUIDs: advertised ?? services.filter(\.isPrimary).map(\.uuid),
            manufacturerData: manufacturerData, serviceData: serviceData,
            intervalMicroseconds: interval.wholeMicroseconds, isConnectable: isConnectable)
    }

    func simulated(_ address: DeviceAddress) -> SimulatedPeripheral {
        SimulatedPeripheral(
            name: name, address: address, services: services.map(\.simulated), advertisement: advertisement, rssi: rssi,
            maximumMTU: mtu, link: link)
    }
}

extension TestDevice: CustomStringConvertible {
    public var description: String { "test device “\(name)”" }
}

extension Duration {
    /// Whole microseconds, not negative.
    var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let longest: Int64 = 1 << 42
        return max(0, min(seconds, longest) * 1_000_000 + attoseconds / 1_000_000_000_000)
    }
}
