import BLE
import BLEAssignedNumbers
import BLEScripts
import BLEText

extension AdvertisedStructure {
    /// Octets in a row.
    private static let octetsInRow = 16

    /// The structure as it was sent: its type with its name, its octets, and what they mean.
    var rows: [String] {
        let head = "\(Hexadecimal.number(type, digits: 2))\(name.map { " " + $0 } ?? ""): "
        let pieces = stride(from: 0, to: max(1, data.count), by: Self.octetsInRow).map { start in
            Hexadecimal.text(Array(data[start..<min(data.count, start + Self.octetsInRow)]))
        }
        var rows = [head + pieces[0]] + pieces.dropFirst().map { "  " + $0 }
        if isCutOff { rows[rows.count - 1] += " (cut off)" }
        guard let meaning else { return rows }
        // Behind few octets there is room.
        if data.count <= Self.octetsInRow / 2 { rows[0] += " = " + meaning } else { rows.append("  = " + meaning) }
        return rows
    }

    /// What the structure alone says; `nil` where nothing is known of its type.
    private var meaning: String? {
        guard !isCutOff, data.count < 0xFF else { return nil }
        let octets = [UInt8(data.count + 1), type] + data
        let content = AdvertisingData(advertisement: octets.span.bytes, scanResponse: [UInt8]().span.bytes)
        var parts = content.flags.map { AdvertisingFlags(rawValue: $0).names } ?? []
        if let name = content.localName { parts.append(name.printable) }
        if let power = content.txPower { parts.append("\(power) dBm") }
        if let appearance = content.appearance, let name = AssignedNumbers.appearance(appearance) {
            parts.append(name.description)
        }
        parts += (content.serviceUUIDs + content.solicitedServiceUUIDs).map(\.textWithName)
        parts += content.manufacturerData.compactMap {
            AssignedNumbers.company($0.company)?.description.printable(limit: 48)
        }
        parts += content.serviceData.map(\.uuid.textWithName)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

extension AdvertisingFlags {
    fileprivate var names: [String] {
        let all: [(AdvertisingFlags, String)] = [
            (.leLimitedDiscoverable, "limited discoverable"), (.leGeneralDiscoverable, "general discoverable"),
            (.brEdrNotSupported, "LE only"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}

extension AdvertisingDataOutput {
    /// Every structure as it was sent, those of the advertisement first.
    var rows: [String] {
        let own = structures.filter { $0.packet == .advertisement }
        let response = structures.filter { $0.packet == .scanResponse }
        return own.flatMap(\.rows) + (response.isEmpty ? [] : ["in the scan response:"]) + response.flatMap(\.rows)
            + data.faults.map { "error: \($0)" }
    }
}
