@_exported import BLE

extension Peripheral {
    /// Finds a characteristic and reads its value with its meaning.
    /// - Parameter service: where to look; `nil`: in all services.
    /// - Throws: the errors of `findCharacteristic` and `read`; `BLEError.malformedValue` or `unknownValue`.
    public func read<Value>(
        _ key: CharacteristicKey<Value>, inService service: BluetoothUUID? = nil
    ) async throws -> Value {
        try key.decode(await read(findCharacteristic(key.uuid, inService: service)))
    }

    /// Subscribes to a characteristic and returns its values with their meaning.
    /// - Parameter service: where to look; `nil`: in all services.
    /// - Throws: the errors of `findCharacteristic` and `notifications(of:)`.
    public func values<Value>(
        of key: CharacteristicKey<Value>, inService service: BluetoothUUID? = nil
    ) async throws -> CharacteristicValues<Value> {
        CharacteristicValues(
            notifications: try await notifications(of: findCharacteristic(key.uuid, inService: service)), key: key)
    }
}

/// The values of a subscription with their meaning, as a sequence. The subscription ends with the loop.
public struct CharacteristicValues<Element: Sendable>: AsyncSequence, Sendable {
    let notifications: Notifications
    let key: CharacteristicKey<Element>

    /// Values that were dropped because they were not consumed in time.
    public var droppedCount: Int { notifications.droppedCount }

    /// Create only one iterator: a second one would take values from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(base: notifications.makeAsyncIterator(), key: key) }

    /// Returns the values in their order.
    public struct Iterator: AsyncIteratorProtocol {
        var base: Notifications.Iterator
        let key: CharacteristicKey<Element>

        /// - Throws: the errors of `Notifications`; `BLEError.malformedValue` or `unknownValue` for one value: the next
        ///   call returns the next value.
        public mutating func next() async throws(BLEError) -> Element? {
            guard let value = try await base.next() else { return nil }
            return try key.decode(value.bytes)
        }
    }
}
