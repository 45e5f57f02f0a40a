import BLEPackets

/// The values that clients can have broadcast in advertisements, by a descriptor that all clients share (Core 5.4, Vol
/// 3, Part G, 2.7 and 3.3.3.4).
///
/// The bits are the server's own, not those of a client or a bond: what 3.3.3.3 says of the client's configuration,
/// that it outlives connections of bonded devices, 3.3.3.4 does not say of the server's. So a bit stays as long as its
/// service is published, over all connections, and a service that is published again begins with the default, which
/// broadcasts nothing.
struct BroadcastTable {
    private struct Entry {
        let service: BluetoothUUID
        let value: AttributeHandle
        let configuration: AttributeHandle
        /// `nil` until the app gives a value.
        var octets: [UInt8]?
        var isOn = false
    }

    /// In ascending order of their handles.
    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    /// A service was published.
    mutating func add(_ published: GATTPublishedService, _ service: GATTServiceDefinition, in database: GATTDatabase) {
        guard service.characteristics.contains(where: { $0.properties.contains(.broadcast) }) else { return }
        let configurations = database.table.handles(of: .serverCharacteristicConfiguration, in: published.range)
        for (definition, place) in zip(service.characteristics, published.characteristics) {
            guard definition.properties.contains(.broadcast),
                let configuration = configurations.first(where: { $0 > place.valueHandle })
            else { continue }
            entries.append(
                Entry(
                    service: published.uuid, value: place.valueHandle, configuration: configuration,
                    octets: definition.value))
        }
        entries.sort { $0.value < $1.value }
    }

    /// Services were removed.
    /// - Returns: whether what is broadcast may have changed.
    mutating func remove(_ range: AttributeHandleRange) -> Bool {
        guard entries.contains(where: { range.contains($0.value) }) else { return false }
        entries.removeAll { range.contains($0.value) }
        return true
    }

    /// The value of a Server Characteristic Configuration.
    func configuration(at handle: AttributeHandle) -> [UInt8] {
        [entries.contains { $0.configuration == handle && $0.isOn } ? 1 : 0, 0]
    }

    /// A client wrote a Server Characteristic Configuration.
    /// - Returns: whether what is broadcast may have changed.
    mutating func configure(_ handle: AttributeHandle, isOn: Bool) -> Bool {
        guard let index = entries.firstIndex(where: { $0.configuration == handle }), entries[index].isOn != isOn
        else { return false }
        entries[index].isOn = isOn
        return true
    }

    /// The app gave a new value.
    /// - Returns: whether what is broadcast may have changed.
    mutating func update(_ octets: [UInt8], of handle: AttributeHandle) -> Bool {
        guard let index = entries.firstIndex(where: { $0.value == handle }), entries[index].octets != octets
        else { return false }
        entries[index].octets = octets
        return entries[index].isOn
    }

    /// A Service Data structure for each service with a value to broadcast, in the order of their handles; several
    /// values of a service are in the order of their handles (Supplement, Part A, 1.11).
    var serviceData: [[UInt8]] {
        var structures: [[UInt8]] = []
        var open: BluetoothUUID?
        var data: [UInt8] = []
        for entry in entries where entry.isOn {
            guard let octets = entry.octets else { continue }
            if let service = open, service != entry.service {
                append(data, of: service, to: &structures)
                data = []
            }
            open = entry.service
            data += octets
        }
        if let open { append(data, of: open, to: &structures) }
        return structures
    }

    /// A value that fits into no advertisement is left out.
    private func append(_ data: [UInt8], of service: BluetoothUUID, to structures: inout [[UInt8]]) {
        var writer = AdvertisingDataWriter()
        guard (try? writer.append(serviceData: data, uuid: service)) != nil else { return }
        structures.append(writer.bytes)
    }
}
