import BLEHost
import BLEJSON
import BLEPackets

/// What the steps say, as JSON.
package enum AttributeEvent {
    /// - Parameters:
    ///   - name: `value`, `written`, `subscribed`, `notified` and so on.
    ///   - value: the octets, if the event has some.
    package static func json(
        _ name: String, _ handle: AttributeHandle, _ uuid: BluetoothUUID?, _ value: [UInt8]? = nil
    ) -> JSONValue {
        let event: JSONValue = [
            "event": .string(name), "handle": JSONValue(handle.rawValue), "uuid": JSONValue(uuid?.description),
        ]
        return value.map { event.adding("value", .string(Hexadecimal.text($0))) } ?? event
    }

    /// An event with a value, and what that means.
    package static func json(
        _ name: String, _ handle: AttributeHandle, _ uuid: BluetoothUUID?, meaning: ValueMeaning
    ) -> JSONValue { meaning.adding(to: json(name, handle, uuid, meaning.value).naming(uuid)) }
}
