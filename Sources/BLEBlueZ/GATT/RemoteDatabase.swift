import BLEHost
import BLEPackets

/// What a device offers, with the paths of the objects that show it.
struct RemoteDatabase {
    struct Service: Equatable {
        var range: AttributeHandleRange
        var uuid: BluetoothUUID
        var isPrimary: Bool
        /// The first handles of services that it includes.
        var includes: [AttributeHandle] = []
        var characteristics: [Characteristic] = []
    }

    struct Characteristic: Equatable {
        var handle: AttributeHandle
        var valueHandle: AttributeHandle
        var endHandle: AttributeHandle
        var properties: CharacteristicProperties
        /// The value of Characteristic Extended Properties; 0 without one.
        var extendedProperties: UInt16 = 0
        var uuid: BluetoothUUID
        var descriptors: [DiscoveredDescriptor] = []

        var configuration: AttributeHandle? {
            descriptors.first { $0.uuid == .clientCharacteristicConfiguration }?.handle
        }
    }

    /// Where an attribute is.
    enum Place: Equatable {
        case service(Int)
        case characteristic(Int, Int)
        case descriptor(Int, Int, Int)
    }

    let services: [Service]
    /// Only for lookup.
    private var places: [String: Place] = [:]
    private var pathsOfValues: [AttributeHandle: String] = [:]
    /// How characteristics are used, by path. Only for lookup.
    var uses: [String: CharacteristicUse] = [:]
    /// The paths of all objects, parents first.
    private(set) var paths: [String] = []
    /// The same, children first, those of one parent in their order.
    var pathsChildrenFirst: [String] {
        var done: [String] = []
        var open: [String] = []
        for path in paths {
            while let last = open.last, !path.hasPrefix(last + "/") { done.append(open.removeLast()) }
            open.append(path)
        }
        return done + open.reversed()
    }

    /// - Parameter device: its path.
    init(_ services: [Service], of device: String) {
        self.services = services
        for (serviceIndex, service) in services.enumerated() where !Self.isHidden(service) {
            let path = ObjectPaths.service(service.range.first, of: device)
            note(path, .service(serviceIndex))
            for (index, characteristic) in service.characteristics.enumerated() {
                let inner = ObjectPaths.characteristic(characteristic.handle, of: path)
                note(inner, .characteristic(serviceIndex, index))
                pathsOfValues[characteristic.valueHandle] = inner
                for (innermost, descriptor) in characteristic.descriptors.enumerated() {
                    note(
                        ObjectPaths.descriptor(descriptor.handle, of: inner),
                        .descriptor(serviceIndex, index, innermost))
                }
            }
        }
    }

    private mutating func note(_ path: String, _ place: Place) {
        guard places[path] == nil else { return }
        places[path] = place
        paths.append(path)
    }

    /// Generic Access is this service's own affair.
    private static func isHidden(_ service: Service) -> Bool { service.uuid == BluetoothUUID(UInt16(0x1800)) }

    func place(of path: String) -> Place? { places[path] }

    /// Changes how a characteristic is used.
    mutating func change(_ path: String, _ body: (inout CharacteristicUse) -> Void) {
        body(&uses[path, default: CharacteristicUse()])
    }

    func characteristic(_ path: String) -> Characteristic? {
        guard case .characteristic(let service, let index) = places[path] else { return nil }
        return services[service].characteristics[index]
    }

    func descriptor(_ path: String) -> DiscoveredDescriptor? {
        guard case .descriptor(let service, let index, let innermost) = places[path] else { return nil }
        return services[service].characteristics[index].descriptors[innermost]
    }

    /// The path of the characteristic with a value.
    func path(ofValue handle: AttributeHandle) -> String? { pathsOfValues[handle] }

    /// The first characteristic of a type in a service of a type.
    func characteristic(_ uuid: UInt16, in service: UInt16) -> Characteristic? {
        services.lazy.filter { $0.uuid == BluetoothUUID(service) }.flatMap(\.characteristics).first {
            $0.uuid == BluetoothUUID(uuid)
        }
    }

    // MARK: As objects

    func interface(of path: String, device: String, mtu: Int) -> ObjectTree.Interface? {
        switch places[path] {
        case .service(let index):
            let service = services[index]
            return ObjectTree.Interface(
                name: InterfaceName.service,
                properties: [
                    ("UUID", .string(service.uuid.wholeText)), ("Device", .path(device)),
                    ("Primary", .boolean(service.isPrimary)),
                    ("Includes", .paths(service.includes.map { ObjectPaths.service($0, of: device) })),
                ])
        case .characteristic(let service, let index):
            let characteristic = services[service].characteristics[index]
            var properties: [(name: String, value: BusValue)] = [
                ("UUID", .string(characteristic.uuid.wholeText)),
                ("Service", .path(ObjectPaths.service(services[service].range.first, of: device))),
                ("Value", .octets([])),
            ]
            if characteristic.properties.subscriptionMode != nil { properties.append(("Notifying", .boolean(false))) }
            properties.append(("Flags", .strings(characteristic.flags)))
            // Programs choose the way by which of these are there.
            if characteristic.properties.contains(.writeWithoutResponse) {
                properties.append(("WriteAcquired", .boolean(false)))
            }
            if characteristic.properties.contains(.notify) { properties.append(("NotifyAcquired", .boolean(false))) }
            properties.append(("MTU", .uint16(UInt16(clamping: mtu))))
            return ObjectTree.Interface(name: InterfaceName.characteristic, properties: properties)
        case .descriptor(let service, let index, let innermost):
            let characteristic = services[service].characteristics[index]
            let parent = ObjectPaths.service(services[service].range.first, of: device)
            return ObjectTree.Interface(
                name: InterfaceName.descriptor,
                properties: [
                    ("UUID", .string(characteristic.descriptors[innermost].uuid.wholeText)),
                    ("Characteristic", .path(ObjectPaths.characteristic(characteristic.handle, of: parent))),
                    ("Value", .octets([])),
                ])
        case nil: return nil
        }
    }
}

extension RemoteDatabase.Characteristic {
    /// The names of its properties, in BlueZ's order.
    var flags: [String] {
        let names: [(CharacteristicProperties, String)] = [
            (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "write-without-response"),
            (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
            (.authenticatedSignedWrites, "authenticated-signed-writes"), (.extendedProperties, "extended-properties"),
        ]
        var flags = names.filter { properties.contains($0.0) }.map(\.1)
        if extendedProperties & 1 != 0 { flags.append("reliable-write") }
        if extendedProperties & 2 != 0 { flags.append("writable-auxiliaries") }
        return flags
    }
}

/// How a characteristic is used.
struct CharacteristicUse {
    /// The peer's configuration.
    enum Subscription: Equatable { case none, starting, active, stopping }

    var subscription = Subscription.none
    /// Clients whose notify session has begun.
    var sessions: [String] = []
    /// Calls of StartNotify and AcquireNotify that wait for the peer's answer.
    var waiting: [BusCall] = []
    var notifySocket: SocketID?
    var writeSocket: SocketID?
}

/// A socket that a client has acquired.
struct SocketUse {
    enum Kind: Equatable { case notify, write }

    var client: String
    var user: UInt32
    var attribute: Work.AttributeUse
    var kind: Kind
    /// Writes that the daemon has not ended.
    var pendingWrites = 0
    /// What was received and waits for a place; nothing more is read meanwhile.
    var unsent: [[UInt8]] = []
    var isPaused = false
}
