import BLEAppLifecycle
import BLEHost
import SwiftProtobuf

/// Encodes discoveries for apps. The apps that get the same report get the same octets, except for their own identifier
/// of the device: the frame is encoded once, and each app's identifier is put into it.
public struct DiscoveryEncoder {
    /// What the frame is about, apart from the identifier.
    private var manager = ManagerID(rawValue: 0)
    private var name: String?
    private var state = PeripheralState.disconnected
    private var content: AdvertisementContent?
    private var rssi: Int8 = 0
    /// All of `AppDiscovered` but the peripheral.
    private var common: [UInt8] = []
    private var frame: [UInt8] = []
    /// Where the identifier stands in the frame.
    private var identifierPlace = 0

    public init() {}

    /// Appends the frame of `FromDaemon` with the discovery; the same message as `WireAppEvent` gives.
    public mutating func append(
        _ peripheral: PeripheralDescription, _ content: AdvertisementContent, rssi: Int8, to manager: ManagerID,
        into octets: inout [UInt8]
    ) {
        append(
            peripheral.identifier, peripheral.name, peripheral.state, content, rssi: rssi, to: manager, into: &octets)
    }

    /// Appends the frame of `FromDaemon` for one of those who get the discovery.
    public mutating func append(
        _ shared: SharedDiscovery, to recipient: SharedDiscovery.Recipient, into octets: inout [UInt8]
    ) {
        append(
            recipient.identifier, shared.name, recipient.state, shared.content, rssi: shared.rssi,
            to: recipient.manager, into: &octets)
    }

    private mutating func append(
        _ identifier: PeerIdentifier, _ name: String?, _ state: PeripheralState, _ content: AdvertisementContent,
        rssi: Int8, to manager: ManagerID, into octets: inout [UInt8]
    ) {
        let isReported = self.rssi == rssi && self.content == content
        if !isReported {
            // A message without required fields and with valid strings can always be encoded.
            common = (try? WireAppDiscovered(content, rssi: rssi).serializedBytes()) ?? []
            self.content = content
            self.rssi = rssi
        }
        if !isReported || self.manager != manager || self.state != state || self.name != name {
            self.manager = manager
            self.name = name
            self.state = state
            encode()
        }
        let place = octets.count + identifierPlace
        octets += frame
        unsafe octets.withUnsafeMutableBytes { octets in
            unsafe octets.storeBytes(of: identifier.high.bigEndian, toByteOffset: place, as: UInt64.self)
            unsafe octets.storeBytes(of: identifier.low.bigEndian, toByteOffset: place + 8, as: UInt64.self)
        }
    }

    /// Encodes the frame, with zeros for the identifier.
    private mutating func encode() {
        let name = name.map { Array($0.utf8) }
        let state = UInt64(state.rawValue)
        var peripheralCount = Self.identifierCount
        if let name { peripheralCount += Self.count(name.count) + name.count }
        if state > 0 { peripheralCount += Self.count(state) }
        let discoveredCount = Self.count(peripheralCount) + peripheralCount + common.count
        let number = UInt64(manager.rawValue)
        let eventCount = (number > 0 ? Self.count(number) : 0) + Self.count(discoveredCount) + discoveredCount
        // The key of `app_event` takes two octets.
        let count = 1 + Self.count(eventCount) + eventCount

        frame.removeAll(keepingCapacity: true)
        FrameReader.appendHeader(of: count, to: &frame)
        Varint.append(Field.appEvent << 3 | Self.lengthDelimited, to: &frame)
        Varint.append(UInt64(eventCount), to: &frame)
        if number > 0 {
            frame.append(UInt8(Field.manager << 3))
            Varint.append(number, to: &frame)
        }
        Varint.append(Field.discovered << 3 | Self.lengthDelimited, to: &frame)
        Varint.append(UInt64(discoveredCount), to: &frame)
        Varint.append(Field.peripheral << 3 | Self.lengthDelimited, to: &frame)
        Varint.append(UInt64(peripheralCount), to: &frame)
        Varint.append(Field.peer << 3 | Self.lengthDelimited, to: &frame)
        frame.append(16)
        identifierPlace = frame.count
        frame.append(contentsOf: repeatElement(0, count: 16))
        if let name {
            Varint.append(Field.name << 3 | Self.lengthDelimited, to: &frame)
            Varint.append(UInt64(name.count), to: &frame)
            frame += name
        }
        if state > 0 {
            Varint.append(Field.state << 3, to: &frame)
            Varint.append(state, to: &frame)
        }
        frame += common
    }

    /// The numbers of fields in `Protocol/bled.proto`.
    private enum Field {
        static let appEvent: UInt64 = 17
        static let manager: UInt64 = 1
        static let discovered: UInt64 = 7
        static let peripheral: UInt64 = 1
        static let peer: UInt64 = 1
        static let name: UInt64 = 2
        static let state: UInt64 = 3
    }

    private static let lengthDelimited: UInt64 = 2
    /// Key, length and the octets of an identifier.
    private static let identifierCount = 2 + 16

    /// The octets of a key below 16 and this number.
    private static func count(_ number: UInt64) -> Int { 1 + Varint.count(number) }

    private static func count(_ number: Int) -> Int { count(UInt64(number)) }
}
