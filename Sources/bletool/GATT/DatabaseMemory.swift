import BLE
import BLEScripts
import BLEStateFiles

/// The attributes of bonded devices that have a Database Hash: `databases` in the state folder, so that later
/// connections need not discover them again.
///
/// Each line is an attribute; services, characteristics and descriptors follow what they are in:
///
///     device C0:DE:00:00:00:01/random 0123…
///     service 0x0001 0x0005 primary 1800
///     characteristic 0x0002 0x0003 0x0003 0x02 2A00
struct DatabaseMemory: Sendable {
    /// One device of the file.
    struct Entry: Equatable, Sendable {
        var identity: DeviceAddress
        var database: KnownDatabase
    }

    private static let file = "databases"
    /// Bytes of the file, and of one device in it.
    private static let limit = 1 << 20
    private static let entryLimit = 1 << 17
    /// Devices that are kept; the one that was discovered longest ago makes room.
    static let capacity = 32

    let state: StateDirectory
    /// The identity of the device.
    let identity: DeviceAddress

    /// What is kept of the device. A place that cannot be read is no reason not to discover.
    func recall() -> KnownDatabase? { entries().first { $0.identity == identity }?.database }

    /// Keeps what was discovered, as far as there is room.
    /// - Throws: `StateFileError` when it cannot be kept.
    func save(_ database: KnownDatabase) throws(StateFileError) {
        var entries = entries().filter { $0.identity != identity }
        if database.hash != nil { entries.insert(Entry(identity: identity, database: database), at: 0) }
        try write(entries)
    }

    /// Forgets the device, with which there is no bond any more, or whose attributes have changed.
    func forget() {
        let entries = entries()
        guard entries.contains(where: { $0.identity == identity }) else { return }
        do throws(StateFileError) { try write(entries.filter { $0.identity != identity }) } catch {
            // The hash shows the next connection what is out of date.
        }
    }

    private func entries() -> [Entry] {
        do throws(StateFileError) {
            let folder = try SafeFolder(path: state.path, isMade: false)
            let octets = try folder.read(Self.file, limit: Self.limit) ?? []
            return Self.entries(in: String(decoding: octets, as: UTF8.self))
        } catch {
            return []
        }
    }

    private func write(_ entries: [Entry]) throws(StateFileError) {
        var text: [UInt8] = []
        for entry in entries.prefix(Self.capacity) {
            let lines = Array(Self.text(of: entry).utf8)
            guard lines.count <= Self.entryLimit, text.count + lines.count <= Self.limit else { continue }
            text += lines
        }
        let folder = try SafeFolder(path: state.path, isMade: true)
        try folder.replace(Self.file, with: text)
    }
}

