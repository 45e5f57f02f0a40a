import BLEPackets

/// Searches a range of handles, one request after another, until the server has nothing more to report.
///
/// Every answer must make progress: handles must lie in the remaining range and ascend, so that no server can prolong
/// the search forever or make it run in circles (pain 16).
struct AttributeSearch {
    enum Kind: Equatable {
        case primaryServices
        /// Those of all primary services that are named.
        case namedServices([BluetoothUUID])
        case secondaryServices
        case includes
        case characteristics([BluetoothUUID])
        case descriptors
        case values(BluetoothUUID)
    }

    private var kind: Kind
    /// The range that has not been searched yet.
    private var range: AttributeHandleRange
    /// Whether the last handle of the range has been reached.
    private var isExhausted = false
    private var services: [DiscoveredService] = []
    private var includes: [DiscoveredInclude] = []
    private var characteristics: [DiscoveredCharacteristic] = []
    private var descriptors: [DiscoveredDescriptor] = []
    private var values: [AttributeValue] = []
    /// Indices in `includes` whose 128-bit UUID must be read; the first read is in progress.
    private var unresolved: [Int] = []

    init(_ kind: Kind, in range: AttributeHandleRange) {
        self.kind = kind
        self.range = range
    }

    func begin() -> GATTStep {
        if range.isValid { return .send(request) }
        return kind == .descriptors ? .done(result) : .failed(.invalidParameters)
    }

    /// The number of attributes found, of whichever kind is searched.
    var foundCount: Int {
        services.count + includes.count + characteristics.count + descriptors.count + values.count
    }

    private var request: [UInt8] {
        switch kind {
        case .primaryServices, .namedServices:
            ATTReadByGroupTypeRequest(range: range, groupType: .primaryService).encoded()
        case .secondaryServices: ATTReadByGroupTypeRequest(range: range, groupType: .secondaryService).encoded()
        case .includes: ATTReadByTypeRequest(range: range, type: .include).encoded()
        case .characteristics: ATTReadByTypeRequest(range: range, type: .characteristic).encoded()
        case .descriptors: ATTFindInformationRequest(range: range).encoded()
        case .values(let uuid):
            ATTReadByTypeRequest(range: range, type: uuid.width == .bits32 ? uuid.shortened : uuid).encoded()
        }
    }

    private var result: GATTResult {
        switch kind {
        case .primaryServices, .secondaryServices: .services(services)
        case .namedServices(let uuids): .services(named(uuids))
        case .includes: .includedServices(includes)
        case .characteristics(let uuids): .characteristics(finished(characteristics, uuids))
        case .descriptors: .descriptors(descriptors)
        case .values: .attributeValues(values)
        }
    }

    /// The services with these UUIDs, in the order in which `NamedServiceSearch` finds them: that of the UUIDs, and for
    /// one UUID that of the handles. A declaration of either width is found.
    private func named(_ uuids: [BluetoothUUID]) -> [DiscoveredService] {
        let names = UUIDIndex(uuids)
        var found: [(place: Int, index: Int)] = []
        for index in services.indices {
            if let place = names.place(of: services[index].uuid) { found.append((place, index)) }
        }
        found.sort { ($0.place, $0.index) < ($1.place, $1.index) }
        return found.map { services[$0.index] }
    }

    /// Where a characteristic ends is known when the next one is found.
    private func finished(_ found: [DiscoveredCharacteristic], _ uuids: [BluetoothUUID]) -> [DiscoveredCharacteristic] {
        var all = found
        for index in all.indices.dropLast() {
            all[index].endHandle = AttributeHandle(rawValue: all[index + 1].handle.rawValue &- 1)
        }
        if uuids.isEmpty { return all }
        let names = UUIDIndex(uuids)
        return all.filter { names.contains($0.uuid) }
    }

    // MARK: Answers

