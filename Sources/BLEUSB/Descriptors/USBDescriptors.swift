/// What a device says of itself: its descriptor and those of all its configurations, one after the other, as the kernel
/// passes them on (USB 2.0, 9.5). A fake device can say anything.
package struct USBDescriptors: Equatable {
    let vendor: UInt16
    let product: UInt16
    /// `bcdDevice`: the release of the device, in binary-coded decimal.
    let release: UInt16
    let kind: USBClass
    private(set) var configurations: [USBConfiguration] = []

    /// Far above what any device has.
    static let greatestConfigurationCount = 8
    static let greatestSettingCount = 256
    static let greatestEndpointCount = 32
    static let greatestByteCount = 64 * 1024

    /// What kind of descriptor it is (USB 2.0, table 9-5).
    private enum Kind { static let device = 1, configuration = 2, interface = 4, endpoint = 5 }

    /// - Throws: `USBDescriptorError` for octets that are not descriptors; unknown ones are skipped.
    package init(_ bytes: [UInt8]) throws(USBDescriptorError) {
        guard bytes.count <= Self.greatestByteCount else { throw .tooMany }
        guard bytes.count >= 2, bytes[0] >= 18, bytes[1] == Kind.device else { throw .notADevice }
        guard bytes.count >= Int(bytes[0]) else { throw .truncated(at: 0) }
        func number(_ offset: Int) -> UInt16 { UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8 }
        kind = USBClass(code: bytes[4], subclass: bytes[5], protocolCode: bytes[6])
        vendor = number(8)
        product = number(10)
        release = number(12)
        var offset = Int(bytes[0])
        var settings = 0
        while offset < bytes.count {
            guard offset + 2 <= bytes.count else { throw .truncated(at: offset) }
            let length = Int(bytes[offset])
            guard length >= 2 else { throw .invalidLength(bytes[offset], at: offset) }
            guard offset + length <= bytes.count else { throw .truncated(at: offset) }
            let fields = bytes[offset..<offset + length]
            switch Int(bytes[offset + 1]) {
            case Kind.configuration:
                guard length >= 9 else { throw .invalidLength(bytes[offset], at: offset) }
                guard configurations.count < Self.greatestConfigurationCount else { throw .tooMany }
                configurations.append(USBConfiguration(value: bytes[offset + 5]))
            case Kind.interface:
                guard length >= 9 else { throw .invalidLength(bytes[offset], at: offset) }
                settings += 1
                guard settings <= Self.greatestSettingCount else { throw .tooMany }
                addInterface(Array(fields))
            case Kind.endpoint:
                guard length >= 7 else { throw .invalidLength(bytes[offset], at: offset) }
                try addEndpoint(Array(fields))
            default: break
            }
            offset += length
        }
    }

    /// One outside of a configuration is skipped.
    private mutating func addInterface(_ fields: [UInt8]) {
        guard !configurations.isEmpty else { return }
        configurations[configurations.count - 1].interfaces.append(
            USBInterface(
                number: fields[2], setting: fields[3],
                kind: USBClass(code: fields[5], subclass: fields[6], protocolCode: fields[7])))
    }

    /// One outside of an interface is skipped.
    private mutating func addEndpoint(_ fields: [UInt8]) throws(USBDescriptorError) {
        guard let configuration = configurations.indices.last,
            let interface = configurations[configuration].interfaces.indices.last,
            let kind = USBEndpoint.Kind(rawValue: fields[3] & 0x03)
        else { return }
        guard configurations[configuration].interfaces[interface].endpoints.count < Self.greatestEndpointCount else {
            throw .tooMany
        }
        // The bits above are the packets in a microframe (USB 2.0, 9.6.6).
        let size = (Int(fields[5]) << 8 | Int(fields[4])) & 0x7FF
        configurations[configuration].interfaces[interface].endpoints.append(
            USBEndpoint(address: fields[2], kind: kind, packetByteCount: size))
    }
}
