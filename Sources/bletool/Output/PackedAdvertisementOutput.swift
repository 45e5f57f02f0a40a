import BLE
import BLEJSON
import BLEScripts
import BLEText

/// A packed advertisement, as `ad pack` prints it.
struct PackedAdvertisementOutput {
    let packed: PackedAdvertisement

    init(_ packed: PackedAdvertisement) { self.packed = packed }

    var json: JSONValue {
        [
            "event": "packed", "advertisement": .string(Hexadecimal.text(packed.advertisement)),
            "scanResponse": .string(Hexadecimal.text(packed.scanResponse)),
            "visible": JSONValue(packed.visible),
            "overflow": JSONValue(packed.overflow),
            "name": packed.name.map(Self.json) ?? .null,
        ]
    }

    private static func json(_ name: PackedAdvertisement.Name) -> JSONValue {
        [
            "value": .string(name.value), "placement": .string(text(name.placement)),
            "truncated": .boolean(name.isTruncated),
        ]
    }

    private static func text(_ placement: PackedAdvertisement.NamePlacement) -> String {
        switch placement {
        case .advertisement: "advertisement"
        case .scanResponse: "scanResponse"
        }
    }

    var text: String {
        var lines = ["advertisement  \(Hexadecimal.text(packed.advertisement))"]
        if !packed.scanResponse.isEmpty { lines.append("scan response  \(Hexadecimal.text(packed.scanResponse))") }
        if let name = packed.name {
            lines.append("name           \(name.value.printable)\(name.isTruncated ? " (shortened)" : "")")
        }
        lines += packed.visible.map { "service        \($0)" }
        lines += packed.overflow.map { "overflow       \($0)" }
        return lines.joined(separator: "\n")
    }
}
