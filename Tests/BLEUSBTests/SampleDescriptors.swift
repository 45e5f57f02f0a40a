@testable import BLEUSB

/// Descriptors as dongles have them, made from parts.
enum SampleDescriptors {
    static let bluetooth: [UInt8] = [0xE0, 0x01, 0x01]
    static let vendor: [UInt8] = [0xFF, 0x01, 0x01]
    static let composite: [UInt8] = [0xEF, 0x02, 0x01]

    static func device(_ kind: [UInt8], vendor: UInt16 = 0x0A12, product: UInt16 = 0x0001) -> [UInt8] {
        [
            18, 1, 0x00, 0x02, kind[0], kind[1], kind[2], 64, UInt8(vendor & 0xFF), UInt8(vendor >> 8),
            UInt8(product & 0xFF), UInt8(product >> 8), 0x34, 0x01, 0, 0, 0, 1,
        ]
    }

    static func configuration(_ value: UInt8 = 1) -> [UInt8] { [9, 2, 0, 0, 2, value, 0, 0x80, 50] }

    static func interface(_ number: UInt8, _ setting: UInt8 = 0, _ kind: [UInt8] = bluetooth) -> [UInt8] {
        [9, 4, number, setting, 0, kind[0], kind[1], kind[2], 0]
    }

    static func endpoint(_ address: UInt8, _ attributes: UInt8, _ size: UInt16) -> [UInt8] {
        [7, 5, address, attributes, UInt8(size & 0xFF), UInt8(size >> 8), 1]
    }

    /// Events, data in, data out.
    static func endpoints(_ events: UInt8 = 0x81, _ dataIn: UInt8 = 0x82, _ dataOut: UInt8 = 0x02) -> [UInt8] {
        endpoint(events, 3, 16) + endpoint(dataIn, 2, 64) + endpoint(dataOut, 2, 64)
    }

    static let voice =
        interface(1) + endpoint(0x83, 1, 0) + endpoint(0x03, 1, 0) + interface(1, 1) + endpoint(0x83, 1, 9)
        + endpoint(0x03, 1, 9)

    static let dongle = device(bluetooth) + configuration() + interface(0) + endpoints() + voice

    static func function(
        _ octets: [UInt8], active: UInt8 = 1, isNamed: Bool = false
    ) throws -> BluetoothFunction? {
        BluetoothFunction(try USBDescriptors(octets), activeConfiguration: active, isNamed: isNamed)
    }
}

/// Numbers that are the same in every run.
struct Chance {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func number(below limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(limit))
    }

    mutating func octets(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(number(below: 256)) } }
}
