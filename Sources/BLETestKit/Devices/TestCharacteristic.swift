import BLE
import BLESimulator

/// A characteristic of a simulated device. Each modifier returns a changed copy.
///
/// The closures run on the thread of the radio; they must not block.
public struct TestCharacteristic: Sendable {
    /// The type of the characteristic.
    public var uuid: BluetoothUUID { simulated.uuid }
    private(set) var simulated: SimulatedCharacteristic

    /// - Parameters:
    ///   - properties: a central may do this with the value; the Client Characteristic Configuration is added if
    ///     needed.
    ///   - value: the initial value, at most 512 octets.
    public init(_ uuid: BluetoothUUID, _ properties: CharacteristicProperties, value: [UInt8] = []) {
        simulated = SimulatedCharacteristic(
            uuid, SimulatedProperties(rawValue: UInt8(truncatingIfNeeded: properties.rawValue)), value: value)
    }

    private func changed(_ change: (inout SimulatedCharacteristic) -> Void) -> TestCharacteristic {
        var copy = self
        change(&copy.simulated)
        return copy
    }

    /// Supplies the value of each read.
    /// - Parameter value: gets the number of reads before this one.
    public func onRead(_ value: @escaping @Sendable (_ count: Int) -> [UInt8]) -> TestCharacteristic {
        changed { $0.readValue = value }
    }

    /// Sees each value before it is written.
    /// - Parameter check: throws the error with which the device refuses the value.
    public func onWrite(
        _ check: @escaping @Sendable (_ value: [UInt8]) throws(ATTError) -> Void
    ) -> TestCharacteristic {
        changed {
            $0.refuse = { value in
                do throws(ATTError) {
                    try check(value)
                    return nil
                } catch { return error }
            }
        }
    }

    /// Sends values to a subscriber at this interval, from the subscription on.
    /// - Parameter value: gets the number of values before this one.
    public func notifying(
        every interval: Duration, _ value: @escaping @Sendable (_ count: Int) -> [UInt8]
    ) -> TestCharacteristic {
        changed {
            $0.notifyEveryMicroseconds = interval.wholeMicroseconds
            $0.notifiedValue = value
        }
    }

    /// Sends each written value back to a subscriber.
    public func echoing() -> TestCharacteristic { changed { $0.notifiesWrites = true } }

    /// Refuses each read with this error.
    public func failingReads(_ error: ATTError) -> TestCharacteristic { changed { $0.readError = error } }

    /// Refuses each write with this error.
    public func failingWrites(_ error: ATTError) -> TestCharacteristic { changed { $0.writeError = error } }

    /// Requires an encrypted link.
    public func encrypted() -> TestCharacteristic {
        changed { simulated in
            if simulated.permissions.contains(.read) { simulated.permissions.insert(.readEncrypted) }
            if simulated.permissions.contains(.write) { simulated.permissions.insert(.writeEncrypted) }
        }
    }

    /// Limits the length of written values, in octets; 512 by default.
    public func maximumLength(_ octets: Int) -> TestCharacteristic { changed { $0.maximumLength = octets } }

    /// Adds a descriptor that can be read.
    public func descriptor(_ uuid: BluetoothUUID, value: [UInt8]) -> TestCharacteristic {
        changed { $0.descriptors.append(SimulatedDescriptor(uuid, value: value)) }
    }
}

extension TestCharacteristic: CustomStringConvertible {
    public var description: String { "test characteristic \(uuid)" }
}
