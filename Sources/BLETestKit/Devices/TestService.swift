import BLE
import BLESimulator

/// A service of a simulated device.
public struct TestService: Sendable {
    /// The type of the service.
    public let uuid: BluetoothUUID
    private(set) var isPrimary = true
    private var includedServices: [BluetoothUUID] = []
    private var characteristics: [TestCharacteristic]

    /// - Parameter characteristics: in the order of their handles.
    public init(
        _ uuid: BluetoothUUID, @TestCharacteristicBuilder characteristics: () -> [TestCharacteristic] = { [] }
    ) {
        self.uuid = uuid
        self.characteristics = characteristics()
    }

    /// Makes the service secondary: it has a meaning only inside services that include it, and is not advertised.
    public func secondary() -> TestService {
        var copy = self
        copy.isPrimary = false
        return copy
    }

    /// Includes other services of the same device.
    public func including(_ services: [BluetoothUUID]) -> TestService {
        var copy = self
        copy.includedServices = services
        return copy
    }

    var simulated: SimulatedService {
        SimulatedService(
            uuid, isPrimary: isPrimary, includedServices: includedServices,
            characteristics: characteristics.map(\.simulated))
    }
}

extension TestService: CustomStringConvertible {
    public var description: String { "test service \(uuid)" }
}

/// Collects the services of a device.
@resultBuilder
public enum TestServiceBuilder {
    public static func buildExpression(_ service: TestService) -> [TestService] { [service] }
    public static func buildBlock(_ services: [TestService]...) -> [TestService] { services.flatMap(\.self) }
    public static func buildOptional(_ services: [TestService]?) -> [TestService] { services ?? [] }
    public static func buildEither(first services: [TestService]) -> [TestService] { services }
    public static func buildEither(second services: [TestService]) -> [TestService] { services }
    public static func buildArray(_ services: [[TestService]]) -> [TestService] { services.flatMap(\.self) }
}

/// Collects the characteristics of a service.
@resultBuilder
public enum TestCharacteristicBuilder {
    public static func buildExpression(_ characteristic: TestCharacteristic) -> [TestCharacteristic] {
        [characteristic]
    }
    public static func buildBlock(_ parts: [TestCharacteristic]...) -> [TestCharacteristic] { parts.flatMap(\.self) }
    public static func buildOptional(_ part: [TestCharacteristic]?) -> [TestCharacteristic] { part ?? [] }
    public static func buildEither(first part: [TestCharacteristic]) -> [TestCharacteristic] { part }
    public static func buildEither(second part: [TestCharacteristic]) -> [TestCharacteristic] { part }
    public static func buildArray(_ parts: [[TestCharacteristic]]) -> [TestCharacteristic] { parts.flatMap(\.self) }
}
