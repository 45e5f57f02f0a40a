import BLEHost
import BLEPackets

/// The discovered database of a remote peripheral, for one central manager (SPEC CEN-11, CEN-12).
struct RemoteDatabase: Equatable {
    /// `nil` before discovery.
    var services: [RemoteService]?
    /// Services that were found only as included services.
    private(set) var includedServices: [RemoteService] = []

    func service(_ id: RemoteAttributeID) -> RemoteService? {
        services?.first { $0.id == id } ?? includedServices.first { $0.id == id }
    }

    mutating func changeService(_ id: RemoteAttributeID, _ change: (inout RemoteService) -> Void) {
        if let index = services?.firstIndex(where: { $0.id == id }) {
            if var service = services?[index] {
                change(&service)
                services?[index] = service
            }
        } else if let index = includedServices.firstIndex(where: { $0.id == id }) {
            change(&includedServices[index])
        }
    }

    /// The first characteristic for which `isWanted` is true.
    func characteristic(where isWanted: (RemoteCharacteristic) -> Bool) -> RemoteCharacteristic? {
        for list in [services ?? [], includedServices] {
            for service in list {
                if let found = service.characteristics?.first(where: isWanted) { return found }
            }
        }
        return nil
    }

    /// The characteristic whose value has this handle. Values may come thousands of times a second.
    func characteristic(withValueAt handle: UInt16) -> RemoteAttributeID? {
        if let services, let found = Self.characteristic(withValueAt: handle, in: services) { return found }
        // One outside of its service, or of a service that is only included.
        return characteristic { $0.valueHandle == handle }?.id
    }

    private static func characteristic(
        withValueAt handle: UInt16, in services: [RemoteService]
    ) -> RemoteAttributeID? {
        // By places: what is taken out of an array is copied, with all that it refers to.
        for service in services.indices {
            guard services[service].id.rawValue < handle, handle <= services[service].endHandle,
                let found = services[service].characteristics?.firstIndex(where: { $0.valueHandle == handle })
            else { continue }
            return services[service].characteristics?[found].id
        }
        return nil
    }

    mutating func changeCharacteristic(_ id: RemoteAttributeID, _ change: (inout RemoteCharacteristic) -> Void) {
        var listed = services ?? []
        Self.change(id, in: &listed, change)
        if services != nil { services = listed }
        Self.change(id, in: &includedServices, change)
    }

    private static func change(
        _ id: RemoteAttributeID, in services: inout [RemoteService], _ change: (inout RemoteCharacteristic) -> Void
    ) {
        for service in services.indices {
            guard var characteristics = services[service].characteristics,
                let index = characteristics.firstIndex(where: { $0.id == id })
            else { continue }
            change(&characteristics[index])
            services[service].characteristics = characteristics
        }
    }

    func descriptor(_ id: RemoteAttributeID) -> RemoteDescriptor? {
        characteristic { $0.descriptors?.contains { $0.id == id } ?? false }?.descriptors?.first { $0.id == id }
    }

    func characteristic(_ id: RemoteAttributeID) -> RemoteCharacteristic? { characteristic { $0.id == id } }

    /// The peer's services have changed (SPEC 2.3 didModifyServices).
    /// - Returns: the identifiers that are no longer valid.
    mutating func invalidate(from first: UInt16, to last: UInt16) -> [RemoteAttributeID] {
        func isGone(_ service: RemoteService) -> Bool { service.id.rawValue <= last && first <= service.endHandle }
        let gone = (services ?? []).filter(isGone).map(\.id)
        services?.removeAll(where: isGone)
        includedServices.removeAll(where: isGone)
        return gone
    }

    // MARK: What is discovered

    /// Adds services; what is known about a service is kept.
    /// - Returns: all services.
    mutating func merge(_ found: [DiscoveredService]) -> [RemoteService] {
        var all = services ?? []
        // Only for lookup, as every set here: a peer may have as many attributes as there are handles.
        var known = Set(all.map(\.id))
        for service in found where known.insert(RemoteAttributeID(service.range.first)).inserted {
            all.append(
                RemoteService(
                    id: RemoteAttributeID(service.range.first), uuid: service.uuid, isPrimary: service.isPrimary,
                    endHandle: service.range.last.rawValue))
        }
        all.sort { $0.id < $1.id }
        services = all
        return all
    }

    mutating func merge(_ found: [DiscoveredInclude], into id: RemoteAttributeID) -> [RemoteService] {
        var known = found.isEmpty ? [] : Set((services ?? []).map(\.id) + includedServices.map(\.id))
        for include in found where known.insert(RemoteAttributeID(include.range.first)).inserted {
            includedServices.append(
                RemoteService(
                    id: RemoteAttributeID(include.range.first), uuid: include.uuid, isPrimary: false,
                    endHandle: include.range.last.rawValue))
        }
        var all: [RemoteAttributeID] = []
        changeService(id) { service in
            all = service.includedServices ?? []
            var listed = Set(all)
            for include in found {
                let id = RemoteAttributeID(include.range.first)
                if listed.insert(id).inserted { all.append(id) }
            }
            service.includedServices = all
        }
        guard !all.isEmpty else { return [] }
        let byID = Dictionary(
            ((services ?? []) + includedServices).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return all.compactMap { byID[$0] }
    }

    mutating func merge(_ found: [DiscoveredCharacteristic], into id: RemoteAttributeID) -> [RemoteCharacteristic] {
        var all: [RemoteCharacteristic] = []
        changeService(id) { service in
            all = service.characteristics ?? []
            var known = Set(all.map(\.id))
            for characteristic in found where known.insert(RemoteAttributeID(characteristic.handle)).inserted {
                all.append(
                    RemoteCharacteristic(
                        id: RemoteAttributeID(characteristic.handle), uuid: characteristic.uuid,
                        properties: characteristic.properties.rawValue, isNotifying: false, descriptors: nil,
                        valueHandle: characteristic.valueHandle.rawValue,
                        endHandle: characteristic.endHandle.rawValue, configuration: nil))
            }
            all.sort { $0.id < $1.id }
            service.characteristics = all
        }
        return all
    }

    mutating func merge(_ found: [DiscoveredDescriptor], into id: RemoteAttributeID) -> [RemoteDescriptor] {
        let descriptors = found.map { RemoteDescriptor(id: RemoteAttributeID($0.handle), uuid: $0.uuid) }
        changeCharacteristic(id) { characteristic in
            characteristic.descriptors = descriptors
            characteristic.configuration =
                found.first { $0.uuid == .clientCharacteristicConfiguration }?.handle.rawValue
                ?? characteristic.configuration
        }
        return descriptors
    }
}

extension RemoteService {
    /// The same service after the end of the link.
    var withoutSubscriptions: RemoteService {
        var service = self
        for place in service.characteristics?.indices ?? 0..<0 { service.characteristics?[place].isNotifying = false }
        return service
    }

    var range: AttributeHandleRange {
        AttributeHandleRange(id.handle, AttributeHandle(rawValue: endHandle))
    }
}

extension RemoteCharacteristic {
    /// How to subscribe; `nil` if the characteristic does not allow it.
    var mode: SubscriptionMode? { CharacteristicProperties(rawValue: properties).subscriptionMode }

    /// The range of the descriptors, after the value.
    var descriptorRange: AttributeHandleRange {
        AttributeHandleRange(
            AttributeHandle(rawValue: valueHandle &+ 1), AttributeHandle(rawValue: endHandle))
    }
}
