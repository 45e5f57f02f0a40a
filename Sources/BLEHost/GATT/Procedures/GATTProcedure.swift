import BLEPackets

/// An operation that is being carried out: requests are sent one by one, and each answer leads to the next step.
///
/// A procedure is independent of timers, clients and the other operations of its link. The bearer ensures that
/// `receive` only gets answers of the kind that the last request expects.
enum GATTProcedure {
    /// The number is our receive MTU.
    case exchangeMTU(UInt16)
    case search(AttributeSearch)
    case namedServices(NamedServiceSearch)
    case read(ValueRead)
    case readMultiple(MultipleRead)
    case write(AttributeHandle, [UInt8])
    case preparedWrite(PreparedWrite)
    /// Writes the configuration of the characteristic with this value.
    case configure(AttributeHandle, configuration: AttributeHandle, bits: UInt16, Configuration)
    /// Placeholder while a procedure is being changed, so that its results are not copied.
    case none

    /// Why a configuration is written.
    enum Configuration: Equatable {
        case subscribed(SubscriptionMode, confirms: Bool)
        case unsubscribed
        /// A client has gone, or cancelled its operation while it was in progress.
        case reconfigured
    }

    /// How many attributes a discovery has found so far; `nil` if this is no discovery.
    var discoveredCount: Int? {
        switch self {
        case .search(let search): search.foundCount
        case .namedServices(let search): search.foundCount
        case .exchangeMTU, .read, .readMultiple, .write, .preparedWrite, .configure, .none: nil
        }
    }

    /// The first request, or the result if no request is needed.
    mutating func begin(mtu: UInt16) -> GATTStep {
        switch self {
        case .exchangeMTU(let told): return .send(ATTExchangeMTURequest(clientReceiveMTU: told).encoded())
        case .none: return .failed(.invalidParameters)
        case .search(let search): return search.begin()
        case .namedServices(var search):
            let step = search.begin()
            self = .namedServices(search)
            return step
        case .read(var read):
            let step = read.begin(mtu: mtu)
            self = .read(read)
            return step
        case .readMultiple(let read): return read.begin(mtu: mtu)
        case .write(let handle, let value):
            return .send(ATTWriteRequest(handle: handle, value: value.span.bytes).encoded())
        case .preparedWrite(var write):
            let step = write.begin(mtu: mtu)
            self = .preparedWrite(write)
            return step
        case .configure(_, let configuration, let bits, _):
            var packet = PacketWriter(reservingCapacity: 5)
            let value = [UInt8(truncatingIfNeeded: bits), UInt8(truncatingIfNeeded: bits >> 8)]
            ATTWriteRequest(handle: configuration, value: value.span.bytes).encode(into: &packet)
            return .send(packet.bytes)
        }
    }

    /// Processes the answer to the last request.
    mutating func receive(_ pdu: RawSpan, mtu: UInt16) -> GATTStep {
        do throws(DecodingError) {
            return try decode(pdu, mtu: mtu)
        } catch {
            return broken(.malformed(error))
        }
    }

    private mutating func decode(_ pdu: RawSpan, mtu: UInt16) throws(DecodingError) -> GATTStep {
        switch self {
        case .exchangeMTU:
            return .done(.mtu(try ATTExchangeMTUResponse(pdu).serverReceiveMTU))
        case .none: return .failed(.invalidParameters)
        case .search(var search):
            self = .none
            let step = try search.receive(pdu)
            self = .search(search)
            return step
        case .namedServices(var search):
            self = .none
            let step = try search.receive(pdu)
            self = .namedServices(search)
            return step
        case .read(var read):
            self = .none
            let step = try read.receive(pdu, mtu: mtu)
            self = .read(read)
            return step
        case .readMultiple(let read): return try read.receive(pdu)
        case .write:
            _ = try ATTWriteResponse(pdu)
            return .done(.written)
        case .preparedWrite(var write):
            // After an invalid answer the queue must still be cleared: the state must survive the error.
            let step = try write.receive(pdu, mtu: mtu)
            self = .preparedWrite(write)
            return step
        case .configure(_, _, _, let purpose):
            _ = try ATTWriteResponse(pdu)
            return .done(purpose == .unsubscribed ? .unsubscribed : .subscribed)
        }
    }

    /// The server refused the last request.
    mutating func refused(_ error: ATTError, _ handle: AttributeHandle, mtu: UInt16) -> GATTStep {
        switch self {
        case .search(var search):
            self = .none
            let step = search.refused(error, handle)
            self = .search(search)
            return step
        case .namedServices(var search):
            if let substitute = search.substitute(for: error) {
                self = .search(substitute)
                return substitute.begin()
            }
            let step = search.refused(error, handle)
            self = .namedServices(search)
            return step
        case .read(var read):
            self = .none
            let step = read.refused(error, handle, mtu: mtu)
            self = .read(read)
            return step
        case .preparedWrite(var write):
            let step = write.failed(.att(error, handle: handle))
            self = .preparedWrite(write)
            return step
        case .exchangeMTU, .readMultiple, .write, .configure, .none: return .failed(.att(error, handle: handle))
        }
    }

    /// The answer to the last request is invalid.
    mutating func broken(_ detail: ATTInvalidResponse) -> GATTStep {
        guard case .preparedWrite(var write) = self else { return .invalid(detail) }
        let step = write.failed(.invalidResponse(detail))
        self = .preparedWrite(write)
        return step
    }

    /// The result is no longer wanted: returns the request that restores the server's state, if one is needed.
    mutating func cleanUp() -> [UInt8]? {
        guard case .preparedWrite(var write) = self else { return nil }
        let pdu = write.cleanUp()
        self = .preparedWrite(write)
        return pdu
    }
}
