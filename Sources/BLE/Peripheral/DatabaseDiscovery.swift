import BLEPackets

/// Discovers a peer's whole database with few requests.
///
/// Includes and characteristics are searched over all services at once instead of service by service, and one Find
/// Information Request serves several characteristics if only attributes of the same width are between them: each
/// request takes a connection event, which is the cost of a discovery on a slow link.
struct DatabaseDiscovery {
    let peripheral: Peripheral
    /// How many attributes may still be found: each response has at least one, and real databases have some hundreds.
    private var budget = Self.attributeLimit
    /// Searches that may still be made.
    private var searches = Self.searchLimit

    /// The maximum number of attributes that one discovery may find.
    static let attributeLimit = 8192
    static let searchLimit = 4096

    init(peripheral: Peripheral) { self.peripheral = peripheral }

    /// The handles of all services. The one that begins last may be inside another one, and end before it.
    static func span(of services: [Service]) -> AttributeHandleRange? {
        guard let first = services.map(\.range.first).min(), let last = services.map(\.range.last).max() else {
            return nil
        }
        return AttributeHandleRange(first, last)
    }

    /// - Parameter uuids: only these services; empty: all primary ones, and the secondary ones that they include.
    mutating func run(_ uuids: [BluetoothUUID]) async throws -> [ServiceContents] {
        var services = try spend(await peripheral.discoverServices(uuids))
        guard let span = Self.span(of: services) else { return [] }
        var spans = HandleSpans()
        if uuids.isEmpty {
            spans.insert(span)
        } else {
            for service in services { spans.insert(service.range) }
        }
        var includes: [IncludedService] = []
        for span in spans.ranges { includes += try spend(await peripheral.discoverIncludedServices(in: span)) }
        var characteristics: [Characteristic] = []
        for span in spans.ranges {
            characteristics += try spend(await peripheral.discoverCharacteristics([], in: span))
        }

        // No handle is searched twice, because a server may state any range in an include, and any number of them.
        for secondary in Self.secondaryServices(among: includes, besides: services) {
            services.append(secondary)
            guard !spans.overlaps(secondary.range) else { continue }
            spans.insert(secondary.range)
            characteristics += try spend(await peripheral.discoverCharacteristics([], in: secondary.range))
        }
        services.sort { $0.range.first < $1.range.first }
        characteristics = Self.clipped(characteristics, to: services)
        var descriptors: [Descriptor] = []
        // A Find Information Response has a header of two octets, and four for each 16-bit type.
        let length = (await peripheral.attMTU - 2) / 4
        let ranges = Self.searchRanges(
            for: characteristics, services: services, includes: includes, length: length)
        for range in ranges {
            descriptors += try spend(await peripheral.discoverDescriptors(in: range))
        }
        let includesByService = Self.elements(includes.sorted { $0.handle < $1.handle }, of: services) { $0.handle }
        let characteristicsByService = Self.elements(characteristics, of: services) { $0.handle }
        return services.map { service in
            Self.contents(
                of: service, includes: includesByService[service.range.first] ?? [],
                characteristics: characteristicsByService[service.range.first] ?? [], descriptors: descriptors)
        }
    }

    /// Counts what one search found.
    private mutating func spend<Element>(_ found: [Element]) throws -> [Element] {
        budget -= found.count
        searches -= 1
        guard budget >= 0, searches >= 0 else { throw BLEError.discoveryTooLong }
        return found
    }

    /// Included services that are not among the others. A service that overlaps another one without being the same is
    /// ignored, because services do not share attributes (Core 5.4, Vol 3, Part G, 2.6.2); it is still visible in the
    /// include.
    static func secondaryServices(among includes: [IncludedService], besides services: [Service]) -> [Service] {
        var known = HandleSpans()
        for service in services { known.insert(service.range) }
        var found: [Service] = []
        for include in includes where !known.overlaps(include.service.range) {
            known.insert(include.service.range)
            found.append(include.service)
        }
        return found
    }

    /// Limits characteristics to their service, because a search over several services does not know where each of them
    /// ends, nor where one begins inside another.
    /// - Parameter services: in the order of their handles.
    static func clipped(_ characteristics: [Characteristic], to services: [Service]) -> [Characteristic] {
        var homes = ServiceNest(services)
        return characteristics.sorted { $0.handle < $1.handle }.map { characteristic in
            guard let home = homes.innermost(at: characteristic.handle) else { return characteristic }
            var end = min(characteristic.endHandle, home.range.last)
            if let next = homes.nextStart { end = min(end, AttributeHandle(rawValue: next.rawValue - 1)) }
            var clipped = characteristic
            clipped.endHandle = max(end, characteristic.valueHandle)
            return clipped
        }
    }

    /// The elements of each service, by the service's first handle, without those of the services inside it.
    /// - Parameters:
    ///   - elements: in the order of their handles.
    ///   - services: in the order of their handles.
    static func elements<Element>(
        _ elements: [Element], of services: [Service], handle: (Element) -> AttributeHandle
    ) -> [AttributeHandle: [Element]] {
        var homes = ServiceNest(services)
        var found: [AttributeHandle: [Element]] = [:]
        for element in elements {
            guard let home = homes.innermost(at: handle(element)) else { continue }
            found[home.range.first, default: []].append(element)
        }
        return found
    }

    /// Combines the lists, all in the order of their handles.
    private static func contents(
        of service: Service, includes: [IncludedService], characteristics: [Characteristic], descriptors: [Descriptor]
    ) -> ServiceContents {
        ServiceContents(
            service: service,
            includedServices: includes,
            characteristics: characteristics.map {
                guard let range = $0.descriptorRange else { return .init(characteristic: $0, descriptors: []) }
                return .init(
                    characteristic: $0,
                    descriptors: Array(slice(of: descriptors, range.first, range.last) { $0.handle })
                )
            })
    }

    /// The elements with handles from `first` to `last`, of elements in the order of their handles.
    private static func slice<Element>(
        of elements: [Element], _ first: AttributeHandle, _ last: AttributeHandle,
        handle: (Element) -> AttributeHandle
    ) -> ArraySlice<Element> {
        func place(_ isBefore: (Element) -> Bool) -> Int {
            var low = 0
            var high = elements.count
            while low < high {
                let middle = (low + high) / 2
                if isBefore(elements[middle]) { low = middle + 1 } else { high = middle }
            }
            return low
        }
        let start = place { handle($0) < first }
        return elements[start..<max(start, place { handle($0) <= last })]
    }

    /// The ranges that may have descriptors. Neighbours are joined if everything between them is known to have 16-bit
    /// types: one response then has them all. Some servers never answer a request whose response has no room for the
    /// whole range.
    /// - Parameter length: how many handles a joined range may have.
    static func searchRanges(
        for characteristics: [Characteristic], services: [Service], includes: [IncludedService], length: Int
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
                Int(gap.last.rawValue) - Int(previous.first.rawValue) < length,
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
