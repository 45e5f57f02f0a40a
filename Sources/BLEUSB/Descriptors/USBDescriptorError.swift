/// Why the descriptors of a device cannot be read.
package enum USBDescriptorError: Error, Equatable {
    /// They end in the middle of the one at this offset.
    case truncated(at: Int)
    /// The one at this offset states a length that its kind cannot have.
    case invalidLength(UInt8, at: Int)
    /// They do not begin with that of a device.
    case notADevice
    /// There are more of them than any device needs.
    case tooMany
}

extension USBDescriptorError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .truncated(let offset): "its descriptors end in the middle of the one at octet \(offset)"
        case .invalidLength(let length, let offset): "its descriptor at octet \(offset) states a length of \(length)"
        case .notADevice: "it has no device descriptor"
        case .tooMany: "it has too many descriptors"
        }
    }
}
