import BLE
import BLEDecoder
import BLEJSON
import BLEScripts

/// A structure of advertising data as it was sent: what no other line has is still shown.
struct AdvertisedStructure {
    let packet: AdvertisingData.Fault.Packet
    let type: UInt8
    /// The octets after the type.
    let data: [UInt8]
    /// Whether the structure is longer than what is left of its packet.
    var isCutOff = false
    /// Whether the decoded content has all of it.
    var isCovered = false

    /// The structures of a packet, in their order.
    /// - Parameter content: the decoded content of the advertising data.
    static func all(
        in octets: [UInt8], of packet: AdvertisingData.Fault.Packet, _ content: AdvertisingData
    ) -> [AdvertisedStructure] {
        var found: [AdvertisedStructure] = []
        var reader = AdvertisingDataReader(octets.span.bytes)
        repeat {
            while true {
                do throws(DecodingError) {
                    guard let structure = try reader.next() else { break }
                    var shown = AdvertisedStructure(
                        packet: packet, type: structure.type.rawValue, data: structure.data.copied())
                    shown.isCovered = covers(structure, content)
                    found.append(shown)
                } catch {
                    let rest = reader.remainder
                    if let type = rest.byte(at: 1) {
                        let data = rest.extracting(droppingFirst: 2).copied()
                        found.append(AdvertisedStructure(packet: packet, type: type, data: data, isCutOff: true))
                    }
                    return found
                }
            }
        } while reader.resumeAfterPadding()
        return found
    }

    private static func covers(_ structure: borrowing AdvertisingDataStructure, _ content: AdvertisingData) -> Bool {
        guard let element = try? structure.element() else { return false }
        let count = structure.data.byteCount
        switch element {
        case .flags(let flags): return count <= 1 && content.flags == flags.rawValue
        case .serviceUUIDs(let list, _): return count > 0 && count.isMultiple(of: Int(list.width.rawValue))
        case .solicitedServiceUUIDs(let list): return count > 0 && count.isMultiple(of: Int(list.width.rawValue))
        case .localName(let octets, let isComplete):
            return octets.byte(at: 0) != 0 && content.isNameComplete == isComplete
                && content.localName == String(decoding: octets.copied(), as: UTF8.self)
        case .txPowerLevel(let power): return content.txPower == power
        case .appearance(let appearance): return content.appearance == appearance
        case .manufacturerData, .serviceData: return true
        default: return false
        }
    }

    var name: String? { AdvertisingStructureName.name(of: type) }

    var json: JSONValue {
        let object: JSONValue = [
            "packet": packet == .advertisement ? "advertisement" : "scanResponse", "type": JSONValue(type),
            "name": JSONValue(name), "data": .string(Hexadecimal.text(data)),
        ]
        return isCutOff ? object.adding("cutOff", .boolean(true)) : object
    }

    /// The type, with its name if it has one, and the octets.
    var text: String {
        let cut = isCutOff ? " (cut off)" : ""
        return "\(Hexadecimal.number(type, digits: 2))\(name.map { " " + $0 } ?? ""):\(Hexadecimal.text(data))\(cut)"
    }
}