    mutating func receive(_ pdu: RawSpan) throws(DecodingError) -> GATTStep {
        if !unresolved.isEmpty { return try receiveIncludedUUID(pdu) }
        let found: Found
        switch kind {
        case .primaryServices, .namedServices, .secondaryServices: found = try receiveServices(pdu)
        case .includes: found = try receiveIncludes(pdu)
        case .characteristics: found = try receiveCharacteristics(pdu)
        case .descriptors: found = try receiveDescriptors(pdu)
        case .values: found = try receiveValues(pdu)
        }
        switch found {
        case .invalid(let detail): return .invalid(detail)
        case .upTo(let last):
            if let first = last.next, first <= range.last { range.first = first } else { isExhausted = true }
        }
        return next()
    }

    mutating func refused(_ error: ATTError, _ handle: AttributeHandle) -> GATTStep {
        if !unresolved.isEmpty { return .failed(.att(error, handle: handle)) }
        if error == .attributeNotFound {
            guard case .values(let uuid) = kind, values.isEmpty else { return .done(result) }
            // Not every server treats both widths of a UUID as equal.
            guard uuid.width == .bits128, let short = uuid.shortValue else {
                return .failed(.att(error, handle: handle))
            }
            kind = .values(BluetoothUUID(short))
            return next()
        }
        // An error ends the values that were found, unless more security could give the rest (Core 5.4, Vol 3, Part G,
        // 4.8.2).
        if case .values = kind, !values.isEmpty, !error.isCuredBySecurity { return .done(result) }
        return isEnd(error) ? .done(result) : .failed(.att(error, handle: handle))
    }

    /// Whether an error says that nothing more is there, although it is not Attribute Not Found. Beyond their last
    /// attribute some servers answer with Invalid Handle, or with the code zero; some do not know the requests for what
    /// they do not have. Any other error could hide attributes that are there.
    private func isEnd(_ error: ATTError) -> Bool {
        switch kind {
        case .values: false
        case .primaryServices, .namedServices: foundCount > 0 && error.isOfServerWithoutMore
        case .characteristics:
            error.isOfServerWithoutMore && (error != .requestNotSupported || foundCount > 0)
        // Some servers support no groups but primary services.
        case .secondaryServices: error.isOfServerWithoutMore || error == .unsupportedGroupType
        case .includes, .descriptors: error.isOfServerWithoutMore
        }
    }

    private func next() -> GATTStep {
        if let index = unresolved.first {
            return .send(ATTReadRequest(handle: includes[index].range.first).encoded())
        }
        return isExhausted ? .done(result) : .send(request)
    }

    /// The result of an answer: the last handle that it covers, or what is wrong with it.
    private enum Found {
        case upTo(AttributeHandle)
        case invalid(ATTInvalidResponse)
    }

    /// Why `handle` must not follow `previous` in an answer; `nil` if it may.
    private func objection(to handle: AttributeHandle, after previous: AttributeHandle) -> ATTInvalidResponse? {
        if !range.contains(handle) { return .handleOutOfRange(handle) }
        return handle > previous ? nil : .handleOutOfOrder(handle)
    }

    private mutating func receiveServices(_ pdu: RawSpan) throws(DecodingError) -> Found {
        var response = try ATTReadByGroupTypeResponse(pdu)
        guard let width = width(ofUUIDWith: response.valueLength) else {
            return .invalid(.elementLength(response.valueLength + 4))
        }
        var first = AttributeHandle.none
        var last = AttributeHandle.none
        while let element = response.next() {
            // Some servers, Bumble's for one, have an included service inside the one that includes it.
            let isNested = element.range.last <= last
            if let objection = objection(to: element.range.first, after: isNested ? first : last) {
                return .invalid(objection)
            }
            guard element.range.isValid else { return .invalid(.handleOutOfRange(element.range.last)) }
            var reader = PacketReader(element.value)
            let uuid = try BluetoothUUID(decoding: &reader, width: width)
            services.append(DiscoveredService(uuid: uuid, range: element.range, isPrimary: kind != .secondaryServices))
            first = element.range.first
            last = max(last, element.range.last)
        }
        return .upTo(last)
    }

