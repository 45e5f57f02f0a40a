import BLEHost
import BLEPackets

/// The form in which a program keeps a database between its runs, in any format of `Codable`:
///
///     {"version": 1, "hash": [16 numbers], "services": [
///       {"uuid": "180D", "handle": 10, "endHandle": 15, "primary": true, "includes": [
///         {"handle": 11, "uuid": "180F", "firstHandle": 30, "endHandle": 33}], "characteristics": [
///         {"handle": 12, "valueHandle": 13, "endHandle": 15, "properties": 16, "uuid": "2A37", "descriptors": [
///           {"handle": 14, "uuid": "2902"}]}]}]}
///
/// `hash` is absent when the device has none. A later version of this library reads every earlier form; a form that it
/// does not know is an error, and the database is to be discovered again.
extension KnownDatabase: Codable {
    /// The version that is written.
    private static let version = 1
    /// No discovery finds more attributes than this.
    private static let attributeLimit = 8192

    private enum Key: String, CodingKey { case version, hash, services }

    /// - Throws: `DecodingError.dataCorrupted` for another version, a hash of another length, handles that no device
    ///   can have, or more attributes than a discovery can find.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let version = try container.decode(Int.self, forKey: .version)
        guard version == Self.version else {
            throw Self.corrupted(container.codingPath, "unknown version \(version) of a database")
        }
        let hash = try container.decodeIfPresent([UInt8].self, forKey: .hash)
        guard hash.map({ $0.count == 16 }) ?? true else {
            throw Self.corrupted(container.codingPath, "a Database Hash has 16 octets")
        }
        var room = Self.attributeLimit
        let services = try Self.list(of: StoredService.self, in: container, .services, room: &room)
        self.init(hash: hash, contents: services.map(\.contents))
        guard contents.reduce(0, { $0 + $1.attributeCount }) <= Self.attributeLimit else {
            throw Self.corrupted(container.codingPath, "too many attributes")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Self.version, forKey: .version)
        try container.encodeIfPresent(hash, forKey: .hash)
        try container.encode(contents.map(StoredService.init), forKey: .services)
    }

    /// Reads a list that ends before it takes more memory than any database.
    private static func list<Element: Decodable, Keys: CodingKey>(
        of type: Element.Type, in container: KeyedDecodingContainer<Keys>, _ key: Keys, room: inout Int
    ) throws -> [Element] {
        var list = try container.nestedUnkeyedContainer(forKey: key)
        var elements: [Element] = []
        while !list.isAtEnd {
            guard room > 0 else { throw corrupted(list.codingPath, "too many attributes") }
            room -= 1
            elements.append(try list.decode(Element.self))
        }
        return elements
    }

    private static func corrupted(_ path: [any CodingKey], _ text: String) -> any Error {
        Swift.DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: text))
    }

    /// A handle that an attribute can have.
    private struct Handle: Codable {
        var value: AttributeHandle

        init(_ value: AttributeHandle) { self.value = value }

        init(from decoder: any Decoder) throws {
            let number = try decoder.singleValueContainer().decode(UInt16.self)
            guard number != 0 else { throw corrupted(decoder.codingPath, "0 is no handle of an attribute") }
            value = AttributeHandle(rawValue: number)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value.rawValue)
        }
    }

    private static func range(
        _ first: Handle, _ last: Handle, _ path: [any CodingKey]
    ) throws -> AttributeHandleRange {
        guard first.value <= last.value else { throw corrupted(path, "a range of handles ends before it begins") }
        return AttributeHandleRange(first.value, last.value)
    }

    private struct StoredService: Codable {
        enum Key: String, CodingKey { case uuid, handle, endHandle, primary, includes, characteristics }

        var contents: ServiceContents

        init(_ contents: ServiceContents) { self.contents = contents }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            let range = try KnownDatabase.range(
                container.decode(Handle.self, forKey: .handle), container.decode(Handle.self, forKey: .endHandle),
                container.codingPath)
            var room = KnownDatabase.attributeLimit
            contents = ServiceContents(
                service: Service(
                    uuid: try container.decode(BluetoothUUID.self, forKey: .uuid), range: range,
                    isPrimary: try container.decode(Bool.self, forKey: .primary)),
                includedServices: try list(of: StoredInclude.self, in: container, .includes, room: &room)
                    .map(\.service),
                characteristics: try list(of: StoredCharacteristic.self, in: container, .characteristics, room: &room)
                    .map(\.contents))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(contents.service.uuid, forKey: .uuid)
            try container.encode(Handle(contents.service.range.first), forKey: .handle)
            try container.encode(Handle(contents.service.range.last), forKey: .endHandle)
            try container.encode(contents.service.isPrimary, forKey: .primary)
            try container.encode(contents.includedServices.map(StoredInclude.init), forKey: .includes)
            try container.encode(contents.characteristics.map(StoredCharacteristic.init), forKey: .characteristics)
        }
    }

    private struct StoredInclude: Codable {
        enum Key: String, CodingKey { case handle, uuid, firstHandle, endHandle }

        var service: IncludedService

        init(_ service: IncludedService) { self.service = service }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            let range = try KnownDatabase.range(
                container.decode(Handle.self, forKey: .firstHandle), container.decode(Handle.self, forKey: .endHandle),
                container.codingPath)
            service = IncludedService(
                handle: try container.decode(Handle.self, forKey: .handle).value,
                service: Service(
                    uuid: try container.decode(BluetoothUUID.self, forKey: .uuid), range: range, isPrimary: false))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(Handle(service.handle), forKey: .handle)
            try container.encode(service.service.uuid, forKey: .uuid)
            try container.encode(Handle(service.service.range.first), forKey: .firstHandle)
            try container.encode(Handle(service.service.range.last), forKey: .endHandle)
        }
    }

    private struct StoredCharacteristic: Codable {
        enum Key: String, CodingKey { case handle, valueHandle, endHandle, properties, uuid, descriptors }

        var contents: ServiceContents.CharacteristicContents

        init(_ contents: ServiceContents.CharacteristicContents) { self.contents = contents }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            let found = Characteristic(
                uuid: try container.decode(BluetoothUUID.self, forKey: .uuid),
                handle: try container.decode(Handle.self, forKey: .handle).value,
                valueHandle: try container.decode(Handle.self, forKey: .valueHandle).value,
                endHandle: try container.decode(Handle.self, forKey: .endHandle).value,
                properties: CharacteristicProperties(
                    rawValue: try container.decode(UInt8.self, forKey: .properties)))
            guard found.handle < found.valueHandle else {
                throw corrupted(container.codingPath, "the value of a characteristic is behind its declaration")
            }
            var room = KnownDatabase.attributeLimit
            contents = ServiceContents.CharacteristicContents(
                characteristic: found,
                descriptors: try list(of: StoredDescriptor.self, in: container, .descriptors, room: &room)
                    .map(\.descriptor))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(Handle(contents.characteristic.handle), forKey: .handle)
            try container.encode(Handle(contents.characteristic.valueHandle), forKey: .valueHandle)
            try container.encode(Handle(contents.characteristic.endHandle), forKey: .endHandle)
            try container.encode(contents.characteristic.properties.rawValue, forKey: .properties)
            try container.encode(contents.characteristic.uuid, forKey: .uuid)
            try container.encode(contents.descriptors.map(StoredDescriptor.init), forKey: .descriptors)
        }
    }

    private struct StoredDescriptor: Codable {
        enum Key: String, CodingKey { case handle, uuid }

        var descriptor: Descriptor

        init(_ descriptor: Descriptor) { self.descriptor = descriptor }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            descriptor = Descriptor(
                uuid: try container.decode(BluetoothUUID.self, forKey: .uuid),
                handle: try container.decode(Handle.self, forKey: .handle).value)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(Handle(descriptor.handle), forKey: .handle)
            try container.encode(descriptor.uuid, forKey: .uuid)
        }
    }
}

extension ServiceContents {
    /// Declarations, values and descriptors.
    fileprivate var attributeCount: Int {
        characteristics.reduce(1 + includedServices.count) { $0 + 2 + $1.descriptors.count }
    }
}
