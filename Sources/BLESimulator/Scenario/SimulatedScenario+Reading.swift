import BLEJSON
import BLEPackets

/// Reads the keys of a scenario.
extension SimulatedScenario {
    static let deviceKeys = [
        "name", "address", "distance", "rssi", "moves", "interval", "advertise", "manufacturerData", "serviceData",
        "connectable", "extended", "coded", "sid", "periodic", "appearance", "mtu", "passkey", "services",
        "responseDelay", "disconnectsAtRequest", "comes", "goes", "kind", "flash", "image", "powerLosses", "linkLosses",
        "buffers", "processors",
    ]

    // MARK: A profile

    /// The device that a profile of `bletool serve` describes, at an address of the simulator's.
    static func device(ofProfile file: ScenarioObject) throws(Problem) -> Device {
        let services = try self.services(file)
        let name = try file.text("name") ?? "Profile"
        let peripheral = SimulatedPeripheral(
            name: name, address: DeviceAddress(value: 0xC0DE_0000_0100, kind: .random), services: services)
        return Device(name: name, address: peripheral.address, role: .peripheral(peripheral), comes: [], goes: [])
    }

    private static func services(_ object: ScenarioObject) throws(Problem) -> [SimulatedService] {
        var services: [SimulatedService] = []
        let objects = try object.objects("services", keys: ["uuid", "primary", "includes", "characteristics"])
        for service in objects { services.append(try self.service(service)) }
        for (service, object) in zip(services, objects) {
            for uuid in service.includedServices where !services.contains(where: { $0.uuid == uuid }) {
                throw object.problem(
                    "includes", "a service can include other services of the same device: there is no \(uuid)")
            }
        }
        return services
    }

    // MARK: Devices

    static func device(_ object: ScenarioObject) throws(Problem) -> Device {
        if object["kind"] != nil { return try updatableDevice(object) }
        for key in ["flash", "image", "powerLosses", "linkLosses", "buffers", "processors"]
        where object[key] != nil {
            throw object.problem(key, "needs a \"kind\": \(updatableKinds.joined(separator: ", "))")
        }
        let address = try object.required("address", try object.address("address"))
        let name = try object.text("name")
        let distance = try object.number("distance", in: 0.01...10_000, "metres")
        let rssi = Int8(try object.integer("rssi", in: -127...20, "dBm") ?? -60)
        let services = try self.services(object)
        let motion = try motion(object)
        let isConnectable = try object.boolean("connectable") ?? (object["services"] != nil)
        let advertisement = try advertisement(object, name: name, services: services, isConnectable: isConnectable)
        let role: Device.Role
        if isConnectable {
            var peripheral = SimulatedPeripheral(
                name: name ?? "", address: address, services: services, advertisement: advertisement, rssi: rssi)
            peripheral.appearance = UInt16(try object.integer("appearance", in: 0...0xFFFF, "an appearance") ?? 0)
            peripheral.maximumMTU = try object.integer("mtu", in: 23...517, "octets") ?? 517
            peripheral.link.disconnectsAtRequest = try object.integer(
                "disconnectsAtRequest", in: 1...1_000_000, "requests")
            if let delay = try object.number("responseDelay", in: 0...60, "seconds") {
                peripheral.link.responseDelayMicroseconds = Int64(delay * 1e6)
            }
            if let passkey = try object.integer("passkey", in: 0...999_999, "a passkey") {
                peripheral.link.pairing = SimulatedPairing(
                    passkey: UInt32(passkey),
                    longTermKey: SimulatedLongTermKey(
                        key: Key128(rawValue: UInt128(address.value) << 64 | 1), randomNumber: address.value,
                        encryptedDiversifier: 1))
            }
            peripheral.motion = motion
            role = .peripheral(peripheral)
        } else {
            guard services.isEmpty else {
                throw object.problem("connectable", "a device with services must be connectable")
            }
            if object["passkey"] != nil { throw object.problem("passkey", "needs a device that is connectable") }
            var broadcaster = SimulatedBroadcaster(address: address, advertisement: advertisement, rssi: rssi)
            broadcaster.motion = motion
            role = .broadcaster(broadcaster)
        }
        return Device(
            name: name, address: address, role: role, distance: distance, comes: try object.times("comes"),
            goes: try object.times("goes"))
    }

