import BLEPackets

/// Which devices a scan is for. Every packet is compared with every scan, and a scan may name hundreds of services:
/// what follows only from its request is computed once.
struct ScanFilter {
    private let request: ScanRequest
    private let services: UUIDIndex
    private let solicitedServices: UUIDIndex
    /// The services, hashed as a device hashes its own.
    private let overflow: OverflowArea

    init(_ request: ScanRequest) {
        self.request = request
        services = UUIDIndex(request.serviceUUIDs)
        solicitedServices = UUIDIndex(request.solicitedServiceUUIDs ?? [])
        overflow = OverflowArea(hashing: request.serviceUUIDs)
    }

    /// Whether the device matches the request. Malformed advertising data count up to the error.
    func matches(_ device: DeviceTable.Device) -> Bool {
        if let address = request.address, device.address?.withoutIdentityMark != address.withoutIdentityMark {
            return false
        }
        if !request.acceptList.isEmpty {
            guard let shown = device.address?.withoutIdentityMark else { return false }
            guard request.acceptList.contains(where: { $0.withoutIdentityMark == shown }) else { return false }
        }
        let namesServices = !services.isEmpty || !solicitedServices.isEmpty
        guard namesServices || request.name != nil else { return true }
        var found = Found()
        collect(device.advertisement.span.bytes, in: &found)
        collect(device.scanResponse.span.bytes, in: &found)
        return (!namesServices || found.hasService) && (request.name == nil || found.hasName)
    }

    /// Whether both match the same devices.
    func selects(like other: ScanFilter) -> Bool {
        // The hashes differ for most lists that differ.
        overflow == other.overflow && request.serviceUUIDs == other.request.serviceUUIDs
            && request.solicitedServiceUUIDs == other.request.solicitedServiceUUIDs && hasName(of: other.request)
            && request.address == other.request.address && request.acceptList == other.request.acceptList
    }

    /// Whether both ask for the same name: by its octets, as `matches` compares. Strings are also equal if Unicode says
    /// the same with other octets, and comparing them so takes 35 kB of tables and code in Embedded Swift.
    private func hasName(of other: ScanRequest) -> Bool {
        guard let name = request.name, let text = other.name else { return request.name == nil && other.name == nil }
        return isEqual(name.utf8.span.bytes, text)
    }

    private struct Found {
        var hasService = false
        var hasName = false
    }

    private func collect(_ data: RawSpan, in found: inout Found) {
        var reader = AdvertisingDataReader(data)
        do throws(DecodingError) {
            while let structure = try reader.next() {
                // A structure with malformed content is skipped; the others still count.
                if let element = try? structure.element() { collect(element, in: &found) }
                if structure.type == .manufacturerSpecificData, !found.hasService, !overflow.isEmpty,
                    let area = OverflowArea(manufacturerSpecificData: structure.data)
                {
                    // A match in the overflow area is probable, never certain (SPEC 3.6).
                    found.hasService = overflow.intersects(area)
                }
            }
        } catch {}
    }

    private func collect(_ element: borrowing AdvertisingDataElement, in found: inout Found) {
        switch element {
        case .localName(let text, _):
            if let name = request.name, isEqual(text, name) { found.hasName = true }
        case .serviceUUIDs(let list, _):
            guard !services.isEmpty else { return }
            var list = list
            while !found.hasService, let uuid = try? list.next() {
                if services.contains(uuid) { found.hasService = true }
            }
        case .solicitedServiceUUIDs(let list):
            guard !solicitedServices.isEmpty else { return }
            var list = list
            while !found.hasService, let uuid = try? list.next() {
                if solicitedServices.contains(uuid) { found.hasService = true }
            }
        case .flags, .txPowerLevel, .appearance, .manufacturerData, .serviceData, .peripheralConnectionIntervalRange,
            .targetAddresses, .deviceAddress, .role, .advertisingInterval, .uri, .leSupportedFeatures, .broadcastName,
            .other:
            break
        }
    }

    /// Whether a name is this one; some devices fill a fixed field with zeros or spaces.
    private func isEqual(_ bytes: RawSpan, _ text: String) -> Bool {
        // By span: in Embedded Swift, iterating over a string brings tables of UTF-16.
        let octets = text.utf8.span
        guard octets.count <= bytes.byteCount else { return false }
        for index in octets.indices where bytes.byte(at: index) != octets[index] { return false }
        for index in octets.count..<bytes.byteCount where bytes.byte(at: index) != 0 && bytes.byte(at: index) != 0x20 {
            return false
        }
        return true
    }
}
