import BLEHost
import BLEJSON
import BLEPackets

/// A GATT database, as `gatt PEER discover` prints it.
package struct DatabaseOutput {
    package let contents: [ServiceContents]
    /// ATT_MTU in octets.
    package let mtu: Int

    package init(_ contents: [ServiceContents], mtu: Int) {
        self.contents = contents
        self.mtu = mtu
    }

    package var json: JSONValue {
        ["event": "database", "mtu": JSONValue(mtu), "services": .array(contents.map(Self.json))]
    }

    private static func json(_ contents: ServiceContents) -> JSONValue {
        let service: JSONValue = [
            "uuid": .string(contents.service.uuid.description),
            "handle": JSONValue(contents.service.range.first.rawValue),
            "endHandle": JSONValue(contents.service.range.last.rawValue),
            "primary": .boolean(contents.service.isPrimary),
            "includes": JSONValue(contents.includedServices.map(\.service.uuid.description)),
            "characteristics": .array(contents.characteristics.map(json)),
        ]
        return service.naming(service: contents.service.uuid)
    }

    private static func json(_ contents: ServiceContents.CharacteristicContents) -> JSONValue {
        let characteristic = contents.characteristic
        let object: JSONValue = [
            "uuid": .string(characteristic.uuid.description),
            "handle": JSONValue(characteristic.handle.rawValue),
            "valueHandle": JSONValue(characteristic.valueHandle.rawValue),
            "properties": JSONValue(characteristic.properties.names),
            "descriptors": .array(
                contents.descriptors.map { descriptor in
                    let object: JSONValue = [
                        "uuid": .string(descriptor.uuid.description), "handle": JSONValue(descriptor.handle.rawValue),
                    ]
                    return object.naming(descriptor.uuid)
                }),
        ]
        return object.naming(characteristic.uuid)
    }

    package var text: String {
        var lines = ["MTU \(mtu)"]
        for service in contents {
            let range = service.service.range
            lines.append(
                "\(service.service.isPrimary ? "service" : "secondary service") \(service.service.uuid.textWithName)  "
                    + "\(Self.hex(range.first))–\(Self.hex(range.last))")
            lines += service.includedServices.map { "  includes \($0.service.uuid.textWithName)" }
            for entry in service.characteristics {
                let characteristic = entry.characteristic
                lines.append(
                    "  characteristic \(characteristic.uuid.attributeText)  \(Self.hex(characteristic.valueHandle))  "
                        + characteristic.properties.names.joined(separator: " "))
                lines += entry.descriptors.map { "    descriptor \($0.uuid.attributeText)  \(Self.hex($0.handle))" }
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func hex(_ handle: AttributeHandle) -> String { Hexadecimal.number(handle.rawValue, digits: 4) }
}

extension CharacteristicProperties {
    /// Core Bluetooth's names of the properties that are set.
    package var names: [String] {
        let names: [(CharacteristicProperties, String)] = [
            (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "writeWithoutResponse"),
            (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
            (.authenticatedSignedWrites, "authenticatedSignedWrites"), (.extendedProperties, "extendedProperties"),
        ]
        return names.filter { contains($0.0) }.map(\.1)
    }
}
