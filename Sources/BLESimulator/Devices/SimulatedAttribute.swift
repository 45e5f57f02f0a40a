import BLEPackets

/// One attribute of a simulated device.
struct SimulatedAttribute {
    enum Role: Equatable {
        /// The declaration of a service, and its last handle.
        case service(end: UInt16)
        case declaration
        /// The value of a characteristic, by its number.
        case value(Int)
        /// The client characteristic configuration of a characteristic, by its number.
        case configuration(Int)
        case descriptor
    }

    let handle: UInt16
    let type: BluetoothUUID
    let role: Role
    var permissions: SimulatedPermissions
    /// The maximum length after a write, in octets.
    var maximumLength: Int
    var value: [UInt8]
}

extension SimulatedAttribute {
    static let primaryService = BluetoothUUID(0x2800 as UInt16)
    static let secondaryService = BluetoothUUID(0x2801 as UInt16)
    static let include = BluetoothUUID(0x2802 as UInt16)
    static let characteristic = BluetoothUUID(0x2803 as UInt16)
    static let clientCharacteristicConfiguration = BluetoothUUID(0x2902 as UInt16)

    /// Numbers the attributes of a device's services (Core 5.4, Vol 3, Part G, 3).
    static func table(
        of services: [SimulatedService]
    ) -> (attributes: [SimulatedAttribute], characteristics: [SimulatedCharacteristic], valueHandles: [UInt16]) {
        var attributes: [SimulatedAttribute] = []
        var characteristics: [SimulatedCharacteristic] = []
        var valueHandles: [UInt16] = []
        let ranges = ranges(of: services)
        for (service, range) in zip(services, ranges) {
            var handle = range.lowerBound
            func add(
                _ type: BluetoothUUID, _ role: Role, _ value: [UInt8], _ permissions: SimulatedPermissions = .read,
                maximumLength: Int = 512
            ) {
                attributes.append(
                    SimulatedAttribute(
                        handle: handle, type: type, role: role, permissions: permissions,
                        maximumLength: maximumLength, value: Array(value.prefix(512))))
                handle &+= 1
            }
            add(
                service.isPrimary ? primaryService : secondaryService, .service(end: range.upperBound),
                service.uuid.octets)
            for uuid in service.includedServices {
                guard let position = services.firstIndex(where: { $0.uuid == uuid }), position < ranges.count else {
                    continue
                }
                let included = ranges[position]
                let short = uuid.shortValue.map { $0.octets } ?? []
                add(include, .declaration, included.lowerBound.octets + included.upperBound.octets + short)
            }
            for characteristic in service.characteristics {
                let number = characteristics.count
                add(
                    Self.characteristic, .declaration,
                    [characteristic.properties.rawValue] + (handle &+ 1).octets + characteristic.uuid.octets)
                valueHandles.append(handle)
                add(
                    characteristic.uuid, .value(number), characteristic.value, characteristic.permissions,
                    maximumLength: min(512, max(0, characteristic.maximumLength)))
                characteristics.append(characteristic)
                if characteristic.isConfigurable {
                    add(
                        clientCharacteristicConfiguration, .configuration(number), [0, 0], [.read, .write],
                        maximumLength: 2)
                }
                for descriptor in characteristic.descriptors {
                    add(descriptor.uuid, .descriptor, descriptor.value, descriptor.permissions)
                }
            }
        }
        return (attributes, characteristics, valueHandles)
    }

    /// The handles of each service; services without room are omitted.
    private static func ranges(of services: [SimulatedService]) -> [ClosedRange<UInt16>] {
        var ranges: [ClosedRange<UInt16>] = []
        var next = 1
        for service in services {
            let includes = service.includedServices.count { uuid in services.contains { $0.uuid == uuid } }
            let count = service.characteristics.reduce(1 + includes) {
                $0 + 2 + ($1.isConfigurable ? 1 : 0) + $1.descriptors.count
            }
            let start = max(next, Int(service.startHandle ?? 0))
            guard start + count - 1 <= 0xFFFF else { break }
            ranges.append(UInt16(start)...UInt16(start + count - 1))
            next = start + count
        }
        return ranges
    }
}

extension BluetoothUUID {
    /// The form in ATT: two octets or sixteen, least significant first.
    var octets: [UInt8] {
        var packet = PacketWriter()
        shortened.encode(into: &packet)
        return packet.bytes
    }
}

extension UInt16 {
    /// Least significant first.
    var octets: [UInt8] { [UInt8(truncatingIfNeeded: self), UInt8(truncatingIfNeeded: self >> 8)] }
}
