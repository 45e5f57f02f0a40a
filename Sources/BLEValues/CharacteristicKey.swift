import BLE
import BLESensors

/// A characteristic and the meaning of its octets.
///
///     let level = try await sensor.read(.batteryLevel)          // 87
///     let rate = try await sensor.read(.heartRateMeasurement)   // rate.beatsPerMinute
///
/// Give your own characteristics keys in the same way:
///
///     extension CharacteristicKey where Value == Bool {
///         static var lampIsOn: Self { CharacteristicKey("FFE1") { $0.first == 1 } }
///     }
public struct CharacteristicKey<Value: Sendable>: Sendable {
    /// The type of the characteristic.
    public let uuid: BluetoothUUID
    private let reading: @Sendable ([UInt8]) throws -> Value

    /// - Parameter decode: throws for octets that are not a value of this characteristic.
    public init(_ uuid: BluetoothUUID, decode: @escaping @Sendable ([UInt8]) throws -> Value) {
        self.uuid = uuid
        reading = decode
    }

    /// Reads the octets of a value.
    /// - Throws: `BLEError.malformedValue` if they are not a value of this characteristic, `BLEError.unknownValue` if
    ///   the device reports that it does not know the value.
    public func decode(_ octets: [UInt8]) throws(BLEError) -> Value {
        do {
            return try reading(octets)
        } catch {
            throw error as? BLEError ?? .malformedValue(uuid, octets)
        }
    }
}

extension CharacteristicKey: CustomStringConvertible {
    public var description: String { "characteristic \(uuid) as \(Value.self)" }
}

// MARK: - Assigned characteristics

extension CharacteristicKey where Value == [SensorField] {
    /// Any assigned characteristic, as fields with names, values and units.
    /// - Returns: `nil` if the GATT Specification Supplement has no format for it.
    public static func assigned(_ uuid: BluetoothUUID) -> Self? {
        guard let format = CharacteristicFormat(of: uuid) else { return nil }
        return CharacteristicKey(uuid) { try format.decode($0.span.bytes) }
    }

    /// The fields of an assigned characteristic that has a format.
    static func fields(of uuid: BluetoothUUID, _ octets: [UInt8]) throws(BLEError) -> [SensorField] {
        guard let key = assigned(uuid) else { throw .malformedValue(uuid, octets) }
        return try key.decode(octets)
    }
}

extension CharacteristicKey where Value == Int {
    /// The charge of the battery in percent, 0 to 100.
    public static var batteryLevel: Self {
        CharacteristicKey(.batteryLevel) { Int(try number(of: .batteryLevel, $0)) }
    }
}

extension CharacteristicKey where Value == Double {
    /// The temperature in degrees Celsius.
    public static var temperature: Self { CharacteristicKey(.temperature) { try number(of: .temperature, $0) } }
    /// The relative humidity in percent.
    public static var humidity: Self { CharacteristicKey(.humidity) { try number(of: .humidity, $0) } }
    /// The pressure of the air in pascals.
    public static var pressure: Self { CharacteristicKey(.pressure) { try number(of: .pressure, $0) } }
}

extension CharacteristicKey where Value == String {
    /// The device name in Generic Access.
    public static var deviceName: Self { text(.deviceName) }
    /// The manufacturer of the device.
    public static var manufacturerName: Self { text(.manufacturerNameString) }
    /// The model.
    public static var modelNumber: Self { text(.modelNumberString) }
    /// The serial number of the device.
    public static var serialNumber: Self { text(.serialNumberString) }
    /// The version of the firmware.
    public static var firmwareRevision: Self { text(.firmwareRevisionString) }
    /// The version of the hardware.
    public static var hardwareRevision: Self { text(.hardwareRevisionString) }
    /// The version of the software.
    public static var softwareRevision: Self { text(.softwareRevisionString) }

    /// UTF-8; invalid octets are replaced. Zeros at the end are left out, because many devices pad with them.
    private static func text(_ uuid: BluetoothUUID) -> Self {
        CharacteristicKey(uuid) { octets in
            String(decoding: octets[..<(octets.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0)], as: UTF8.self)
        }
    }
}

extension CharacteristicKey where Value == HeartRateMeasurement {
    /// A heart rate sensor notifies it.
    public static var heartRateMeasurement: Self {
        CharacteristicKey(.heartRateMeasurement) { octets in
            try HeartRateMeasurement(CharacteristicKey<[SensorField]>.fields(of: .heartRateMeasurement, octets), octets)
        }
    }
}

/// The only number of a characteristic.
private func number(of uuid: BluetoothUUID, _ octets: [UInt8]) throws(BLEError) -> Double {
    switch try CharacteristicKey<[SensorField]>.fields(of: uuid, octets).first?.value {
    case .number(let number): return number.double
    case .unknown, .invalid: throw .unknownValue(uuid)
    default: throw .malformedValue(uuid, octets)
    }
}
