/// Puts files together that other programs would write, in either order of octets.
struct FileBuilder {
    var bytes: [UInt8] = []
    var isBigEndian: Bool

    init(bigEndian: Bool) { isBigEndian = bigEndian }

    mutating func u16(_ value: UInt16) { integer(value) }
    mutating func u32(_ value: UInt32) { integer(value) }
    mutating func u64(_ value: UInt64) { integer(value) }
    mutating func raw(_ octets: [UInt8]) { bytes += octets }

    private mutating func integer<Value: FixedWidthInteger>(_ value: Value) {
        unsafe withUnsafeBytes(of: isBigEndian ? value.bigEndian : value.littleEndian) { unsafe bytes += $0 }
    }

    // MARK: pcap

    static func pcap(bigEndian: Bool, magic: UInt32 = 0xA1B2_C3D4, link: UInt32) -> Self {
        var file = Self(bigEndian: bigEndian)
        file.u32(magic)
        file.u16(2)
        file.u16(4)
        file.u64(0)
        file.u32(65535)
        file.u32(link)
        return file
    }

    mutating func pcapRecord(seconds: UInt32, fraction: UInt32, original: UInt32? = nil, _ data: [UInt8]) {
        u32(seconds)
        u32(fraction)
        u32(UInt32(data.count))
        u32(original ?? UInt32(data.count))
        raw(data)
    }

    // MARK: pcapng

    mutating func block(_ type: UInt32, _ body: (inout Self) -> Void) {
        var content = Self(bigEndian: isBigEndian)
        body(&content)
        content.bytes += [UInt8](repeating: 0, count: -content.bytes.count & 3)
        let total = UInt32(content.bytes.count + 12)
        u32(type)
        u32(total)
        raw(content.bytes)
        u32(total)
    }

    mutating func section(length: UInt64 = .max) {
        block(0x0A0D_0D0A) {
            $0.u32(0x1A2B_3C4D)
            $0.u16(1)
            $0.u16(0)
            $0.u64(length)
        }
    }

    mutating func interface(link: UInt16, snapLength: UInt32 = 0, options: [(UInt16, [UInt8])] = []) {
        block(1) {
            $0.u16(link)
            $0.u16(0)
            $0.u32(snapLength)
            for option in options { $0.option(option.0, option.1) }
        }
    }

    mutating func option(_ code: UInt16, _ value: [UInt8]) {
        u16(code)
        u16(UInt16(value.count))
        raw(value + [UInt8](repeating: 0, count: -value.count & 3))
    }

    mutating func enhancedPacket(
        interface: UInt32 = 0, ticks: UInt64, _ data: [UInt8], options: [(UInt16, [UInt8])] = []
    ) {
        block(6) {
            $0.u32(interface)
            $0.u32(UInt32(ticks >> 32))
            $0.u32(UInt32(truncatingIfNeeded: ticks))
            $0.u32(UInt32(data.count))
            $0.u32(UInt32(data.count))
            $0.raw(data + [UInt8](repeating: 0, count: -data.count & 3))
            for option in options { $0.option(option.0, option.1) }
        }
    }

    /// A number in the order of this file, as the value of an option.
    func octets<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        unsafe withUnsafeBytes(of: isBigEndian ? value.bigEndian : value.littleEndian) { unsafe [UInt8]($0) }
    }

    // MARK: PacketLogger and btsnoop

    mutating func packetLogger(seconds: UInt32, microseconds: UInt32, type: UInt8, _ payload: [UInt8]) {
        u32(UInt32(9 + payload.count))
        u32(seconds)
        u32(microseconds)
        raw([type] + payload)
    }

    static func btsnoop(datalink: UInt32, version: UInt32 = 1) -> Self {
        var file = Self(bigEndian: true)
        file.raw([UInt8]("btsnoop\0".utf8))
        file.u32(version)
        file.u32(datalink)
        return file
    }

    mutating func btsnoopRecord(
        flags: UInt32, time: UInt64, drops: UInt32 = 0, original: UInt32? = nil, _ data: [UInt8]
    ) {
        u32(original ?? UInt32(data.count))
        u32(UInt32(data.count))
        u32(flags)
        u32(drops)
        u64(time)
        raw(data)
    }
}