    private static func motion(_ object: ScenarioObject) throws(Problem) -> SimulatedMotion? {
        guard let value = object["moves"] else { return nil }
        let inner = try ScenarioObject(value, path: object.place("moves"), keys: ["decibels", "period"])
        let decibels = try inner.required("decibels", try inner.integer("decibels", in: 0...60, "dB"))
        let period = try inner.number("period", in: 1...1e6, "seconds") ?? 60
        return SimulatedMotion(decibels: Int8(decibels), periodMicroseconds: Int64(period * 1e6))
    }

    private static func advertisement(
        _ object: ScenarioObject, name: String?, services: [SimulatedService], isConnectable: Bool
    ) throws(Problem) -> SimulatedAdvertisement {
        var uuids: [BluetoothUUID] = []
        for text in try object.texts("advertise") { uuids.append(try object.uuid(text, "advertise")) }
        if object["advertise"] == nil { uuids = services.filter(\.isPrimary).map(\.uuid) }
        var manufacturerData: (company: UInt16, data: [UInt8])?
        if let octets = try object.octets("manufacturerData", limit: 29) {
            guard octets.count >= 2 else {
                throw object.problem(
                    "manufacturerData", "must start with the two octets of the company, least significant first")
            }
            manufacturerData = (UInt16(octets[0]) | UInt16(octets[1]) << 8, Array(octets[2...]))
        }
        var serviceData: (uuid: BluetoothUUID, data: [UInt8])?
        if let value = object["serviceData"] {
            let inner = try ScenarioObject(value, path: object.place("serviceData"), keys: ["uuid", "value"])
            serviceData = (
                try inner.required("uuid", try inner.uuid("uuid")), try inner.octets("value", limit: 27) ?? []
            )
        }
        let interval = try object.number("interval", in: 0.02...10_000, "seconds") ?? 0.1
        var advertisement = SimulatedAdvertisement(
            name: name, serviceUUIDs: uuids, manufacturerData: manufacturerData, serviceData: serviceData,
            intervalMicroseconds: Int64(interval * 1e6), isConnectable: isConnectable, isScannable: isConnectable)
        advertisement.isExtended = try object.boolean("extended") ?? false
        if try object.boolean("coded") ?? false {
            advertisement.primaryPHY = .leCoded
            advertisement.secondaryPHY = .leCoded
        }
        advertisement.advertisingSetIdentifier = UInt8(try object.integer("sid", in: 0...15, "a SID") ?? 0)
        if let value = object["periodic"] {
            let inner = try ScenarioObject(value, path: object.place("periodic"), keys: ["interval", "value"])
            let interval = try inner.number("interval", in: 0.0075...81.91875, "seconds") ?? 0.1
            advertisement.train = SimulatedTrain(
                data: try inner.octets("value", limit: 1650) ?? [], intervalMicroseconds: Int64(interval * 1e6))
        }
        let needsExtension = ["coded", "sid", "periodic"].first { object[$0] != nil }
        if let needsExtension, !advertisement.isExtended {
            throw object.problem(needsExtension, "needs \"extended\": true")
        }
        if advertisement.train != nil, isConnectable {
            throw object.problem("periodic", "needs a device that is not connectable")
        }
        if advertisement.isExtended, isConnectable {
            // Such an advertisement has no scan response (Core 5.4, Vol 6, Part B, 4.4.2.4).
            advertisement.data += advertisement.scanResponse
            advertisement.scanResponse = []
        }
        return advertisement
    }

