import BLEPackets

/// Detecting changes of a peer's database (Core 5.4, Vol 3, Part G, 7.1 and 7.3).
extension Peripheral {
    /// The hash of the peer's database, 16 octets; `nil` when the peer has none.
    ///
    /// If the hash is the same in two connections, handles from the first are valid in the second.
    public func readDatabaseHash() async throws -> [UInt8]? {
        do {
            let values = try await adapter.answer(
                to: .readUsingUUID(BluetoothUUID(UInt16(0x2B2A)), in: .all, on: link))
            guard let hash = values.first?.value, hash.count == 16 else { return nil }
            return hash
        } catch {
            guard case BLEError.att(.attributeNotFound, _) = error else { throw error }
            return nil
        }
    }

    /// Discovers everything that the device offers, or finds by one request that it is still what an earlier connection
    /// discovered (Core 5.4, Vol 3, Part G, 2.5.2). A bonded device with a hash is asked for robust caching
    /// (`useRobustCaching`).
    ///
    ///     let database = try await peripheral.discoverDatabase(unlessKnown: kept)
    ///     if database != kept { keep(database) }
    /// - Parameter known: what an earlier connection to this device returned.
    /// - Returns: `known` if the device's hash is the same, otherwise what was discovered now.
    /// - Throws: the errors of `discoverContents`.
    public func discoverDatabase(unlessKnown known: KnownDatabase? = nil) async throws -> KnownDatabase {
        var hash: [UInt8]?
        // Some devices refuse the request, which is no reason not to discover them.
        do { hash = try await readDatabaseHash() } catch BLEError.att {}
        if hash != nil, let security = await security, security.isBonded { try await useRobustCaching() }
        if let known, let hash, known.hash == hash { return known }
        // The hash came first: a change during the discovery makes it wrong, and the next connection discovers again.
        return KnownDatabase(hash: hash, contents: try await discoverContents())
    }

    /// Asks the device to refuse the first request that relies on attributes that have changed since, with
    /// `BLEError.att(.databaseOutOfSync, …)` (Core 5.4, Vol 3, Part G, 2.5.2.1 and 7.2). Without it, a request with a
    /// handle of before the change may reach another attribute.
    ///
    /// After this error discover again, then repeat what was refused with the new handles: the device refuses only once.
    /// A bonded device remembers the wish for later connections.
    /// - Returns: whether the device does so; `false` for one without Client Supported Features.
    /// - Throws: the errors of `read(_:)` and `write(_:to:)`, except those of the device.
    @discardableResult
    public func useRobustCaching() async throws -> Bool {
        do {
            let found = try await adapter.answer(to: .readUsingUUID(.clientSupportedFeatures, in: .all, on: link))
            guard let features = found.first else { return false }
            // A bit that is set stays set (Core 5.4, Vol 3, Part G, 7.2).
            var value = features.value.isEmpty ? [0] : features.value
            guard value[0] & Self.robustCaching == 0 else { return true }
            value[0] |= Self.robustCaching
            try await write(value, to: features.handle)
            return true
        } catch BLEError.att {
            return false
        }
    }

    /// Bit 0 of Client Supported Features.
    private static let robustCaching: UInt8 = 0x01

    /// Subscribes to Service Changed and returns the handle ranges that are no longer valid (SPEC 2.3
    /// didModifyServices).
    ///
    /// Discover the attributes in such a range again; sequences of values of its characteristics end with
    /// `BLEError.notSubscribed`.
    /// - Throws: `BLEError.notFound` when the peer's database never changes.
    public func serviceChanges() async throws -> ServiceChanges {
        let changed = try await findCharacteristic(
            BluetoothUUID(UInt16(0x2A05)), inService: BluetoothUUID(UInt16(0x1801)))
        return ServiceChanges(notifications: try await notifications(of: changed))
    }
}

/// Handle ranges that the peer reports as changed, as a sequence.
public struct ServiceChanges: AsyncSequence, Sendable {
    public typealias Element = AttributeHandleRange

    let notifications: Notifications

    /// Create only one iterator: a second one would take ranges from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(base: notifications.makeAsyncIterator()) }

    /// Returns the ranges in their order; all handles if the peer does not report a range.
    public struct Iterator: AsyncIteratorProtocol {
        var base: Notifications.Iterator

        /// - Throws: `BLEError.linkLost` when the link ends.
        public mutating func next() async throws(BLEError) -> AttributeHandleRange? {
            while let value = try await base.next() {
                // A malformed value reports a change without its range, so no handle is valid any more.
                return Self.range(value.bytes) ?? .all
            }
            return nil
        }

        static func range(_ bytes: [UInt8]) -> AttributeHandleRange? {
            guard bytes.count == 4 else { return nil }
            let range = AttributeHandleRange(
                AttributeHandle(rawValue: UInt16(bytes[0]) | UInt16(bytes[1]) << 8),
                AttributeHandle(rawValue: UInt16(bytes[2]) | UInt16(bytes[3]) << 8))
            return range.isValid ? range : nil
        }
    }
}
