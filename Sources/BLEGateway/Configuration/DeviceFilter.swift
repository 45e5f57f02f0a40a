import BLEPackets

/// Selects the devices to report: those that match an allow rule, or all if there is none, unless a deny rule matches.
public struct DeviceFilter: Equatable, Sendable {
    /// How devices with private addresses are treated if no identity resolves them.
    public enum PrivateAddresses: String, CaseIterable, Sendable {
        /// They are reported like others.
        case publish
        /// They are reported if a decoder recognizes their data.
        case decoded
        /// They are not reported.
        case drop
    }

    /// A device that matches one of these is reported; empty: every device.
    public var allow: [DeviceRule] = []
    /// A device that matches one of these is not reported.
    public var deny: [DeviceRule] = []
    /// Devices with resolvable and non-resolvable private addresses.
    public var privateAddresses = PrivateAddresses.publish
    /// Packets with a weaker signal are ignored, in dBm; `nil`: none.
    public var minimumRSSI: Int8?

    public init() {}

    func allows(_ device: DeviceRule.Subject) -> Bool {
        if device.isPrivate {
            switch privateAddresses {
            case .publish: break
            case .decoded where device.formats.isEmpty: return false
            case .decoded: break
            case .drop: return false
            }
        }
        if !allow.isEmpty, !allow.contains(where: { $0.matches(device) }) { return false }
        return !deny.contains { $0.matches(device) }
    }
}

/// A description of devices: everything that is set must match.
public struct DeviceRule: Equatable, Sendable {
    /// The whole address.
    public var address: UInt64?
    /// The first octets of the address, such as those of a manufacturer.
    public var prefix: AddressPrefix?
    /// The name of a known identity.
    public var identity: String?
    /// A pattern for the device's name, with `*` and `?`.
    public var name: NamePattern?
    /// A company identifier in its manufacturer data.
    public var company: UInt16?
    /// A service that it lists or sends data for.
    public var service: BluetoothUUID?
    /// The format of the device's data: one of `decoders`, or with its version, such as `Eddystone TLM`. Case is
    /// ignored.
    public var decoder: String?
    /// The minimum smoothed signal strength, in dBm.
    public var rssi: Double?

    public init() {}

    /// The formats that a rule can name, without versions.
    public static let decoders = [
        "AltBeacon", "Apple", "ATC", "BTHome", "Eddystone", "Govee", "iBeacon", "Inkbird", "Location Tracker", "Matter",
        "MiBeacon", "Microsoft", "pvvx", "RuuviTag", "SwitchBot", "Xiaomi scale",
    ]

    /// Whether some format has this name, with or without a version.
    public static func isDecoder(_ name: String) -> Bool {
        decoders.contains { reads($0, name: name) || reads(name, name: $0) }
    }

    private static func reads(_ format: String, name: String) -> Bool {
        let (format, name) = (format.lowercased(), name.lowercased())
        return format == name || format.hasPrefix(name + " ")
    }

    /// A device as rules see it.
    struct Subject {
        var address: UInt64
        var isPrivate: Bool
        var identity: String?
        var name: String?
        var data: AdvertisingData
        var formats: [String]
        var rssi: Double
    }

    func matches(_ device: Subject) -> Bool {
        if let address, address != device.address { return false }
        if let prefix, !prefix.matches(device.address) { return false }
        if let identity, identity != device.identity { return false }
        if let name, !name.matches(device.name ?? "") { return false }
        if let company, !device.data.manufacturerData.contains(where: { $0.company == company }) { return false }
        if let service, !device.data.serviceUUIDs.contains(service),
            !device.data.serviceData.contains(where: { $0.uuid == service })
        {
            return false
        }
        if let decoder, !device.formats.contains(where: { Self.reads($0, name: decoder) }) { return false }
        if let rssi, device.rssi < rssi { return false }
        return true
    }
}

/// The first octets of an address, such as `A4:C1:38`.
public struct AddressPrefix: Equatable, Sendable {
    private let value: UInt64
    private let mask: UInt64

    /// Parses one to six octets, separated by colons.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...6).contains(parts.count) else { return nil }
        var value: UInt64 = 0
        for part in parts {
            guard part.utf8.count == 2, let octet = UInt8(part, radix: 16) else { return nil }
            value = value << 8 | UInt64(octet)
        }
        let missing = UInt64(8 * (6 - parts.count))
        self.value = value << missing
        mask = (0xFFFF_FFFF_FFFF >> missing) << missing
    }

    func matches(_ address: UInt64) -> Bool { address & mask == value }
}

/// A pattern for names: `*` stands for any characters, `?` for one.
public struct NamePattern: Equatable, Sendable {
    private let pattern: [Character]

    public init(_ text: String) { pattern = Array(text) }

    /// Whether the pattern matches the whole name, with or without the spaces at its end with which some devices fill a
    /// fixed field. The time is at most proportional to the product of both lengths.
    public func matches(_ name: String) -> Bool {
        var characters = Array(name)
        if matches(characters) { return true }
        guard characters.last == " " else { return false }
        while characters.last == " " { characters.removeLast() }
        return matches(characters)
    }

    private func matches(_ name: [Character]) -> Bool {
        var place = 0
        var position = 0
        // Where to continue if the text after the last `*` does not match.
        var star: (place: Int, position: Int)?
        while position < name.count {
            if place < pattern.count, pattern[place] == "*" {
                star = (place, position)
                place += 1
            } else if place < pattern.count, pattern[place] == "?" || pattern[place] == name[position] {
                place += 1
                position += 1
            } else if let last = star {
                star = (last.place, last.position + 1)
                place = last.place + 1
                position = last.position + 1
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}
