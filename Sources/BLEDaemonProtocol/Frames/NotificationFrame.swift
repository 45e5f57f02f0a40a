import BLEHost
import BLEPackets

/// A notification or indication of a device, of which there may be thousands a second: encoded and decoded without
/// SwiftProtobuf. The octets are those of the schema; a message that has any other form is left to SwiftProtobuf.
public struct NotificationFrame: Equatable, Sendable {
    /// The link over which it came.
    public var link: LinkID
    /// The handle of the characteristic value.
    public var handle: AttributeHandle
    /// What the device sent, at most 512 octets.
    public var value: [UInt8]
    /// Whether it came as an indication.
    public var isIndication: Bool

    public init(_ link: LinkID, _ handle: AttributeHandle, value: [UInt8], isIndication: Bool) {
        self.link = link
        self.handle = handle
        self.value = value
        self.isIndication = isIndication
    }

    /// Keys of fields in `Protocol/bled.proto`: of `FromDaemon` and `Notification`.
    private enum Key {
        static let notification: UInt8 = 7 << 3 | 2
        static let link: UInt8 = 1 << 3 | 1
        static let handle: UInt8 = 2 << 3
        static let value: UInt8 = 3 << 3 | 2
        static let isIndication: UInt8 = 4 << 3
    }

    /// Appends the message as a frame for the socket.
    public func append(to octets: inout [UInt8]) {
        // Fields that are zero or empty are left out.
        let (linkNumber, handleNumber) = (link.wire, UInt64(handle.rawValue))
        let linkField = linkNumber == 0 ? 0 : 1 + 8
        let handleField = handleNumber == 0 ? 0 : 1 + Varint.count(handleNumber)
        let valueField = value.isEmpty ? 0 : 1 + Varint.count(UInt64(value.count)) + value.count
        let content = linkField + handleField + valueField + (isIndication ? 2 : 0)
        let message = 1 + Varint.count(UInt64(content)) + content
        FrameReader.appendHeader(of: message, to: &octets)
        octets.append(Key.notification)
        Varint.append(UInt64(content), to: &octets)
        if linkField > 0 {
            octets.append(Key.link)
            for place in 0..<8 as Range<UInt64> { octets.append(UInt8(truncatingIfNeeded: linkNumber >> (8 * place))) }
        }
        if handleField > 0 {
            octets.append(Key.handle)
            Varint.append(handleNumber, to: &octets)
        }
        if valueField > 0 {
            octets.append(Key.value)
            Varint.append(UInt64(value.count), to: &octets)
            octets += value
        }
        if isIndication {
            octets.append(Key.isIndication)
            octets.append(1)
        }
    }

    /// The notification in a message of the daemon.
    /// - Returns: `nil` if SwiftProtobuf has to say what it is.
    public init?(message: ArraySlice<UInt8>) {
        var reader = WireReader(octets: message)
        guard reader.skip(Key.notification), reader.skipLengthOfRest(), reader.skip(Key.link),
            let link = reader.fixed64(), reader.skip(Key.handle), let number = reader.varint(),
            let handle = UInt16(exactly: number), handle > 0, reader.skip(Key.value), let count = reader.varint(),
            let value = reader.octets(count)
        else { return nil }
        var isIndication = false
        if !reader.rest.isEmpty {
            guard reader.skip(Key.isIndication), reader.skip(1), reader.rest.isEmpty else { return nil }
            isIndication = true
        }
        self.init(
            LinkID(wire: link), AttributeHandle(rawValue: handle), value: Array(value), isIndication: isIndication)
    }
}

extension GATTNotification {
    public init(_ frame: NotificationFrame, for client: ClientID) {
        self.init(handle: frame.handle, value: frame.value, isIndication: frame.isIndication, clients: [client])
    }
}
