import BLEHost
import BLEPackets

/// A step in finding out what a device offers.
enum DiscoveryStep: Hashable {
    case mtu, services, includes, characteristics, descriptors
    /// The value of Characteristic Extended Properties, by the handle of the characteristic.
    case extendedProperties(AttributeHandle)
}

/// Finds out what a device offers, with few requests: characteristics and includes are searched over all services at
/// once, and each request is submitted before the one before it has ended.
struct DatabaseDiscovery {
    /// What to ask next.
    struct Request {
        var operation: GATTOperation
        var step: DiscoveryStep
    }

    /// The discovery that this is: answers to an earlier one do not count.
    let round: UInt64
    private var services: [DiscoveredService] = []
    private var includes: [DiscoveredInclude] = []
    private var characteristics: [DiscoveredCharacteristic] = []
    private var descriptors: [DiscoveredDescriptor] = []
    private var extended: [AttributeHandle: UInt16] = [:]
    private var openRequests = 0
    /// Requests for which there was no room yet, the next one last.
    private var waiting: [Request] = []
    private var hasAskedForDescriptors = false
    private var hasAskedForExtensions = false
    private var searchedSpans: [AttributeHandleRange] = []

    private static let attributeLimit = 8192
    /// How many requests are under way at once: the daemon has room for some of each program.
    private static let requestLimit = 32
    /// As BlueZ offers it.
    private static let preferredMTU: UInt16 = 517

    init(round: UInt64) { self.round = round }

    mutating func begin() -> [Request] {
        openRequests = 2
        return [
            Request(operation: .exchangeMTU(preferred: Self.preferredMTU), step: .mtu),
            Request(operation: .discoverServices(uuids: []), step: .services),
        ]
    }

    enum Outcome {
        case goOn([Request])
        case found([RemoteDatabase.Service])
        case failed
    }

    mutating func receive(_ result: GATTResult?, for step: DiscoveryStep) -> Outcome {
        openRequests -= 1
        var requests: [Request] = []
        switch (step, result) {
        case (.mtu, _): break
        case (.services, .services(let found)):
            services = found.filter { $0.range.isValid }.sorted { $0.range.first < $1.range.first }
            guard let first = services.first?.range.first, let last = services.map(\.range.last).max() else { break }
            let span = AttributeHandleRange(first, last)
            searchedSpans.append(span)
            requests = [
                Request(operation: .discoverIncludedServices(span), step: .includes),
                Request(operation: .discoverCharacteristics(span, uuids: []), step: .characteristics),
            ]
        case (.includes, .includedServices(let found)): includes += found
        case (.characteristics, .characteristics(let found)): characteristics += found
        case (.descriptors, .descriptors(let found)): descriptors += found
        case (.extendedProperties(let handle), .value(let value)):
            extended[handle] = value.first.map(UInt16.init) ?? 0
        // What a device does not want to say about its extensions is no reason to give up.
        case (.extendedProperties, _): break
        default: return .failed
        }
        guard services.count + includes.count + characteristics.count + descriptors.count <= Self.attributeLimit else {
            return .failed
        }
        waiting = requests.reversed() + waiting
        if openRequests == 0, waiting.isEmpty { waiting = furtherRequests().reversed() }
        guard openRequests > 0 || !waiting.isEmpty else { return .found(whole) }
        return .goOn(takeRequests())
    }

    private mutating func takeRequests() -> [Request] {
        var taken: [Request] = []
        while openRequests < Self.requestLimit, let request = waiting.popLast() {
            taken.append(request)
            openRequests += 1
        }
        return taken
    }

    /// All requests so far have been answered.
    private mutating func furtherRequests() -> [Request] {
        var requests = secondaryRequests()
        if requests.isEmpty, !hasAskedForDescriptors {
            hasAskedForDescriptors = true
            clip()
            requests = descriptorRequests()
        }
        if requests.isEmpty, !hasAskedForExtensions {
            hasAskedForExtensions = true
            requests = extensionRequests()
        }
        return requests
    }

    /// Secondary services are found by the services that include them.
    private mutating func secondaryRequests() -> [Request] {
        guard !hasAskedForDescriptors else { return [] }
        var requests: [Request] = []
        for include in includes.sorted(by: { $0.range.first < $1.range.first }) {
            let range = include.range
            let isKnown = services.contains { $0.range.first <= range.last && range.first <= $0.range.last }
            guard range.isValid, !isKnown else { continue }
            services.append(DiscoveredService(uuid: include.uuid, range: range, isPrimary: false))
            guard !searchedSpans.contains(where: { $0.first <= range.last && range.first <= $0.last }) else { continue }
            searchedSpans.append(range)
            requests.append(
                Request(operation: .discoverCharacteristics(range, uuids: []), step: .characteristics))
        }
        services.sort { $0.range.first < $1.range.first }
        return requests
    }

    /// A search over several services does not know where each of them ends.
    private mutating func clip() {
        characteristics.sort { $0.handle < $1.handle }
        for index in characteristics.indices {
            let characteristic = characteristics[index]
            guard let place = services.lastIndex(where: { $0.range.contains(characteristic.handle) }) else { continue }
            var end = min(characteristic.endHandle, services[place].range.last)
            if place + 1 < services.count, services[place + 1].range.first > characteristic.handle {
                end = min(end, AttributeHandle(rawValue: services[place + 1].range.first.rawValue - 1))
            }
            characteristics[index].endHandle = max(end, characteristic.valueHandle)
        }
    }

    private func descriptorRequests() -> [Request] {
        characteristics.compactMap { characteristic in
            guard let first = characteristic.valueHandle.next, first <= characteristic.endHandle else { return nil }
            return Request(
                operation: .discoverDescriptors(AttributeHandleRange(first, characteristic.endHandle)),
                step: .descriptors)
        }
    }

    private func extensionRequests() -> [Request] {
        characteristics.filter { $0.properties.contains(.extendedProperties) }.compactMap { characteristic in
            let descriptor = descriptors.first {
                $0.uuid == BluetoothUUID(UInt16(0x2900)) && characteristic.valueHandle < $0.handle
                    && $0.handle <= characteristic.endHandle
            }
            return descriptor.map {
                Request(operation: .read($0.handle), step: .extendedProperties(characteristic.handle))
            }
        }
    }

    private var whole: [RemoteDatabase.Service] {
        let sorted = descriptors.sorted { $0.handle < $1.handle }
        var found = services.map { service in
            RemoteDatabase.Service(
                range: service.range, uuid: service.uuid, isPrimary: service.isPrimary,
                includes: includes.filter { service.range.contains($0.handle) }.map(\.range.first))
        }
        for characteristic in characteristics {
            guard let place = services.lastIndex(where: { $0.range.contains(characteristic.handle) }) else { continue }
            found[place].characteristics.append(
                RemoteDatabase.Characteristic(
                    handle: characteristic.handle, valueHandle: characteristic.valueHandle,
                    endHandle: characteristic.endHandle, properties: characteristic.properties,
                    extendedProperties: extended[characteristic.handle] ?? 0, uuid: characteristic.uuid,
                    descriptors: sorted.filter {
                        characteristic.valueHandle < $0.handle && $0.handle <= characteristic.endHandle
                    }))
        }
        return found
    }
}
