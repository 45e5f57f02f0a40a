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
        let services = try container.decode(List<StoredService>.self, forKey: .services)
        self.init(hash: hash, contents: try services.elements.map { try $0.contents(container.codingPath) })
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

    fileprivate static func corrupted(_ path: [any CodingKey], _ text: String) -> any Error {
        Swift.DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: text))
    }

    /// A list that is read only until it takes more memory than any database.
    private struct List<Element: Codable>: Codable {
        var elements: [Element]

        init(_ elements: [Element]) { self.elements = elements }

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            elements = []
            while !list.isAtEnd {
                guard elements.count < KnownDatabase.attributeLimit else {
                    throw corrupted(list.codingPath, "too many attributes")
                }
                elements.append(try list.decode(Element.self))
            }
        }

        func encode(to encoder: any Encoder) throws { try elements.encode(to: encoder) }
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

        func encode(to encoder: any Encoder) throws { try value.rawValue.encode(to: encoder) }

        /// The handles up to another one.
        func range(to last: Handle, _ path: [any CodingKey]) throws -> AttributeHandleRange {
            guard value <= last.value else { throw corrupted(path, "a range of handles ends before it begins") }
            return AttributeHandleRange(value, last.value)
        }
    }

    private struct StoredService: Codable {
        var uuid: BluetoothUUID
        var handle: Handle
        var endHandle: Handle
        var primary: Bool
        var includes: List<StoredInclude>
        var characteristics: List<StoredCharacteristic>

        init(_ contents: ServiceContents) {
            uuid = contents.service.uuid
            handle = Handle(contents.service.range.first)
            endHandle = Handle(contents.service.range.last)
            primary = contents.service.isPrimary
            includes = List(contents.includedServices.map(StoredInclude.init))
            characteristics = List(contents.characteristics.map(StoredCharacteristic.init))
        }

        func contents(_ path: [any CodingKey]) throws -> ServiceContents {
            ServiceContents(
                service: Service(uuid: uuid, range: try handle.range(to: endHandle, path), isPrimary: primary),
                includedServices: try includes.elements.map { try $0.service(path) },
                characteristics: try characteristics.elements.map { try $0.contents(path) })
        }
    }

    private struct StoredInclude: Codable {
        var handle: Handle
        var uuid: BluetoothUUID
        var firstHandle: Handle
        var endHandle: Handle

        init(_ include: IncludedService) {
            handle = Handle(include.handle)
            uuid = include.service.uuid
            firstHandle = Handle(include.service.range.first)
            endHandle = Handle(include.service.range.last)
        }

        func service(_ path: [any CodingKey]) throws -> IncludedService {
            IncludedService(
                handle: handle.value,
                service: Service(uuid: uuid, range: try firstHandle.range(to: endHandle, path), isPrimary: false))
        }
    }

    private struct StoredCharacteristic: Codable {
        var handle: Handle
        var valueHandle: Handle
        var endHandle: Handle
        var properties: UInt8
        var uuid: BluetoothUUID
        var descriptors: List<StoredDescriptor>

        init(_ contents: ServiceContents.CharacteristicContents) {
            handle = Handle(contents.characteristic.handle)
            valueHandle = Handle(contents.characteristic.valueHandle)
            endHandle = Handle(contents.characteristic.endHandle)
            properties = contents.characteristic.properties.rawValue
            uuid = contents.characteristic.uuid
            descriptors = List(contents.descriptors.map(StoredDescriptor.init))
        }

        func contents(_ path: [any CodingKey]) throws -> ServiceContents.CharacteristicContents {
            guard handle.value < valueHandle.value else {
                throw corrupted(path, "the value of a characteristic is behind its declaration")
            }
            return ServiceContents.CharacteristicContents(
                characteristic: Characteristic(
                    handle: handle.value, valueHandle: valueHandle.value, endHandle: endHandle.value,
                    properties: CharacteristicProperties(rawValue: properties), uuid: uuid),
                descriptors: descriptors.elements.map { Descriptor(handle: $0.handle.value, uuid: $0.uuid) })
        }
    }

    private struct StoredDescriptor: Codable {
        var handle: Handle
        var uuid: BluetoothUUID

        init(_ descriptor: Descriptor) {
            handle = Handle(descriptor.handle)
            uuid = descriptor.uuid
        }
    }
}

extension ServiceContents {
    /// Declarations, values and descriptors.
    fileprivate var attributeCount: Int {
        characteristics.reduce(1 + includedServices.count) { $0 + 2 + $1.descriptors.count }
    }
}
