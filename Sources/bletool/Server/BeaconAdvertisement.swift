import BLE
import BLESensors

/// The data of beacons, packed into an advertisement with the name and the services of the device.
///
/// The data are in the advertisement, which every scanner receives. The name and the services are beside them if they have
/// room there, otherwise in the scan response.
struct BeaconAdvertisement {
    let packed: PackedAdvertisement

    /// - Parameters:
    ///   - name: the name of the device; `nil` or empty for none.
    ///   - services: what the device offers.
    ///   - beacons: each with the option that asked for it.
    ///   - isExtended: whether extended PDUs are sent, which have room for all.
    /// - Throws: `Failure` when it does not fit, with what to do.
    init(
        name: String?, services: [BluetoothUUID], beacons: [(option: String, data: BeaconData)], isExtended: Bool
    ) throws {
        let name = name.flatMap { $0.isEmpty ? nil : $0 }
        let listed = beacons.compactMap(\.data.listedService)
        let capacity =
            isExtended ? AdvertisingDataWriter.extendedCapacity : AdvertisingDataWriter.legacyCapacity
        let data = beacons.map(\.data)
        func octets(_ services: [BluetoothUUID], _ name: String?, capacity: Int) -> [UInt8]? {
            Self.octets(listed + services.filter { !listed.contains($0) }, data, name, capacity: capacity)
        }
        // What stays in the advertisement of the services and the name.
        for (keepsServices, keepsName) in [(true, true), (true, false), (false, true), (false, false)] {
            let rest = Self.response(keepsServices ? [] : services, keepsName ? nil : name)
            guard let response = rest, response.isEmpty || !isExtended,
                let advertisement = octets(
                    keepsServices ? services : [], keepsName ? name : nil, capacity: capacity)
            else { continue }
            // The packer makes the name, which is then put where it has room.
            var packed = AdvertisingPacker.pack(AdvertisingContribution(localName: name, serviceUUIDs: []))
            packed.advertisement = advertisement
            packed.scanResponse = response
            packed.visible = listed + services.filter { !listed.contains($0) }
            if let name {
                packed.name?.value = name
                packed.name?.placement = keepsName ? .advertisement : .scanResponse
                packed.name?.isTruncated = false
            }
            self.packed = packed
            return
        }
        let options = beacons.map(\.option)
        let all = options.count == 1 ? options[0] : options.joined(separator: " and ")
        let largest = AdvertisingDataWriter.extendedCapacity
        guard octets([], nil, capacity: capacity) != nil else {
            let needed = octets([], nil, capacity: largest)?.count
            let need = needed.map { "\($0) octets with the flags" } ?? "more than \(largest) octets"
            let remedy =
                isExtended || needed == nil
                ? "leave some out" : "leave some out, or add --extended, which not every scanner receives"
            throw Failure(
                "\(all) \(options.count == 1 ? "needs" : "need") \(need), and an advertisement has \(capacity): \(remedy)",
                status: .usage)
        }
        let room = capacity - (octets([], nil, capacity: capacity)?.count ?? 0)
        throw Failure(
            "beside \(all) the advertisement has \(room == 1 ? "1 octet" : "\(room) octets") left, and the scan response "
                + "\(AdvertisingDataWriter.legacyCapacity): the name and the services do not fit; shorten the name, leave some "
                + "out, or add --extended, which not every scanner receives", status: .usage)
    }

    /// - Returns: `nil` if it does not fit.
    private static func octets(
        _ services: [BluetoothUUID], _ beacons: [BeaconData], _ name: String?, capacity: Int
    ) -> [UInt8]? {
        var writer = AdvertisingDataWriter(capacity: capacity)
        do throws(AdvertisingDataWriter.DoesNotFit) {
            try writer.append([.leGeneralDiscoverable, .brEdrNotSupported] as AdvertisingFlags)
            if !services.isEmpty { try writer.append(serviceUUIDs: services, areComplete: true) }
            for beacon in beacons { try beacon.append(to: &writer) }
            if let name { try writer.append(localName: name) }
        } catch { return nil }
        return writer.bytes
    }

    private static func response(_ services: [BluetoothUUID], _ name: String?) -> [UInt8]? {
        var writer = AdvertisingDataWriter()
        do throws(AdvertisingDataWriter.DoesNotFit) {
            if !services.isEmpty { try writer.append(serviceUUIDs: services, areComplete: true) }
            if let name { try writer.append(localName: name) }
        } catch { return nil }
        return writer.bytes
    }
}
