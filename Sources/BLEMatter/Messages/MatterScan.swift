import BLEGateway
import BLEJSON
import BLEPackets

/// What a server wants to hear, and what it has heard.
struct MatterScan: Equatable {
    /// What two packets of a device have in common if the second is no news.
    private struct Content: Hashable {
        let name: String?
        let isConnectable: Bool
        let services: [BluetoothUUID]
        let serviceData: [AdvertisingData.ServiceData]
    }

    /// Services of which a device has to advertise one, or data of it; empty: all devices.
    private let services: [BluetoothUUID]
    private let allowsDuplicates: Bool
    private var reported: [UInt64: Content] = [:]

    private static let serviceLimit = 32
    /// The maximum number of devices whose content is known: whoever advertises from ever new addresses gets no more
    /// memory, but devices are reported twice.
    private static let reportedLimit = 1024

    init(_ arguments: MatterArguments) throws(MatterFailure) {
        services = try arguments.uuids("service_uuids", limit: Self.serviceLimit)
        allowsDuplicates = try arguments.boolean("allow_duplicates") ?? true
    }

    /// Whether the device is one of those that are wanted.
    func matches(_ packet: MatterAdvertisement) -> Bool {
        services.isEmpty || services.contains { packet.data.offers($0) }
    }

    /// Whether the packet says something that the server does not know.
    mutating func isNews(_ packet: MatterAdvertisement) -> Bool {
        guard !allowsDuplicates else { return true }
        let data = packet.data
        let content = Content(
            name: data.localName, isConnectable: packet.isConnectable, services: data.serviceUUIDs,
            serviceData: data.serviceData)
        let address = packet.address.value
        guard reported[address] != content else { return false }
        if reported[address] == nil, reported.count >= Self.reportedLimit { reported.removeAll(keepingCapacity: true) }
        reported[address] = content
        return true
    }
}

/// A packet of a device.
public struct MatterAdvertisement: Sendable {
    public var address: DeviceAddress
    /// In dBm; 127 if it is unknown.
    public var rssi: Int8
    public var isConnectable: Bool
    public var data: AdvertisingData

    public init(address: DeviceAddress, rssi: Int8, isConnectable: Bool, data: AdvertisingData) {
        self.address = address
        self.rssi = rssi
        self.isConnectable = isConnectable
        self.data = data
    }

    /// Whether it is a device that wants to be commissioned, or can be.
    var isOfMatter: Bool { data.offers(MatterAdvertisement.service) }

    /// Matter's service.
    static let service = BluetoothUUID(0xFFF6 as UInt16)

    /// The data of `device_discovered`.
    var report: JSONValue {
        var report: JSONValue = ["address": .string(address.addressText)]
        if let name = data.localNameWithoutPadding { report = report.adding("name", .string(name)) }
        if rssi != 127 { report = report.adding("rssi", .integer(Int(rssi))) }
        report = report.adding("connectable", .boolean(isConnectable))
        if !data.serviceData.isEmpty {
            report = report.adding(
                "service_data", Self.object(data.serviceData.map { ($0.uuid.matterText, $0.data) }))
        }
        if !data.manufacturerData.isEmpty {
            report = report.adding(
                "manufacturer_data", Self.object(data.manufacturerData.map { (String($0.company), $0.data) }))
        }
        guard !data.serviceUUIDs.isEmpty else { return report }
        return report.adding("service_uuids", JSONValue(data.serviceUUIDs.map(\.matterText)))
    }

    /// Each key once, with its first value.
    private static func object(_ entries: [(key: String, value: [UInt8])]) -> JSONValue {
        var members: [JSONValue.Member] = []
        for entry in entries where !members.contains(where: { $0.key == entry.key }) {
            members.append(JSONValue.Member(key: entry.key, value: .string(Base64.text(of: entry.value))))
        }
        return .object(members)
    }
}

extension AdvertisingData {
    /// Whether a service is among those that the device lists, or has data.
    fileprivate func offers(_ service: BluetoothUUID) -> Bool {
        serviceUUIDs.contains(service) || serviceData.contains { $0.uuid == service }
    }
}
