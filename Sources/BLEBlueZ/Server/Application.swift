import BLEHost
import BLEPackets

/// An application that offers services (`GattManager1.RegisterApplication`).
struct Application: Registration {
    enum State: Equatable {
        /// Its objects are asked for.
        case loading
        /// Its services are being published.
        case publishing
        case active
    }

    struct Service: Equatable {
        var path: String
        var uuid: BluetoothUUID
        var isPrimary: Bool
        var includes: [String] = []
        var characteristics: [Characteristic] = []
        var wantsHandle = false
        /// The handle of its declaration.
        var handle: AttributeHandle?
    }

    struct Characteristic: Equatable {
        var path: String
        var uuid: BluetoothUUID
        var flags: ServedFlags
        var descriptors: [Descriptor] = []
        var wantsHandle = false
        var valueHandle: AttributeHandle?
        /// The links of its subscribers.
        var subscribers: [LinkID] = []
        /// Values that wait for room.
        var updates: [[UInt8]] = []
        var isUpdating = false
    }

    struct Descriptor: Equatable {
        var path: String
        var uuid: BluetoothUUID
        var flags: ServedFlags
        var handle: AttributeHandle?
    }

    static let method = "RegisterApplication"
    static let limits = RegistrationLimits(all: 64, client: 16, user: 32)
    static let isFull = BusError.notPermitted("Too many applications")

    let number: Int
    let client: String
    let path: String
    var state = State.loading
    var call: BusCall?
    var services: [Service] = []
    /// The object with `GattProfile1`.
    var profile: String?

    init(number: Int, call: BusCall) {
        self.number = number
        client = call.sender
        path = call.text(at: 0)
        self.call = call
    }

    /// The service to publish next: one whose included services are published. `nil`: there is none.
    var nextService: Int? {
        services.firstIndex { service in
            service.handle == nil
                && service.includes.allSatisfy { path in
                    guard let other = services.first(where: { $0.path == path }) else { return true }
                    return other.handle != nil || other.path == service.path
                }
        }
    }

    func definition(of service: Service) -> GATTServiceDefinition {
        GATTServiceDefinition(
            uuid: service.uuid.shortened, isPrimary: service.isPrimary,
            includedServices: service.includes.compactMap { path in
                services.first { $0.path == path && $0.path != service.path }?.handle
            },
            characteristics: service.characteristics.map { characteristic in
                GATTCharacteristicDefinition(
                    uuid: characteristic.uuid.shortened, properties: characteristic.flags.properties,
                    permissions: characteristic.flags.permissions,
                    descriptors: characteristic.descriptors.map {
                        GATTDescriptorDefinition(
                            uuid: $0.uuid.shortened, permissions: $0.flags.permissions, value: nil)
                    }, extendedProperties: characteristic.flags.extended)
            })
    }

    mutating func published(_ place: Int, as published: GATTPublishedService) {
        services[place].handle = published.range.first
        for (index, characteristic) in published.characteristics.enumerated()
        where services[place].characteristics.indices.contains(index) {
            services[place].characteristics[index].valueHandle = characteristic.valueHandle
            for (inner, handle) in characteristic.descriptors.enumerated()
            where services[place].characteristics[index].descriptors.indices.contains(inner) {
                services[place].characteristics[index].descriptors[inner].handle = handle
            }
        }
    }

    /// The path of the value or descriptor with a handle.
    func path(of handle: AttributeHandle) -> (path: String, isDescriptor: Bool)? {
        for characteristic in services.lazy.flatMap(\.characteristics) {
            if characteristic.valueHandle == handle { return (characteristic.path, false) }
            if let descriptor = characteristic.descriptors.first(where: { $0.handle == handle }) {
                return (descriptor.path, true)
            }
        }
        return nil
    }

    /// Changes a characteristic.
    mutating func change(_ path: String, _ body: (inout Characteristic) -> Void) {
        for service in services.indices {
            for index in services[service].characteristics.indices
            where services[service].characteristics[index].path == path {
                return body(&services[service].characteristics[index])
            }
        }
    }
}
