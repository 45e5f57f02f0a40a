import BLE

/// The services of `serve`, from the profile file:
/// `{"services":[{"uuid":"180D","characteristics":[{"uuid":"2A37","properties":["notify"],"value":"0040"}]}]}`.
struct ServedProfile: Equatable, Sendable {
    struct Service: Equatable, Sendable {
        var uuid: BluetoothUUID
        var isPrimary: Bool
        /// Services of the same profile.
        var includes: [BluetoothUUID]
        var characteristics: [Characteristic]
    }

    struct Characteristic: Equatable, Sendable {
        var uuid: BluetoothUUID
        var properties: CharacteristicProperties
        var permissions: AttributePermissions
        var needsEncryptionToSubscribe: Bool
        /// At the beginning.
        var value: [UInt8]
        var descriptors: [GATTDescriptorDefinition]
        /// How often the value is sent to subscribers; `nil` for only when it changes.
        var notifyEvery: Duration?
        /// How long a central that reads the value waits for it; `nil` for not at all.
        var answerAfter: Duration?

        var isNotifying: Bool { !properties.isDisjoint(with: [.notify, .indicate]) }
        var isBroadcast: Bool { properties.contains(.broadcast) }
    }

    /// The name of the device, if the command line gives none.
    private(set) var name: String?
    /// Each after the services that it includes; otherwise in the order of the file.
    private(set) var services: [Service] = []

    /// - Throws: `Failure` with the place of what is wrong.
    init(_ bytes: [UInt8]) throws {
        let file = try JSONObject(try JSONObject.value(in: bytes), path: "", keys: ["name", "services"])
        name = try file.string("name")
        let keys = ["uuid", "primary", "includes", "characteristics"]
        var waiting: [(service: Service, object: JSONObject)] = []
        for object in try file.objects("services", keys: keys) {
            waiting.append((try Self.service(object), object))
        }
        services = try Self.ordered(waiting)
    }

    /// Orders services after those that they include; otherwise in the order of the file.
    private static func ordered(_ entries: [(service: Service, object: JSONObject)]) throws -> [Service] {
        var missing = entries.map { Set($0.service.includes) }
        var waiting: [BluetoothUUID: [Int]] = [:]
        var ready = IndexHeap()
        for (index, uuids) in missing.enumerated() {
            if uuids.isEmpty { ready.insert(index) }
            for uuid in uuids { waiting[uuid, default: []].append(index) }
        }
        var services: [Service] = []
        while let index = ready.removeLeast() {
            let service = entries[index].service
            services.append(service)
            for other in waiting.removeValue(forKey: service.uuid) ?? [] {
                missing[other].remove(service.uuid)
                if missing[other].isEmpty { ready.insert(other) }
            }
        }
        if services.count < entries.count, let stuck = missing.firstIndex(where: { !$0.isEmpty }) {
            throw entries[stuck].object.failure(
                "includes", "a service can include other services of this profile, but not itself")
        }
        return services
    }

    private static func service(_ object: JSONObject) throws -> Service {
        let keys = ["uuid", "properties", "permissions", "value", "descriptors", "notifyEvery", "answerAfter"]
        return Service(
            uuid: try object.required("uuid", object.uuid), isPrimary: try object.boolean("primary") ?? true,
            includes: try (object.strings("includes") ?? []).map { try object.uuid($0, "includes") },
            characteristics: try object.objects("characteristics", keys: keys).map(characteristic))
    }

    private static func characteristic(_ object: JSONObject) throws -> Characteristic {
        var properties: CharacteristicProperties = []
        var needsEncryption = false
        for name in try object.strings("properties") ?? ["read"] {
            properties.formUnion(try known(name, in: Self.properties, "properties", of: object))
            if name.hasSuffix("EncryptionRequired") { needsEncryption = true }
        }
        let characteristic = Characteristic(
            uuid: try object.required("uuid", object.uuid), properties: properties,
            permissions: try permissions(object) ?? usual(for: properties),
            needsEncryptionToSubscribe: needsEncryption, value: try object.octets("value") ?? [],
            descriptors: try object.objects("descriptors", keys: ["uuid", "value"]).map(descriptor),
            notifyEvery: try object.seconds("notifyEvery").map { .milliseconds(Int64($0 * 1000)) },
            answerAfter: try object.seconds("answerAfter").map { .milliseconds(Int64($0 * 1000)) })
        if characteristic.notifyEvery != nil, !characteristic.isNotifying {
            throw object.failure("notifyEvery", "needs the property notify or indicate")
        }
        if let delay = characteristic.answerAfter {
            guard characteristic.properties.contains(.read) else {
                throw object.failure("answerAfter", "needs the property read")
            }
            // Core 5.4, Vol 3, Part F, 3.3.3.
            guard delay < .seconds(30) else {
                throw object.failure("answerAfter", "must be below 30 seconds, when centrals give up")
            }
        }
        return characteristic
    }

    private static func descriptor(_ object: JSONObject) throws -> GATTDescriptorDefinition {
        GATTDescriptorDefinition(
            uuid: try object.required("uuid", object.uuid), value: try object.octets("value") ?? [])
    }

    // MARK: Core Bluetooth's names

    private static let properties: [(String, CharacteristicProperties)] = [
        ("read", .read), ("writeWithoutResponse", .writeWithoutResponse), ("write", .write), ("notify", .notify),
        ("indicate", .indicate), ("broadcast", .broadcast), ("authenticatedSignedWrites", .authenticatedSignedWrites),
        ("notifyEncryptionRequired", .notify), ("indicateEncryptionRequired", .indicate),
    ]

    private static let permissions: [(String, AttributePermissions)] = [
        ("readable", .readable), ("writeable", .writeable), ("readEncryptionRequired", .readEncryption),
        ("writeEncryptionRequired", .writeEncryption),
    ]

    private static func known<Value>(
        _ name: String, in table: [(String, Value)], _ key: String, of object: JSONObject
    ) throws -> Value {
        guard let entry = table.first(where: { $0.0 == name }) else {
            throw object.failure(key, "‘\(name)’ is not one of \(table.map(\.0).joined(separator: ", "))")
        }
        return entry.1
    }

    private static func permissions(_ object: JSONObject) throws -> AttributePermissions? {
        try object.strings("permissions")?.reduce(into: []) { permissions, name in
            permissions.formUnion(try known(name, in: Self.permissions, "permissions", of: object))
        }
    }

    /// The permissions that the properties imply, for every central.
    private static func usual(for properties: CharacteristicProperties) -> AttributePermissions {
        var permissions: AttributePermissions = []
        if properties.contains(.read) { permissions.insert(.readable) }
        if !properties.isDisjoint(with: [.write, .writeWithoutResponse, .authenticatedSignedWrites]) {
            permissions.insert(.writeable)
        }
        return permissions
    }
}

extension ServedProfile.Service {
    /// - Parameter included: the handles of the included services.
    func definition(including included: [AttributeHandle]) -> GATTServiceDefinition {
        GATTServiceDefinition(
            uuid: uuid, isPrimary: isPrimary, includedServices: included,
            characteristics: characteristics.map { characteristic in
                GATTCharacteristicDefinition(
                    uuid: characteristic.uuid, properties: characteristic.properties,
                    permissions: characteristic.permissions, descriptors: characteristic.descriptors,
                    needsEncryptionToSubscribe: characteristic.needsEncryptionToSubscribe)
            })
    }
}
