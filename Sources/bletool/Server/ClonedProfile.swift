import BLE
import BLEJSON
import BLEScripts

/// The services of a device as a profile for `serve`, which can then take its place.
struct ClonedProfile {
    /// Every device has them, and `serve` makes them itself.
    private static let ownServices: Set<BluetoothUUID> = [.genericAccess, .genericAttribute]
    /// Extended properties, configurations and the list of presentation formats, which `serve` makes itself.
    private static let ownDescriptors: Set<BluetoothUUID> = Set(
        [0x2900, 0x2902, 0x2903, 0x2905].map { BluetoothUUID($0 as UInt16) })

    let contents: [ServiceContents]
    /// Where the device has its name.
    private let nameHandle: AttributeHandle?
    /// What was read, by its handle.
    let values: [AttributeHandle: [UInt8]]

    /// - Parameter contents: all services, or those that are wanted.
    init(_ contents: [ServiceContents], values: [AttributeHandle: [UInt8]] = [:]) {
        self.contents = contents.filter { !Self.ownServices.contains($0.service.uuid) }
        nameHandle =
            contents.first { $0.service.uuid == .genericAccess }?.characteristics
            .first { $0.characteristic.uuid == .deviceName && $0.characteristic.properties.contains(.read) }?
            .characteristic.valueHandle
        self.values = values
    }

    /// The attributes whose values the profile has.
    var readable: [AttributeHandle] {
        (nameHandle.map { [$0] } ?? [])
            + contents.flatMap(\.characteristics).flatMap { entry in
                (entry.characteristic.properties.contains(.read) ? [entry.characteristic.valueHandle] : [])
                    + Self.descriptors(of: entry).map(\.handle)
            }
    }

    /// The file: one service a line.
    var text: String {
        let name = nameHandle.flatMap { values[$0] }.map { String(decoding: $0, as: UTF8.self).withoutPadding } ?? ""
        let start = name.isEmpty ? "{" : "{\"name\": \(JSONValue.string(name).text),\n"
        return start + "\"services\": [\n" + contents.map { service($0).text }.joined(separator: ",\n") + "\n]}\n"
    }

    private static func descriptors(of entry: ServiceContents.CharacteristicContents) -> [DiscoveredDescriptor] {
        entry.descriptors.filter { !ownDescriptors.contains($0.uuid) }
    }

    private func service(_ entry: ServiceContents) -> JSONValue {
        var service: JSONValue = ["uuid": .string(entry.service.uuid.description)]
        if !entry.service.isPrimary { service = service.adding("primary", .boolean(false)) }
        // A profile can only include what is in it.
        let known = Set(contents.map(\.service.uuid))
        let included = entry.includedServices.map(\.service.uuid).filter { known.contains($0) }
        if !included.isEmpty { service = service.adding("includes", JSONValue(included)) }
        return service.adding("characteristics", .array(entry.characteristics.map(characteristic)))
    }

    private func characteristic(_ entry: ServiceContents.CharacteristicContents) -> JSONValue {
        let properties = entry.characteristic.properties.subtracting(.extendedProperties)
        var characteristic: JSONValue = [
            "uuid": .string(entry.characteristic.uuid.description), "properties": JSONValue(properties.names),
        ]
        characteristic = adding(entry.characteristic.valueHandle, to: characteristic)
        let descriptors = Self.descriptors(of: entry).map {
            adding($0.handle, to: ["uuid": .string($0.uuid.description)])
        }
        return descriptors.isEmpty ? characteristic : characteristic.adding("descriptors", .array(descriptors))
    }

    private func adding(_ handle: AttributeHandle, to object: JSONValue) -> JSONValue {
        guard let value = values[handle], !value.isEmpty else { return object }
        return object.adding("value", .string(Hexadecimal.text(value)))
    }
}
