import BLEPackets

/// An application's objects, as its `GetManagedObjects` shows them.
extension Application {
    private static let objectLimit = 2048

    /// Takes over what the client shows.
    /// - Throws: what is wrong with it.
    mutating func take(_ value: BusValue?) throws(BusError) {
        let objects = Self.objects(in: value)
        guard objects.count <= Self.objectLimit else { throw .failed("Failed to create entry in database") }
        var characteristics: [(service: String, Characteristic)] = []
        var descriptors: [(characteristic: String, Descriptor)] = []
        for object in objects {
            if let properties = object.interfaces[InterfaceName.service] {
                guard let uuid = properties["UUID"]?.text.flatMap({ BluetoothUUID(bluez: $0) }) else {
                    throw Self.unusable
                }
                var service = Service(
                    path: object.path, uuid: uuid, isPrimary: properties["Primary"]?.boolean ?? true)
                service.includes = Self.paths(properties["Includes"])
                service.wantsHandle = properties["Handle"] != nil
                services.append(service)
            }
            if let properties = object.interfaces[InterfaceName.characteristic] {
                guard let uuid = properties["UUID"]?.text.flatMap({ BluetoothUUID(bluez: $0) }),
                    let service = properties["Service"]?.text,
                    let flags = ServedFlags(properties["Flags"]?.texts ?? [])
                else { throw Self.unusable }
                var characteristic = Characteristic(path: object.path, uuid: uuid, flags: flags)
                characteristic.wantsHandle = properties["Handle"] != nil
                characteristics.append((service, characteristic))
            }
            if let properties = object.interfaces[InterfaceName.descriptor] {
                guard let uuid = properties["UUID"]?.text.flatMap({ BluetoothUUID(bluez: $0) }),
                    let characteristic = properties["Characteristic"]?.text,
                    let flags = ServedFlags(properties["Flags"]?.texts ?? [])
                else { throw Self.unusable }
                // The server has these itself.
                guard uuid != BluetoothUUID(UInt16(0x2902)), uuid != BluetoothUUID(UInt16(0x2900)) else { continue }
                descriptors.append((characteristic, Descriptor(path: object.path, uuid: uuid, flags: flags)))
            }
            if object.interfaces[InterfaceName.gattProfile] != nil { profile = object.path }
        }
        guard !services.isEmpty || profile != nil else { throw .failed("No object received") }
        for (parent, descriptor) in descriptors {
            guard let place = characteristics.firstIndex(where: { $0.1.path == parent }) else { throw Self.unusable }
            characteristics[place].1.descriptors.append(descriptor)
        }
        for (parent, characteristic) in characteristics {
            guard let place = services.firstIndex(where: { $0.path == parent }) else { throw Self.unusable }
            services[place].characteristics.append(characteristic)
        }
    }

    private static let unusable = BusError.failed("Failed to create entry in database")

    private static func paths(_ value: BusValue?) -> [String] {
        guard case .array("o", let values) = value else { return [] }
        return values.compactMap(\.text)
    }

    /// An object of a client, with the properties of each interface.
    struct Object {
        var path: String
        var interfaces: [String: [String: BusValue]]
    }

    /// The objects in an `a{oa{sa{sv}}}`, in the order of their paths: so they get their handles.
    static func objects(in value: BusValue?) -> [Object] {
        guard case .dictionary("oa{sa{sv}}", let entries) = value else { return [] }
        var objects: [Object] = []
        for entry in entries {
            guard case .path(let path) = entry.key, case .dictionary("sa{sv}", let interfaces) = entry.value else {
                continue
            }
            var object = Object(path: path, interfaces: [:])
            for interface in interfaces {
                guard case .string(let name) = interface.key, let options = interface.value.options else { continue }
                object.interfaces[name] = Dictionary(options.map { ($0.name, $0.value) }) { first, _ in first }
            }
            objects.append(object)
        }
        // With numbers in paths as numbers: characteristic10 comes after characteristic9.
        return objects.sorted { ($0.path.utf8.count, $0.path) < ($1.path.utf8.count, $1.path) }
    }
}
