import BLEAssignedNumbers
import BLEPackets
import Foundation

/// A UUID of 16, 32 or 128 bits, as in attributes and advertisements (SPEC MOD-9, 2.5).
///
/// Two UUIDs are equal if their 128-bit values are equal: `CBUUID(string: "180D")` equals `CBUUID(string:
/// "0000180D-0000-1000-8000-00805F9B34FB")`.
open class CBUUID: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked Sendable is safe because the value never changes, and subclasses must keep it so.
    let value: BluetoothUUID

    init(_ value: BluetoothUUID) {
        self.value = value
        super.init()
    }

    /// Creates a UUID from 4, 8 or 36 characters, as in `180D` or `71DA3FD1-7E10-41C1-B16F-4430B506CDE7`. The short
    /// forms may have the prefix `0x`, as in some tutorials.
    /// - Precondition: the text is a UUID; otherwise the program ends, as on Apple's system.
    public convenience init(string theString: String) {
        guard let value = BluetoothUUID(theString) else {
            fatalError(
                "String \(theString) does not represent a valid UUID: it takes 4, 8 or 36 hexadecimal characters")
        }
        self.init(value)
    }

    /// Creates a UUID from 2, 4 or 16 octets, most significant first.
    /// - Precondition: the data has one of these lengths.
    public convenience init(data theData: Data) {
        guard let value = BluetoothUUID(mostSignificantFirst: theData) else {
            // Apple's initializer raises an exception here too; this one cannot fail in another way.
            fatalError("Data of \(theData.count) bytes is not a UUID: 2, 4 or 16 bytes are needed")
        }
        self.init(value)
    }

    /// Creates a UUID from Foundation's type.
    public convenience init(nsuuid theUUID: UUID) { self.init(BluetoothUUID(theUUID)) }

    /// Creates a UUID from Core Foundation's type.
    public convenience init(cfuuid theUUID: CFUUID) { self.init(BluetoothUUID(theUUID as UUID)) }

    /// Creates the UUID of zeros, for tests and placeholders: Apple's class inherits this initializer.
    override public convenience init() { self.init(BluetoothUUID(high: 0, low: 0)) }

    /// The octets, most significant first: 2, 4 or 16 of them.
    open var data: Data {
        switch value.width {
        case .bits16: Data(value.bytes[2..<4])
        case .bits32: Data(value.bytes[0..<4])
        case .bits128: Data(value.bytes)
        }
    }

    /// The shortest form: `180D` or 8 digits for a UUID on the Bluetooth base, otherwise all 36 characters; in upper
    /// case.
    open var uuidString: String { value.description }

    /// The name of a service, characteristic or descriptor that the Bluetooth SIG assigned, such as `Heart Rate`;
    /// otherwise `uuidString`. Names of UUIDs that belong to companies are not shown, as on Apple's system.
    override open var description: String {
        guard let short = value.shortValue, !(0xFC00...0xFFFF).contains(short),
            let name = AssignedNumbers.uuid(short)
        else { return uuidString }
        return name.description
    }

    override open var hash: Int { value.hashValue }

    override open func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CBUUID else { return false }
        return value == other.value
    }

    /// A property by its name: `UUIDString` or `data`.
    open func value(forKey key: String) -> Any? {
        switch key {
        case "UUIDString", "uuidString": uuidString
        case "data": data
        default: nil
        }
    }

    /// Returns the same object, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

extension BluetoothUUID {
    /// `nil` when the count is not 2, 4 or 16.
    init?(mostSignificantFirst octets: some Collection<UInt8>) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        for octet in octets {
            high = high << 8 | low >> 56
            low = low << 8 | UInt64(octet)
        }
        switch octets.count {
        case 2: self.init(UInt16(truncatingIfNeeded: low))
        case 4: self.init(UInt32(truncatingIfNeeded: low))
        case 16: self.init(high: high, low: low)
        default: return nil
        }
    }

    init(_ uuid: UUID) {
        let octets = unsafe withUnsafeBytes(of: uuid.uuid) { unsafe Array($0) }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in 0..<8 {
            high = high << 8 | UInt64(octets[index])
            low = low << 8 | UInt64(octets[index + 8])
        }
        self.init(high: high, low: low)
    }
}

extension UUID {
    init(_ value: BluetoothUUID) {
        let octets = value.bytes
        self.init(
            uuid: (
                octets[0], octets[1], octets[2], octets[3], octets[4], octets[5], octets[6], octets[7], octets[8],
                octets[9], octets[10], octets[11], octets[12], octets[13], octets[14], octets[15]
            ))
    }
}
