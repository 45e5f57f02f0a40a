import BLEPackets

/// BTHome version 2 (bthome.io): measurements in service data, plain or encrypted.
public struct BTHomeFrame: Hashable, Sendable {
    /// The octets of a key.
    public static let keyByteCount = 16
    /// Octets that the encryption adds: the counter and the authentication code.
    public static let sealByteCount = 8

    /// The measurements, ordered by their numbers as the format demands.
    public let measurements: [BTHomeMeasurement]

    public init(_ measurements: [BTHomeMeasurement]) {
        // The order of those with the same number is kept: receivers count them.
        self.measurements = measurements.enumerated().sorted {
            ($0.element.number, $0.offset) < ($1.element.number, $1.offset)
        }.map(\.element)
    }

    private static let version: UInt8 = 0x40
    private static let isEncrypted: UInt8 = 0x01
    /// The device sends when something happens, not at regular times.
    private static let isTriggered: UInt8 = 0x04

    private var information: UInt8 {
        Self.version | (measurements.contains { $0.isEvent } ? Self.isTriggered : 0)
    }

    private var objects: [UInt8] { measurements.flatMap { [$0.number] + $0.octets } }

    /// Service data that everybody can read.
    public var data: BeaconData { BeaconData(.service(0xFCD2), [information] + objects) }

    /// Service data that only those with the key can read.
    ///
    /// - Parameters:
    ///   - key: 16 octets.
    ///   - address: with which the device advertises: receivers need it, too.
    ///   - counter: must be greater than in all earlier packets with this key and address. With a counter that was used
    ///     before, the key protects neither of the two packets.
    ///   - encrypt: encrypts one block with AES-128.
    /// - Returns: `nil` if the key has a wrong length, the cipher fails, or there are more than 255 octets.
    public func sealed(
        key: [UInt8], address: DeviceAddress, counter: UInt32, encrypt: @escaping SensorKeys.Encrypt
    ) -> BeaconData? {
        let information = information | Self.isEncrypted
        let count = (0..<4).map { UInt8(truncatingIfNeeded: counter >> (8 * UInt32($0))) }
        let nonce: [UInt8] = Array(address.octets.reversed()) + [0xD2, 0xFC, information] + count
        let cipher = SensorKeys(encrypt: encrypt)
        guard let sealed = cipher.seal(objects, key: key, nonce: nonce, codeByteCount: 4) else { return nil }
        return BeaconData(.service(0xFCD2), [information] + sealed.ciphertext + count + sealed.code)
    }
}