    private mutating func receiveIncludes(_ pdu: RawSpan) throws(DecodingError) -> Found {
        var response = try ATTReadByTypeResponse(pdu)
        // A 128-bit UUID does not fit into the declaration; it must be read from the included service's own
        // declaration.
        guard response.valueLength == 4 || response.valueLength == 6 else {
            return .invalid(.elementLength(response.valueLength + 2))
        }
        var last = AttributeHandle.none
        while let element = response.next() {
            if let objection = objection(to: element.handle, after: last) { return .invalid(objection) }
            var reader = PacketReader(element.value)
            let first = AttributeHandle(rawValue: try reader.read())
            let included = AttributeHandleRange(first, AttributeHandle(rawValue: try reader.read()))
            guard included.isValid else { return .invalid(.handleOutOfRange(included.last)) }
            let isComplete = !reader.isAtEnd
            let uuid = isComplete ? try BluetoothUUID(decoding: &reader, width: .bits16) : BluetoothUUID(UInt16(0))
            if !isComplete { unresolved.append(includes.count) }
            includes.append(DiscoveredInclude(handle: element.handle, uuid: uuid, range: included))
            last = element.handle
        }
        return .upTo(last)
    }

    private mutating func receiveIncludedUUID(_ pdu: RawSpan) throws(DecodingError) -> GATTStep {
        let value = try ATTReadResponse(pdu).value
        guard let width = width(ofUUIDWith: value.byteCount) else { return .invalid(.elementLength(value.byteCount)) }
        var reader = PacketReader(value)
        includes[unresolved.removeFirst()].uuid = try BluetoothUUID(decoding: &reader, width: width)
        return next()
    }

    private mutating func receiveCharacteristics(_ pdu: RawSpan) throws(DecodingError) -> Found {
        var response = try ATTReadByTypeResponse(pdu)
        guard let width = width(ofUUIDWith: response.valueLength - 3) else {
            return .invalid(.elementLength(response.valueLength + 2))
        }
        var last = AttributeHandle.none
        while let element = response.next() {
            if let objection = objection(to: element.handle, after: last) { return .invalid(objection) }
            var reader = PacketReader(element.value)
            let properties = CharacteristicProperties(rawValue: try reader.read())
            let valueHandle = AttributeHandle(rawValue: try reader.read())
            guard valueHandle > element.handle else { return .invalid(.handleOutOfOrder(valueHandle)) }
            characteristics.append(
                DiscoveredCharacteristic(
                    handle: element.handle, valueHandle: valueHandle, endHandle: range.last, properties: properties,
                    uuid: try BluetoothUUID(decoding: &reader, width: width)))
            last = element.handle
        }
        return .upTo(last)
    }

    private mutating func receiveDescriptors(_ pdu: RawSpan) throws(DecodingError) -> Found {
        var response = try ATTFindInformationResponse(pdu)
        var last = AttributeHandle.none
        while let element = response.next() {
            if let objection = objection(to: element.handle, after: last) { return .invalid(objection) }
            descriptors.append(DiscoveredDescriptor(handle: element.handle, uuid: element.type))
            last = element.handle
        }
        return .upTo(last)
    }

    private mutating func receiveValues(_ pdu: RawSpan) throws(DecodingError) -> Found {
        var response = try ATTReadByTypeResponse(pdu)
        var last = AttributeHandle.none
        while let element = response.next() {
            if let objection = objection(to: element.handle, after: last) { return .invalid(objection) }
            values.append(AttributeValue(handle: element.handle, value: element.value.copied()))
            last = element.handle
        }
        return .upTo(last)
    }
}

extension ATTError {
    /// Whether servers have been seen to answer with it where they have nothing more.
    var isOfServerWithoutMore: Bool {
        self == .invalidHandle || self == .requestNotSupported || rawValue == 0
    }
}

/// The width of a UUID of `count` octets; ATT uses 16 and 128 bits.
func width(ofUUIDWith count: Int) -> BluetoothUUID.Width? {
    switch count {
    case 2: .bits16
    case 16: .bits128
    default: nil
    }
}
