import BLEPackets

/// Packs names and services into a legacy advertisement, as Core Bluetooth does (SPEC 3.4, 3.5).
///
/// 28 octets of the advertisement, behind the flags, are for names and services, headers included; in the scan response,
/// a name has up to 10 octets, or 8 beside the overflow area. Services that do not fit are hashed into the overflow area.
/// The same input gives the same octets.
public struct AdvertisingPacker {
    /// Octets of the advertisement that apps share, headers included (SPEC ADV-1).
    public static let sharedCapacity = 28
    /// Octets of a name in the scan response, without its header (SPEC ADV-2).
    public static let scanResponseNameCapacity = 10
    /// The same beside the overflow area, which leaves no more (SPEC 3.4 rule 5).
    public static let scanResponseNameCapacityBesideOverflow = 8

    private static let headerLength = 2
    private static let widths: [BluetoothUUID.Width] = [.bits16, .bits32, .bits128]

    private let settings: AdvertisingPackerSettings
    /// Octets of a name in the scan response, without its header.
    private let nameCapacity: Int
    private var packed = PackedAdvertisement()
    /// The services in the mask, in the requested order.
    private var hashed: [BluetoothUUID] = []
    /// The company identifier before the mask; `nil` while it is empty.
    private var company: UInt16?
    /// Octets of the UUID lists in the advertisement, headers included.
    private var listLength = 0
    /// Octets of the name in the advertisement, header included.
    private var nameLength = 0

    /// Packs the contributions of several apps.
    ///
    /// Each app gets the room that those before it left, for its services before its name; only the first name is sent.
    /// There is one overflow area with one company: that of the first contribution with services for it. Contributions
    /// that name another company add nothing to it.
    /// - Parameter contributions: foreground apps are ordered by when they were last in the foreground, the most recent
    ///   first (SPEC 3.5 step 7).
    public static func pack(
        _ contributions: [AdvertisingContribution], settings: AdvertisingPackerSettings = AdvertisingPackerSettings()
    ) -> PackedAdvertisement {
        var packer = AdvertisingPacker(settings, nameCapacity: scanResponseNameCapacity)
        packer.place(contributions)
        if packer.isNameBesideOverflow {
            packer = AdvertisingPacker(settings, nameCapacity: scanResponseNameCapacityBesideOverflow)
            packer.place(contributions)
        }
        packer.write()
        return packer.packed
    }

    /// Packs the contribution of one app.
    public static func pack(
        _ contribution: AdvertisingContribution, settings: AdvertisingPackerSettings = AdvertisingPackerSettings()
    ) -> PackedAdvertisement {
        pack([contribution], settings: settings)
    }

    private init(_ settings: AdvertisingPackerSettings, nameCapacity: Int) {
        self.settings = settings
        self.nameCapacity = nameCapacity
    }

    // MARK: Placing

    private mutating func place(_ contributions: [AdvertisingContribution]) {
        for contribution in contributions where contribution.state == .foreground {
            let emission = contribution.overflow ?? settings.overflow
            for uuid in contribution.serviceUUIDs { place(uuid, emission) }
            if let name = contribution.localName { place(name) }
        }
        for contribution in contributions where contribution.state == .background {
            let emission = contribution.overflow ?? settings.overflow
            for uuid in contribution.serviceUUIDs { hide(uuid, emission) }
        }
    }

    private mutating func place(_ uuid: BluetoothUUID, _ emission: AdvertisingPackerSettings.OverflowEmission) {
        if packed.visible.contains(uuid) { return }
        // Another contribution wants it, too, and may hash it.
        if packed.overflow.contains(uuid) { return hide(uuid, emission) }
        let isFirst = !packed.visible.contains { $0.width == uuid.width }
        let needed = Int(uuid.width.rawValue) + (isFirst ? Self.headerLength : 0)
        guard listLength + nameLength + needed <= Self.sharedCapacity else { return hide(uuid, emission) }
        listLength += needed
        packed.visible.append(uuid)
    }

    private mutating func hide(_ uuid: BluetoothUUID, _ emission: AdvertisingPackerSettings.OverflowEmission) {
        if packed.visible.contains(uuid) { return }
        if !packed.overflow.contains(uuid) { packed.overflow.append(uuid) }
        guard case .on(let wanted) = emission, company ?? wanted == wanted, !hashed.contains(uuid) else { return }
        company = wanted
        hashed.append(uuid)
    }

    /// The whole name if it fits into the advertisement. Otherwise its beginning: in the advertisement if that has room
    /// for eight octets or more, or for as many as the scan response; else in the scan response.
    private mutating func place(_ name: String) {
        let count = name.utf8.span.count
        guard packed.name == nil, count > 0 else { return }
        let room = Self.sharedCapacity - listLength - Self.headerLength
        let here = name.utf8Prefix(room)
        let there = name.utf8Prefix(nameCapacity)
        let isHere = room >= Self.scanResponseNameCapacityBesideOverflow || here.count >= there.count
        let octets = isHere ? here : there
        if isHere { nameLength = octets.count + Self.headerLength }
        packed.name = PackedAdvertisement.Name(
            // A beginning that splits no scalar always is UTF-8.
            value: String(validating: octets, as: UTF8.self) ?? name,
            placement: isHere ? .advertisement : .scanResponse,
            isTruncated: octets.count < count)
    }

    /// Whether the scan response has both. The advertisement has no room for the overflow area if it has none for eight
    /// octets of a name.
    private var isNameBesideOverflow: Bool { packed.name?.placement == .scanResponse && company != nil }

    // MARK: Writing

    private mutating func write() {
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
        if let company {
            let area = OverflowArea(hashing: hashed)
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
