import BLEGateway
import CMosquitto
import Glibc

extension SessionLimits {
    /// Reads the properties of a CONNACK; `nil`: it has none.
    init(_ properties: OpaquePointer?) {
        self.init()
        guard let properties = unsafe properties else { return }
        var octet: UInt8 = 0
        var short: UInt16 = 0
        var number: UInt32 = 0
        func has(_ name: mqtt5_property) -> Int32 { Int32(name.rawValue) }
        if unsafe mosquitto_property_read_byte(properties, has(MQTT_PROP_MAXIMUM_QOS), &octet, false) != nil {
            maximumQualityOfService = min(2, Int(octet))
        }
        if unsafe mosquitto_property_read_byte(properties, has(MQTT_PROP_RETAIN_AVAILABLE), &octet, false) != nil {
            retainsMessages = octet != 0
        }
        if unsafe mosquitto_property_read_int16(properties, has(MQTT_PROP_RECEIVE_MAXIMUM), &short, false) != nil {
            receiveMaximum = max(1, Int(short))
        }
        if unsafe mosquitto_property_read_int32(properties, has(MQTT_PROP_MAXIMUM_PACKET_SIZE), &number, false) != nil {
            maximumPacketSize = Int(number)
        }
        if unsafe mosquitto_property_read_int16(properties, has(MQTT_PROP_SERVER_KEEP_ALIVE), &short, false) != nil {
            keepAlive = Int(short)
        }
    }
}

/// The other server that a CONNACK names; `nil`: none.
func serverReference(in properties: OpaquePointer?) -> String? {
    guard let properties = unsafe properties else { return nil }
    var text: UnsafeMutablePointer<CChar>?
    let name = Int32(MQTT_PROP_SERVER_REFERENCE.rawValue)
    _ = unsafe mosquitto_property_read_string(properties, name, &text, false)
    guard let text = unsafe text else { return nil }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
}
