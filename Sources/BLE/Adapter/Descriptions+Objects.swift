import BLEHost
import BLETransport

// How values of the library look when they are printed or logged.

extension Discovery: CustomStringConvertible {
    /// Address, name, RSSI and services, such as `C0:11:22:33:44:55/random “Belt” -61 dBm, 180D`.
    public var description: String {
        let data = advertisingData
        var text = address.map { "\($0)" } ?? "anonymous"
        if let name = data.localName { text += " “\(name.filter { !$0.isNewline && $0 != "\0" })”" }
        text += rssi == 127 ? "" : " \(rssi) dBm"
        if !isConnectable { text += ", not connectable" }
        if !data.serviceUUIDs.isEmpty { text += ", " + data.serviceUUIDs.map(\.description).joined(separator: " ") }
        return text
    }

    /// The transmit power that the device states, in dBm: in its advertising data, or in the header of an extended
    /// advertisement; `nil` if it states none.
    public var statedTxPower: Int8? { advertisingData.txPower ?? txPower }

    /// When it was received as wall-clock time: microseconds since 1970-01-01 00:00 UTC. `time` is the same moment on a
    /// clock that never jumps.
    public var unixMicroseconds: Int64 { time.unixMicroseconds }
}

extension Peripheral: CustomStringConvertible {
    public var description: String { "peripheral \(address)" }
}

extension Service: CustomStringConvertible {
    public var description: String { "\(isPrimary ? "service" : "secondary service") \(uuid)" }
}

extension CharacteristicProperties: CustomStringConvertible {
    /// Such as `read, notify`.
    public var description: String {
        let names: [(CharacteristicProperties, String)] = [
            (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "write without response"),
            (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
            (.authenticatedSignedWrites, "signed write"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}

extension Characteristic: CustomStringConvertible {
    /// The type and the properties, such as `characteristic 2A37 (notify)`.
    public var description: String {
        let allowed = properties.description
        return "characteristic \(uuid)" + (allowed.isEmpty ? "" : " (\(allowed))")
    }
}

extension Descriptor: CustomStringConvertible {
    public var description: String { "descriptor \(uuid)" }
}

extension Notifications.Value {
    /// When it was received as wall-clock time: microseconds since 1970-01-01 00:00 UTC.
    public var unixMicroseconds: Int64 { time.unixMicroseconds }
}

extension Notifications.Value: CustomStringConvertible {
    /// The octets in hexadecimal.
    public var description: String { bytes.map { hexadecimal($0, digits: 2).dropFirst(2) }.joined(separator: " ") }
}

extension Instant {
    /// The same moment as wall-clock time: microseconds since 1970-01-01 00:00 UTC, by the current setting of that
    /// clock. The engine's own clock never jumps, and continues while the machine sleeps.
    public var unixMicroseconds: Int64 {
        Int64(EventLoop.unixMicroseconds) - (Int64(EventLoop.nowMicroseconds) - microseconds)
    }
}