    private static func service(_ object: ScenarioObject) throws(Problem) -> SimulatedService {
        let keys = [
            "uuid", "properties", "permissions", "value", "notifyEvery", "answerAfter", "descriptors", "readError",
            "writeError", "encrypted", "authenticated", "configuration",
        ]
        var characteristics: [SimulatedCharacteristic] = []
        for characteristic in try object.objects("characteristics", keys: keys) {
            characteristics.append(try self.characteristic(characteristic))
        }
        var includes: [BluetoothUUID] = []
        for text in try object.texts("includes") { includes.append(try object.uuid(text, "includes")) }
        return SimulatedService(
            try object.required("uuid", try object.uuid("uuid")), isPrimary: try object.boolean("primary") ?? true,
            includedServices: includes, characteristics: characteristics)
    }

    private static let properties: [(String, SimulatedProperties)] = [
        ("read", .read), ("write", .write), ("writeWithoutResponse", .writeWithoutResponse), ("notify", .notify),
        ("indicate", .indicate), ("broadcast", .broadcast), ("authenticatedSignedWrites", .authenticatedSignedWrites),
        ("notifyEncryptionRequired", .notify), ("indicateEncryptionRequired", .indicate),
    ]

    /// As profiles name them.
    private static let permissions: [(String, SimulatedPermissions)] = [
        ("readable", .read), ("writeable", .write), ("readEncryptionRequired", .readEncrypted),
        ("writeEncryptionRequired", .writeEncrypted),
    ]

    private static func known<Value>(
        _ name: String, in table: [(String, Value)], _ key: String, of object: ScenarioObject
    ) throws(Problem) -> Value {
        guard let value = table.first(where: { $0.0 == name })?.1 else {
            throw object.problem(key, "‘\(name)’ is not one of \(table.map(\.0).joined(separator: ", "))")
        }
        return value
    }

    private static func characteristic(_ object: ScenarioObject) throws(Problem) -> SimulatedCharacteristic {
        var properties: SimulatedProperties = object["properties"] == nil ? .read : []
        for name in try object.texts("properties") {
            properties.formUnion(try known(name, in: Self.properties, "properties", of: object))
        }
        var permissions: SimulatedPermissions?
        for name in try object.texts("permissions") {
            permissions = (permissions ?? []).union(try known(name, in: Self.permissions, "permissions", of: object))
        }
        var descriptors: [SimulatedDescriptor] = []
        for descriptor in try object.objects("descriptors", keys: ["uuid", "value"]) {
            descriptors.append(
                SimulatedDescriptor(
                    try descriptor.required("uuid", try descriptor.uuid("uuid")),
                    value: try descriptor.octets("value") ?? []))
        }
        var characteristic = SimulatedCharacteristic(
            try object.required("uuid", try object.uuid("uuid")), properties, value: try object.octets("value") ?? [],
            permissions: permissions, descriptors: descriptors)
        characteristic.hasConfiguration = try object.boolean("configuration") ?? true
        if let period = try object.number("notifyEvery", in: 0.001...1e6, "seconds") {
            guard !properties.isDisjoint(with: [.notify, .indicate]) else {
                throw object.problem("notifyEvery", "needs the property notify or indicate")
            }
            characteristic.notifyEveryMicroseconds = Int64(period * 1e6)
        }
        if let delay = try object.number("answerAfter", in: 0...60, "seconds") {
            characteristic.readDelayMicroseconds = Int64(delay * 1e6)
        }
        characteristic.readError = try object.integer("readError", in: 1...255, "an ATT error")
            .map { ATTError(rawValue: UInt8($0)) }
        characteristic.writeError = try object.integer("writeError", in: 1...255, "an ATT error")
            .map { ATTError(rawValue: UInt8($0)) }
        if try object.boolean("encrypted") ?? false {
            characteristic.permissions.protect(.readEncrypted, .writeEncrypted)
        }
        if try object.boolean("authenticated") ?? false {
            characteristic.permissions.protect(.readAuthenticated, .writeAuthenticated)
        }
        return characteristic
    }
}

extension SimulatedPermissions {
    /// Requires more of those who may read, and of those who may write.
    fileprivate mutating func protect(_ reading: SimulatedPermissions, _ writing: SimulatedPermissions) {
        if contains(.read) { insert(reading) }
        if contains(.write) { insert(writing) }
    }
}
