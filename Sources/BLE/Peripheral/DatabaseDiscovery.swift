import BLEHost
import BLEPackets

/// Reads a peer's whole database in few requests.
///
/// Includes and characteristics are searched over all services at once instead of service by service, and one Find
/// Information serves several characteristics where only attributes of the same width stand between them: a connection
/// event is spent on each request, and on a slow link those are what a discovery costs.
struct DatabaseDiscovery {
    let peripheral: Peripheral

    /// - Parameter uuids: only these services; empty: all primary ones, and the secondary ones that they include.
    func run(_ uuids: [BluetoothUUID]) async throws(AdapterError) -> [ServiceContents] {
        var services = try await peripheral.discoverServices(uuids)
        guard let first = services.first, let last = services.last else { return [] }
        let spans =
            uuids.isEmpty ? [AttributeHandleRange(first.range.first, last.range.last)] : services.map { $0.range }
        var includes: [IncludedService] = []
        for span in spans { includes += try await peripheral.discoverIncludedServices(in: span) }
        var characteristics: [Characteristic] = []
        for span in spans { characteristics += try await peripheral.discoverCharacteristics([], in: span) }

        for secondary in secondaryServices(among: includes, besides: services) {
            services.append(secondary)
            if !spans.contains(where: { $0.first <= secondary.range.first && secondary.range.last <= $0.last }) {
                characteristics += try await peripheral.discoverCharacteristics([], in: secondary.range)
            }
        }
        services.sort { $0.range.first < $1.range.first }
        characteristics = clipped(characteristics, to: services)
        var descriptors: [Descriptor] = []
        for range in Self.searchRanges(for: characteristics, services: services, includes: includes) {
            guard case .descriptors(let found) = try await peripheral.gatt(.discoverDescriptors(range)) else {
                continue
            }
            descriptors += found.map { Descriptor(uuid: $0.uuid, handle: $0.handle) }
        }
        return services.map { service in
            contents(of: service, includes: includes, characteristics: characteristics, descriptors: descriptors)
        }
    }

    private func secondaryServices(among includes: [IncludedService], besides services: [Service]) -> [Service] {
        var found: [Service] = []
        for include in includes
        where !services.contains(where: { $0.range == include.service.range })
            && !found.contains(where: { $0.range == include.service.range })
        {
            found.append(include.service)
        }
        return found
    }

    /// A search over several services cannot know where each of them ends.
    private func clipped(_ characteristics: [Characteristic], to services: [Service]) -> [Characteristic] {
        characteristics.sorted { $0.handle < $1.handle }.map { characteristic in
            let home = services.first {
                $0.range.first <= characteristic.handle && characteristic.handle <= $0.range.last
            }
            guard let end = home?.range.last, end < characteristic.endHandle else { return characteristic }
            return Characteristic(
                uuid: characteristic.uuid, handle: characteristic.handle, valueHandle: characteristic.valueHandle,
                endHandle: max(end, characteristic.valueHandle), properties: characteristic.properties)
        }
    }

    private func contents(
        of service: Service, includes: [IncludedService], characteristics: [Characteristic], descriptors: [Descriptor]
    ) -> ServiceContents {
        func isInside(_ handle: AttributeHandle) -> Bool {
            service.range.first <= handle && handle <= service.range.last
        }
        return ServiceContents(
            service: service, includedServices: includes.filter { isInside($0.handle) },
            characteristics: characteristics.filter { isInside($0.handle) }.map { characteristic in
                ServiceContents.CharacteristicContents(
                    characteristic: characteristic,
                    descriptors: descriptors.filter {
                        characteristic.valueHandle < $0.handle && $0.handle <= characteristic.endHandle
                    })
            })
    }

    /// Where descriptors may stand, neighbours joined when all that lies between them is known to have 16-bit types: one
    /// answer then carries them together.
    static func searchRanges(
        for characteristics: [Characteristic], services: [Service], includes: [IncludedService]
    ) -> [AttributeHandleRange] {
        var shortTypes = Set<AttributeHandle>()
        for service in services { shortTypes.insert(service.range.first) }
        for include in includes { shortTypes.insert(include.handle) }
        for characteristic in characteristics {
            shortTypes.insert(characteristic.handle)
            if characteristic.uuid.shortValue != nil { shortTypes.insert(characteristic.valueHandle) }
        }
        var ranges: [AttributeHandleRange] = []
        for gap in characteristics.compactMap({ $0.descriptorRange }) {
            if let previous = ranges.last, previous.last < gap.first,
                (UInt32(previous.last.rawValue) + 1..<UInt32(gap.first.rawValue)).allSatisfy({
                    shortTypes.contains(AttributeHandle(rawValue: UInt16($0)))
                })
            {
                ranges[ranges.count - 1] = AttributeHandleRange(previous.first, gap.last)
            } else {
                ranges.append(gap)
            }
        }
        return ranges
    }
}
