import BLEAppLifecycle
import Foundation

/// A descriptor: information about a characteristic's value.
open class CBDescriptor: CBAttribute {
    struct State {
        weak var characteristic: CBCharacteristic?
        var value: Any?
    }

    let content: Locked<State>

    init(
        uuid: CBUUID, value: Any? = nil, characteristic: CBCharacteristic? = nil, remoteID: RemoteAttributeID? = nil
    ) {
        content = Locked(State(characteristic: characteristic, value: value))
        super.init(uuid: uuid, remoteID: remoteID)
    }

    /// The characteristic that has the descriptor.
    open weak var characteristic: CBCharacteristic? { content.with { $0.characteristic } }

    /// The value that was last read: an `NSNumber` for `2900`, `2902` and `2903`, a `String` for `2901`, `Data` for all
    /// others (SPEC 2.3).
    open var value: Any? { content.with { $0.value } }

    /// A property by its name: `UUID`, `characteristic` or `value`.
    override open func value(forKey key: String) -> Any? {
        switch key {
        case "characteristic": characteristic
        case "value": value
        default: super.value(forKey: key)
        }
    }

    override open var description: String {
        let value = content.with { $0.value }
        let text = (value as? Data).map(\.text) ?? value.map { "\($0)" } ?? "(null)"
        return "<\(reference), UUID = \(uuid), value = \(text)>"
    }
}

/// A descriptor that an app publishes: a user description (`2901`) or a presentation format (`2904`).
open class CBMutableDescriptor: CBDescriptor {
    /// Creates a descriptor.
    /// - Parameter value: a `String` for `2901`, `Data` for `2904`.
    /// - Precondition: the type is `2901` or `2904`; the system provides other descriptors itself.
    public init(type UUID: CBUUID, value: Any?) {
        let allowed = [CBUUIDCharacteristicUserDescriptionString, CBUUIDCharacteristicFormatString]
        guard allowed.contains(UUID.uuidString) else {
            fatalError(
                "Only user description (2901) and presentation format (2904) descriptors can be made, not \(UUID)")
        }
        super.init(uuid: UUID, value: value)
    }

    /// Creates a descriptor that was published before. It may have any type.
    init(restoring uuid: CBUUID, value: Any?) { super.init(uuid: uuid, value: value) }
}

/// Converts between the octets of a descriptor and its value for an app (SPEC 2.3).
enum DescriptorValue {
    static func decode(_ octets: [UInt8], of uuid: CBUUID) -> Any {
        switch uuid.uuidString {
        case CBUUIDCharacteristicExtendedPropertiesString, CBUUIDClientCharacteristicConfigurationString,
            CBUUIDServerCharacteristicConfigurationString:
            NSNumber(value: octets.prefix(2).reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) })
        case CBUUIDCharacteristicUserDescriptionString: String(decoding: octets, as: UTF8.self)
        default: Data(octets)
        }
    }

    /// Empty for a value of a type that no descriptor has.
    static func encode(_ value: Any?) -> [UInt8] {
        switch value {
        case let text as String: Array(text.utf8)
        case let data as Data: Array(data)
        case let number as NSNumber:
            [UInt8(truncatingIfNeeded: number.intValue), UInt8(truncatingIfNeeded: number.intValue >> 8)]
        default: []
        }
    }
}
