import BLEPackets
import CJelling

/// The longest text that a caller may give, in octets: what is longer has probably no end.
private let maximumTextLength = 1024
/// The most items of one array of a caller: there are no more handles to ask for.
let maximumItemCount = 65536

/// Copies a structure that begins with its size, as much as the caller has of it; the rest is zero, which means the
/// default. `false` where the caller has more of it than this library knows, or not even its size.
func read<Structure: BitwiseCopyable>(_ structure: inout Structure, from pointer: UnsafePointer<Structure>) -> Bool {
    let raw = unsafe UnsafeRawPointer(pointer)
    let size = unsafe Int(clamping: raw.loadUnaligned(as: UInt32.self))
    guard size >= 4, size <= MemoryLayout<Structure>.size else { return false }
    unsafe withUnsafeMutableBytes(of: &structure) {
        unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: raw, count: size))
    }
    return true
}

/// Fills a structure of the caller's that begins with its size, as much as the caller has of it.
func write<Structure: BitwiseCopyable>(
    _ structure: Structure, to pointer: UnsafeMutablePointer<Structure>
) -> jelling_status {
    let raw = UnsafeMutableRawPointer(pointer)
    let size = unsafe Int(clamping: raw.loadUnaligned(as: UInt32.self))
    guard size >= 4, size <= MemoryLayout<Structure>.size else { return JELLING_ERROR_ARGUMENT }
    unsafe withUnsafeBytes(of: structure) { structure in
        for index in 4..<size { unsafe raw.storeBytes(of: structure[index], toByteOffset: index, as: UInt8.self) }
    }
    return JELLING_OK
}

/// The items of an array of structures that begin with their size, which is also their distance; `nil` where one of
/// them is not what `convert` accepts.
func readAll<Structure: BitwiseCopyable, Item>(
    _ pointer: UnsafePointer<Structure>?, _ count: Int, zero: Structure, _ convert: (Structure) -> Item?
) -> [Item]? {
    guard count > 0 else { return count == 0 ? [] : nil }
    guard let pointer = unsafe pointer, count <= maximumItemCount else { return nil }
    let first = unsafe UnsafeRawPointer(pointer)
    let distance = unsafe Int(clamping: first.loadUnaligned(as: UInt32.self))
    guard distance >= 8, distance <= MemoryLayout<Structure>.size, distance % 4 == 0 else { return nil }
    var items: [Item] = []
    for index in 0..<count {
        let place = unsafe first + index * distance
        var structure = zero
        guard unsafe place.loadUnaligned(as: UInt32.self) == distance,
            unsafe read(&structure, from: place.assumingMemoryBound(to: Structure.self)), let item = convert(structure)
        else { return nil }
        items.append(item)
    }
    return items
}

/// The items of an array of values of a fixed size.
func readValues<Value: BitwiseCopyable, Item>(
    _ pointer: UnsafePointer<Value>?, _ count: Int, _ convert: (Value) -> Item?
) -> [Item]? {
    guard count > 0 else { return count == 0 ? [] : nil }
    guard let pointer = unsafe pointer, count <= maximumItemCount else { return nil }
    var items: [Item] = []
    items.reserveCapacity(count)
    for index in 0..<count {
        guard let item = unsafe convert(pointer[index]) else { return nil }
        items.append(item)
    }
    return items
}

/// Octets of a caller, at most `limit`; `nil` for a null pointer with a length.
func octets(_ pointer: UnsafePointer<UInt8>?, _ length: Int, limit: Int) -> [UInt8]? {
    guard length > 0 else { return length == 0 ? [] : nil }
    guard let pointer = unsafe pointer, length <= limit else { return nil }
    return unsafe [UInt8](UnsafeBufferPointer(start: pointer, count: length))
}

func octets(_ bytes: jelling_bytes, limit: Int) -> [UInt8]? { unsafe octets(bytes.data, bytes.length, limit: limit) }

/// So many octets behind a pointer, most significant first.
func key(_ pointer: UnsafePointer<UInt8>?) -> Key128? {
    guard let octets = unsafe octets(pointer, 16, limit: 16) else { return nil }
    return Key128(mostSignificantFirst: octets)
}

/// A text of a caller; `nil` where it is longer than `limit`, in octets, has no end within reach, or is not UTF-8: to
/// repair it, the standard library would bring its tables of UTF-16.
func text(_ pointer: UnsafePointer<CChar>, limit: Int = maximumTextLength) -> String? {
    var octets: [UInt8] = []
    while octets.count <= limit {
        let octet = unsafe UInt8(bitPattern: pointer[octets.count])
        if octet == 0 { return String(validating: octets, as: UTF8.self) }
        octets.append(octet)
    }
    return nil
}

func uuids(_ pointer: UnsafePointer<jelling_uuid>?, _ count: Int) -> [BluetoothUUID]? {
    unsafe readValues(pointer, count) { BluetoothUUID($0) }
}

func handles(_ pointer: UnsafePointer<UInt16>?, _ count: Int) -> [AttributeHandle]? {
    unsafe readValues(pointer, count) { AttributeHandle(rawValue: $0) }
}

extension UInt32 {
    /// Whether a bit of an enumeration of flags is set.
    func has(_ flag: Int) -> Bool { self & UInt32(truncatingIfNeeded: flag) != 0 }
}
