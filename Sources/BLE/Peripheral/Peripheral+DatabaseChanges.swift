import BLEHost
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
    /// discovered (Core 5.4, Vol 3, Part G, 2.5.2).
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
        if let known, let hash, known.hash == hash { return known }
        // The hash came first: a change during the discovery makes it wrong, and the next connection discovers again.
        return KnownDatabase(hash: hash, contents: try await discoverContents())
    }

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
