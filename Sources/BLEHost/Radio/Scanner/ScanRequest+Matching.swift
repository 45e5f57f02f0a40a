import BLEPackets

extension ScanRequest {
    /// Whether the device matches the request. Malformed advertising data count up to the error.
    func matches(_ device: DeviceTable.Device) -> Bool {
        if let address, device.address?.withoutIdentityMark != address.withoutIdentityMark { return false }
        if !acceptList.isEmpty {
            guard let shown = device.address?.withoutIdentityMark else { return false }
            guard acceptList.contains(where: { $0.withoutIdentityMark == shown }) else { return false }
        }
        let solicited = solicitedServiceUUIDs ?? []
        guard !serviceUUIDs.isEmpty || !solicited.isEmpty || name != nil else { return true }
        var found = Found()
        note(device.advertisement.span.bytes, in: &found)
        note(device.scanResponse.span.bytes, in: &found)
        return (serviceUUIDs.isEmpty && solicited.isEmpty || found.hasService) && (name == nil || found.hasName)
    }

    /// Whether both requests match the same devices.
    func selects(like other: ScanRequest) -> Bool {
        serviceUUIDs == other.serviceUUIDs && solicitedServiceUUIDs == other.solicitedServiceUUIDs
            && hasName(of: other) && address == other.address && acceptList == other.acceptList
    }

    /// Whether both ask for the same name: by its octets, as `matches` compares. Strings are also equal if Unicode says
    /// the same with other octets, and comparing them so takes 35 kB of tables and code in Embedded Swift.
    private func hasName(of other: ScanRequest) -> Bool {
        guard let name, let text = other.name else { return name == nil && other.name == nil }
        return isEqual(name.utf8.span.bytes, text)
    }

    private struct Found {
        var hasService = false
        var hasName = false
    }

    private func note(_ data: RawSpan, in found: inout Found) {
        var reader = AdvertisingDataReader(data)
        do throws(DecodingError) {
            while let structure = try reader.next() {
                // A structure with malformed content is skipped; the others still count.
                if let element = try? structure.element() { note(element, in: &found) }
                if structure.type == .manufacturerSpecificData, !found.hasService,
                    let area = OverflowArea(manufacturerSpecificData: structure.data)
                {
                    // A match in the overflow area is probable, never certain (SPEC 3.6).
                    found.hasService = serviceUUIDs.contains { area.contains($0) }
                }
            }
        } catch {}
    }

    private func note(_ element: borrowing AdvertisingDataElement, in found: inout Found) {
        switch element {
        case .localName(let text, _):
            if let name, isEqual(text, name) { found.hasName = true }
        case .serviceUUIDs(let list, _):
            var list = list
            while !found.hasService, let uuid = try? list.next() {
                if serviceUUIDs.contains(uuid) { found.hasService = true }
            }
        case .solicitedServiceUUIDs(let list):
            guard let solicited = solicitedServiceUUIDs else { return }
            var list = list
            while !found.hasService, let uuid = try? list.next() {
                if solicited.contains(uuid) { found.hasService = true }
            }
        case .flags, .txPowerLevel, .appearance, .manufacturerData, .serviceData, .peripheralConnectionIntervalRange,
            .targetAddresses, .deviceAddress, .role, .advertisingInterval, .uri, .leSupportedFeatures, .broadcastName,
            .other:
            break
        }
    }

    private func isEqual(_ bytes: RawSpan, _ text: String) -> Bool {
        // By span: in Embedded Swift, iterating over a string brings tables of UTF-16.
        let octets = text.utf8.span
        guard octets.count == bytes.byteCount else { return false }
        for index in octets.indices where bytes.byte(at: index) != octets[index] { return false }
        return true
    }
}