/// The file.
extension DatabaseMemory {
    static func text(of entry: Entry) -> String {
        func number(_ handle: AttributeHandle) -> String { Hexadecimal.number(handle.rawValue, digits: 4) }
        var lines = ["device \(entry.identity) \(Hexadecimal.text(entry.database.hash ?? []))"]
        for contents in entry.database.contents {
            let service = contents.service
            lines.append(
                "service \(number(service.range.first)) \(number(service.range.last)) "
                    + "\(service.isPrimary ? "primary" : "secondary") \(service.uuid)")
            for include in contents.includedServices {
                lines.append(
                    "include \(number(include.handle)) \(number(include.service.range.first)) "
                        + "\(number(include.service.range.last)) \(include.service.uuid)")
            }
            for member in contents.characteristics {
                let found = member.characteristic
                lines.append(
                    "characteristic \(number(found.handle)) \(number(found.valueHandle)) \(number(found.endHandle)) "
                        + "\(Hexadecimal.number(found.properties.rawValue, digits: 2)) \(found.uuid)")
                for descriptor in member.descriptors {
                    lines.append("descriptor \(number(descriptor.handle)) \(descriptor.uuid)")
                }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Reads the file; what has a mistake is worth nothing, as is what follows it.
    static func entries(in text: String) -> [Entry] {
        var entries: [Entry] = []
        for line in text.split(separator: "\n") {
            guard entries.count <= capacity, add(line.split(separator: " ").map(String.init), to: &entries) else {
                // The device at whose attributes it stands is not whole.
                return Array(entries.dropLast())
            }
        }
        return entries
    }

    /// - Returns: whether the line has a meaning where it stands.
    private static func add(_ words: [String], to entries: inout [Entry]) -> Bool {
        guard let kind = words.first else { return false }
        let numbers = words.dropFirst().prefix(4).map { handle($0) }
        switch (kind, words.count) {
        case ("device", 3):
            guard let identity = DeviceAddress(words[1]), let hash = Hexadecimal.bytes(words[2]), hash.count == 16
            else {
                return false
            }
            entries.append(Entry(identity: identity, database: KnownDatabase(hash: hash, contents: [])))
            return true
        case ("service", 5):
            guard let range = range(numbers[0], numbers[1]), ["primary", "secondary"].contains(words[3]),
                let uuid = BluetoothUUID(words[4])
            else { return false }
            return change(&entries) {
                $0.append(
                    ServiceContents(service: Service(uuid: uuid, range: range, isPrimary: words[3] == "primary")))
                return true
            }
        case ("include", 5):
            guard let handle = numbers[0], let range = range(numbers[1], numbers[2]), let uuid = BluetoothUUID(words[4])
            else { return false }
            return change(&entries) {
                guard !$0.isEmpty else { return false }
                let service = Service(uuid: uuid, range: range, isPrimary: false)
                $0[$0.count - 1].includedServices.append(IncludedService(handle: handle, service: service))
                return true
            }
        case ("characteristic", 6):
            guard let handle = numbers[0], let value = numbers[1], let end = numbers[2], handle < value, value <= end,
                let properties = Hexadecimal.bytes(String(words[4].dropFirst(2)))?.first,
                let uuid = BluetoothUUID(words[5])
            else { return false }
            return change(&entries) {
                guard !$0.isEmpty else { return false }
                let found = Characteristic(
                    uuid: uuid, handle: handle, valueHandle: value, endHandle: end,
                    properties: CharacteristicProperties(rawValue: properties))
                $0[$0.count - 1].characteristics.append(.init(characteristic: found, descriptors: []))
                return true
            }
        case ("descriptor", 3):
            guard let handle = numbers[0], let uuid = BluetoothUUID(words[2]) else { return false }
            return change(&entries) {
                guard let members = $0.last?.characteristics.count, members > 0 else { return false }
                $0[$0.count - 1].characteristics[members - 1].descriptors.append(
                    Descriptor(uuid: uuid, handle: handle))
                return true
            }
        default: return false
        }
    }

    /// Changes the services of the last device.
    private static func change(_ entries: inout [Entry], _ body: (inout [ServiceContents]) -> Bool) -> Bool {
        guard !entries.isEmpty else { return false }
        return body(&entries[entries.count - 1].database.contents)
    }

    private static func handle(_ word: String) -> AttributeHandle? {
        guard word.hasPrefix("0x"), let number = UInt16(word.dropFirst(2), radix: 16), number != 0 else { return nil }
        return AttributeHandle(rawValue: number)
    }

    private static func range(_ first: AttributeHandle?, _ last: AttributeHandle?) -> AttributeHandleRange? {
        guard let first, let last, first <= last else { return nil }
        return AttributeHandleRange(first, last)
    }
}

extension Session {
    /// Where the attributes of a device are kept; `nil` without a bond: only a bond proves that it is the same device.
    func databaseMemory(of peripheral: Peripheral, through adapter: Adapter) async -> DatabaseMemory? {
        guard rawAdapter == nil else { return nil }
        let identity = await peripheral.security?.identity ?? peripheral.address
        guard await adapter.bonds.contains(where: { $0.identity == identity }) else { return nil }
        return DatabaseMemory(state: state, identity: identity.withoutIdentityMark)
    }
}
