// The names are those of jelling.h.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEHost
import BLEPackets
import CJelling

/// The caller's wish; zero leaves it to the default.
private func preferredMTU(_ preferred: UInt16) -> UInt16? {
    if preferred == 0 { return 517 }
    return (23...517).contains(preferred) ? preferred : nil
}

private func attributeWrites(_ writes: UnsafePointer<jelling_attribute_value>?, _ count: Int) -> [AttributeWrite]? {
    unsafe readValues(writes, count) { write in
        guard let value = unsafe octets(write.value, limit: 512) else { return nil }
        return AttributeWrite(handle: AttributeHandle(rawValue: unsafe write.handle), value: value)
    }
}

@c @implementation
public func jelling_exchange_mtu(
    _ engine: Handle, _ link: Link, _ preferred: UInt16, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, gatt: preferredMTU(preferred).map { .exchangeMTU(preferred: $0) }, now, operation)
}

@c @implementation
public func jelling_discover_services(
    _ engine: Handle, _ link: Link, _ uuids: UnsafePointer<jelling_uuid>?, _ count: Int, _ now: Int64,
    _ operation: Number
) -> Status {
    unsafe submit(
        engine, on: link, gatt: JellingC.uuids(uuids, count).map { .discoverServices(uuids: $0) }, now, operation)
}

@c @implementation
public func jelling_discover_secondary_services(
    _ engine: Handle, _ link: Link, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, gatt: .discoverSecondaryServices, now, operation)
}

@c @implementation
public func jelling_discover_included_services(
    _ engine: Handle, _ link: Link, _ first: UInt16, _ last: UInt16, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, gatt: .discoverIncludedServices(AttributeHandleRange(first, last)), now, operation)
}

@c @implementation
public func jelling_discover_characteristics(
    _ engine: Handle, _ link: Link, _ first: UInt16, _ last: UInt16, _ uuids: UnsafePointer<jelling_uuid>?,
    _ count: Int, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, on: link,
        gatt: JellingC.uuids(uuids, count).map {
            .discoverCharacteristics(AttributeHandleRange(first, last), uuids: $0)
        }, now, operation)
}

@c @implementation
public func jelling_discover_descriptors(
    _ engine: Handle, _ link: Link, _ first: UInt16, _ last: UInt16, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, gatt: .discoverDescriptors(AttributeHandleRange(first, last)), now, operation)
}

@c @implementation
public func jelling_read(
    _ engine: Handle, _ link: Link, _ handle: UInt16, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, gatt: .read(AttributeHandle(rawValue: handle)), now, operation)
}

@c @implementation
public func jelling_read_long(
    _ engine: Handle, _ link: Link, _ handle: UInt16, _ offset: UInt16, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, gatt: .readLong(AttributeHandle(rawValue: handle), offset: offset), now, operation)
}

@c @implementation
public func jelling_read_by_uuid(
    _ engine: Handle, _ link: Link, _ uuid: UnsafePointer<jelling_uuid>?, _ first: UInt16, _ last: UInt16, _ now: Int64,
    _ operation: Number
) -> Status {
    unsafe submit(
        engine, on: link, gatt: uuids(uuid, 1).map { .readUsingUUID($0[0], AttributeHandleRange(first, last)) }, now,
        operation)
}

@c @implementation
public func jelling_read_multiple(
    _ engine: Handle, _ link: Link, _ handles: UnsafePointer<UInt16>?, _ count: Int, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, gatt: JellingC.handles(handles, count).map { .readMultiple($0) }, now, operation)
}

@c @implementation
public func jelling_read_multiple_variable(
    _ engine: Handle, _ link: Link, _ handles: UnsafePointer<UInt16>?, _ count: Int, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, on: link, gatt: JellingC.handles(handles, count).map { .readMultipleVariable($0) }, now, operation)
}

@c @implementation
public func jelling_write(
    _ engine: Handle, _ link: Link, _ handle: UInt16, _ value: Octets, _ length: Int, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, on: link,
        gatt: octets(value, length, limit: 512).map { .write(AttributeHandle(rawValue: handle), value: $0) }, now,
        operation)
}

@c @implementation
public func jelling_write_long(
    _ engine: Handle, _ link: Link, _ handle: UInt16, _ value: Octets, _ length: Int, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, on: link,
        gatt: octets(value, length, limit: 512).map { .writeLong(AttributeHandle(rawValue: handle), value: $0) }, now,
        operation)
}

@c @implementation
public func jelling_reliable_write(
    _ engine: Handle, _ link: Link, _ writes: UnsafePointer<jelling_attribute_value>?, _ count: Int, _ now: Int64,
    _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, gatt: attributeWrites(writes, count).map { .reliableWrite($0) }, now, operation)
}

@c @implementation
public func jelling_write_command(
    _ engine: Handle, _ link: Link, _ handle: UInt16, _ value: Octets, _ length: Int, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, on: link,
        gatt: octets(value, length, limit: 512).map { .writeCommand(AttributeHandle(rawValue: handle), value: $0) },
        now, operation)
}

@c @implementation
public func jelling_write_signed(
    _ engine: Handle, _ link: Link, _ handle: UInt16, _ value: Octets, _ length: Int, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, on: link,
        gatt: octets(value, length, limit: 512).map { .writeSigned(AttributeHandle(rawValue: handle), value: $0) }, now,
        operation)
}

@c @implementation
public func jelling_subscribe(
    _ engine: Handle, _ link: Link, _ handle: UInt16, _ configuration: UInt16, _ indications: UInt32, _ now: Int64,
    _ operation: Number
) -> Status {
    unsafe submit(
        engine, on: link,
        gatt: .subscribe(
            AttributeHandle(rawValue: handle), configuration: AttributeHandle(rawValue: configuration),
            mode: indications != 0 ? .indications : .notifications), now, operation)
}

@c @implementation
public func jelling_unsubscribe(
    _ engine: Handle, _ link: Link, _ handle: UInt16, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, gatt: .unsubscribe(AttributeHandle(rawValue: handle)), now, operation)
}
