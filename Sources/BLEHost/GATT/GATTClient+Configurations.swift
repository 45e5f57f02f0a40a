import BLEPackets

/// Clients that write the configurations of values themselves, by handle (SPEC 5.5 rule 5).
///
/// A configuration is one attribute of the peer for the whole link, and several clients may have subscribed by it.
/// While one of them uses it, a write of another one is the writer's own subscribe or unsubscribe: the peer is sent
/// what all of them need. The write of the only client is sent as it is.
extension GATTClient {
    /// A configuration among what an operation writes.
    struct ConfigurationWrite {
        let handle: AttributeHandle
        /// The modes that the client wrote; `nil` if it wrote no such value.
        let own: UInt16?
        /// What the peer is sent.
        let sent: UInt16
    }

    private static let modes: UInt16 = 0x0003

    /// What the peer is sent when a client writes an attribute.
    /// - Returns: `nil` if others use that configuration and this is no value of one.
    private func shared(_ write: AttributeWrite, of client: ClientID) -> AttributeWrite? {
        guard subscriptions.isConfiguration(write.handle) else { return write }
        let others = subscriptions.wanted(of: write.handle, besides: client)
        guard others != 0 else { return write }
        guard write.value.count == 2, write.value[0] & ~0x03 == 0, write.value[1] == 0 else { return nil }
        let octet = write.value[0] | UInt8(truncatingIfNeeded: others)
        return AttributeWrite(handle: write.handle, value: [octet, 0])
    }

    /// The procedure of a write; `nil` if the operation has already ended.
    ///
    /// Write commands and signed ones are here only because they write a configuration: as requests, their order is
    /// that of the other clients' requests.
    mutating func prepareWrite(_ operation: GATTOperation, _ id: OperationID?, _ client: ClientID) -> GATTProcedure? {
        switch operation {
        case .write(let handle, let value), .writeCommand(let handle, let value), .writeSigned(let handle, let value):
            guard let write = share([AttributeWrite(handle: handle, value: value)], id, client)?.first else {
                return nil
            }
            if write.value.count <= Int(mtu) - 3, write.value.count <= maximumAttributeLength {
                return .write(handle, write.value)
            }
            return .preparedWrite(PreparedWrite([write], comparesEcho: false))
        case .writeLong(let handle, let value):
            guard let writes = share([AttributeWrite(handle: handle, value: value)], id, client) else { return nil }
            return .preparedWrite(PreparedWrite(writes, comparesEcho: false))
        case .writePart(let handle, let offset, let value, let isReliable):
            // A part of a configuration that others use cannot be completed with what they need.
            guard offset == 0 || subscriptions.wanted(of: handle, besides: client) == 0 else {
                if let id { complete(id, .failure(.att(.valueNotAllowed, handle: handle))) }
                return nil
            }
            guard let writes = share([AttributeWrite(handle: handle, value: value)], id, client) else { return nil }
            return .preparedWrite(PreparedWrite(writes, comparesEcho: isReliable, at: offset))
        case .reliableWrite(let writes):
            guard let writes = share(writes, id, client) else { return nil }
            return .preparedWrite(PreparedWrite(writes, comparesEcho: true))
        default: return nil
        }
    }

    private mutating func share(
        _ writes: [AttributeWrite], _ id: OperationID?, _ client: ClientID
    ) -> [AttributeWrite]? {
        if subscriptions.entries.isEmpty { return writes }
        var shared: [AttributeWrite] = []
        for write in writes {
            guard let next = self.shared(write, of: client) else {
                let error: ATTError = write.value.count == 2 ? .valueNotAllowed : .invalidAttributeValueLength
                if let id { complete(id, .failure(.att(error, handle: write.handle))) }
                return nil
            }
            shared.append(next)
        }
        return shared
    }

    /// The configurations that an operation writes which begins now.
    func configurations(in operation: GATTOperation, of client: ClientID) -> [ConfigurationWrite] {
        if subscriptions.entries.isEmpty { return [] }
        let writes: [AttributeWrite]
        switch operation {
        case .write(let handle, let value), .writeLong(let handle, let value), .writeCommand(let handle, let value),
            .writeSigned(let handle, let value), .writePart(let handle, 0, let value, _):
            guard subscriptions.isConfiguration(handle) else { return [] }
            writes = [AttributeWrite(handle: handle, value: value)]
        case .reliableWrite(let all): writes = all
        default: return []
        }
        var found: [ConfigurationWrite] = []
        for write in writes where subscriptions.isConfiguration(write.handle) {
            guard let sent = shared(write, of: client) else { continue }
            let own = Self.configuration(write.value)
            found.append(ConfigurationWrite(handle: write.handle, own: own, sent: Self.configuration(sent.value) ?? 0))
        }
        return found
    }

    private static func configuration(_ value: [UInt8]) -> UInt16? {
        value.count == 2 ? (UInt16(value[0]) | UInt16(value[1]) << 8) & modes : nil
    }

    /// The peer has accepted an operation that wrote configurations.
    mutating func wroteConfigurations(_ ended: Running) {
        for write in ended.configurations {
            guard let own = write.own else { continue }
            // An operation that was cancelled, or whose client has gone, leaves the client's subscriptions as they are.
            let held = ended.isAbandoned ? nil : own
            let values = subscriptions.wrote(held, sent: write.sent, to: write.handle, by: ended.client)
            for value in values {
                deliverEarly(value)
                // Another holder may have gone meanwhile.
                if subscriptions.change(for: value) != nil { reconfigure(value) } else { subscriptions.settle(value) }
            }
        }
    }
}
