import BLEGateway
import BLEHost
import BLEPackets
import BLESecurity
import Testing

/// A gateway with a clock of its own, and what it said.
struct Bench {
    var gateway: Gateway
    var now = Instant.zero
    /// How far the wall clock is from the right time, in seconds.
    var clockError: Int64 = 0
    /// 2026-11-22T09:24:09.123Z
    static let start: Int64 = 1_795_339_449_123_000

    init(_ configuration: GatewayConfiguration = GatewayConfiguration(name: "g")) {
        gateway = Gateway(configuration: configuration) { key, block in
            guard case .octets(let octets) = SwiftCryptoProvider().answer(.encrypt(key: key, block: block)) else {
                return nil
            }
            return octets
        }
        gateway.setAdapters(["hci0", "hci1"])
    }

    /// The wall clock, in microseconds since 1970.
    var unix: Int64 { Self.start + now.microseconds + clockError * 1_000_000 }

    /// - Parameter data: advertising data in hexadecimal.
    @discardableResult
    mutating func receive(
        _ address: String, _ data: String, rssi: Int8 = -60, adapter: Int = 0
    ) throws -> [GatewayMessage] {
        let address = try #require(DeviceAddress(address))
        gateway.receive(
            Sighting(
                adapter: adapter, address: address, rssi: rssi, isConnectable: true,
                advertisement: octets(data)),
            at: now, unix: unix)
        return gateway.drainMessages()
    }

    /// Lets time pass, and the gateway work whenever it asks for it.
    mutating func wait(_ seconds: Double) -> [GatewayMessage] {
        let end = now.advanced(by: .microseconds(Int64(seconds * 1e6)))
        while let next = gateway.nextDeadline, next <= end {
            now = max(now, next)
            gateway.advance(to: now)
        }
        now = end
        return gateway.drainMessages()
    }

    func octets(_ text: String) -> [UInt8] {
        stride(from: 0, to: text.utf8.count, by: 2).compactMap {
            UInt8(text.dropFirst($0).prefix(2), radix: 16)
        }
    }

    /// Advertising data of BTHome v2 with a temperature in hundredths of a degree.
    static func temperature(_ hundredths: Int16, packet: UInt8? = nil) -> String {
        let counter: [UInt8] = packet.map { [0x00, $0] } ?? []
        let octets: [UInt8] =
            [0xD2, 0xFC, 0x40] + counter
            + [0x02, UInt8(truncatingIfNeeded: hundredths), UInt8(truncatingIfNeeded: hundredths >> 8)]
        return hex([UInt8(octets.count + 1), 0x16] + octets)
    }

    static func hex(_ octets: [UInt8]) -> String {
        octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension GatewayMessage {
    var text: String { String(decoding: payload, as: UTF8.self) }
}
