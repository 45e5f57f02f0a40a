import BLEPackets

/// Packs names and services into a legacy advertisement, as Core Bluetooth does (SPEC 3.4, 3.5).
///
/// 28 octets of the advertisement, behind the flags, are for names and services, headers included; 10 octets of the
/// scan response are for a name. Services that do not fit are hashed into the overflow area. The same input gives the
/// same octets.
public struct AdvertisingPacker {
    /// Octets of the advertisement that apps share, headers included (SPEC ADV-1).
    public static let sharedCapacity = 28
    /// Octets of the scan response for a name, header included: the rest is for the overflow area (SPEC ADV-2).
    public static let scanResponseNameCapacity = 10

    private static let headerLength = 2
    private static let widths: [BluetoothUUID.Width] = [.bits16, .bits32, .bits128]

    private var packed = PackedAdvertisement()
    /// Octets of the UUID lists in the advertisement, headers included.
    private var listLength = 0
    /// Octets of the name in the advertisement, header included.
    private var nameLength = 0

    /// Packs the contributions of several apps.
    ///
    /// Each app gets the room that those before it left, for its services before its name; only the first name is sent.
    /// - Parameter contributions: foreground apps are ordered by when they were last in the foreground, the most recent
    ///   first (SPEC 3.5 step 7).
    public static func pack(
        _ contributions: [AdvertisingContribution], settings: AdvertisingPackerSettings = AdvertisingPackerSettings()
    ) -> PackedAdvertisement {
        var packer = AdvertisingPacker()
        for contribution in contributions where contribution.state == .foreground {
            for uuid in contribution.serviceUUIDs { packer.place(uuid) }
            if let name = contribution.localName { packer.place(name) }
        }
        for contribution in contributions where contribution.state == .background {
            for uuid in contribution.serviceUUIDs { packer.hide(uuid) }
        }
        packer.write(settings)
        return packer.packed
    }

    /// Packs the contribution of one app.
    public static func pack(
        _ contribution: AdvertisingContribution, settings: AdvertisingPackerSettings = AdvertisingPackerSettings()
    ) -> PackedAdvertisement {
        pack([contribution], settings: settings)
    }

    // MARK: Placing

    private mutating func place(_ uuid: BluetoothUUID) {
        if packed.visible.contains(uuid) || packed.overflow.contains(uuid) { return }
        let isFirst = !packed.visible.contains { $0.width == uuid.width }
        let needed = Int(uuid.width.rawValue) + (isFirst ? Self.headerLength : 0)
        guard listLength + nameLength + needed <= Self.sharedCapacity else { return hide(uuid) }
        listLength += needed
        packed.visible.append(uuid)
    }

    private mutating func hide(_ uuid: BluetoothUUID) {
        if !packed.visible.contains(uuid), !packed.overflow.contains(uuid) { packed.overflow.append(uuid) }
    }

    /// The whole name if it fits; otherwise the longer of the two beginnings that fit into advertisement and scan
    /// response.
    private mutating func place(_ name: String) {
        let count = name.utf8.span.count
        guard packed.name == nil, count > 0 else { return }
        let room = Self.sharedCapacity - listLength - Self.headerLength
        let here = name.utf8Prefix(room)
        let there = name.utf8Prefix(Self.scanResponseNameCapacity - Self.headerLength)
        let isHere = here.count >= there.count
        let octets = isHere ? here : there
        if isHere { nameLength = octets.count + Self.headerLength }
        packed.name = PackedAdvertisement.Name(
            // A beginning that splits no scalar always is UTF-8.
            value: String(validating: octets, as: UTF8.self) ?? name,
            placement: isHere ? .advertisement : .scanResponse,
            isTruncated: octets.count < count)
    }

    // MARK: Writing

    private mutating func write(_ settings: AdvertisingPackerSettings) {
        var advertisement = AdvertisingDataWriter()
        var scanResponse = AdvertisingDataWriter()
        // What was placed fits: its size was counted.
        try? advertisement.append(settings.flags)
        for width in Self.widths {
            let isComplete = !packed.overflow.contains { $0.width == width }
            let list = packed.visible.filter { $0.width == width }
            try? advertisement.append(serviceUUIDs: list, areComplete: isComplete)
        }
        if let name = packed.name, name.placement == .advertisement {
            try? advertisement.append(localName: name.value, isComplete: !name.isTruncated)
        }
        if case .on(let company) = settings.overflow, !packed.overflow.isEmpty {
            let area = OverflowArea(hashing: packed.overflow)
            if advertisement.remainingCount >= OverflowArea.structureByteCount {
                try? advertisement.append(area, company: company)
            } else {
                try? scanResponse.append(area, company: company)
            }
        }
        if let name = packed.name, name.placement == .scanResponse {
            try? scanResponse.append(localName: name.value, isComplete: !name.isTruncated)
        }
        packed.advertisement = advertisement.bytes
        packed.scanResponse = scanResponse.bytes
    }
}
