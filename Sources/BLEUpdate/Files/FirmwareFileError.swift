/// What is wrong with a firmware file. Nothing has been sent to a device then.
public enum FirmwareFileError: Error, Hashable, Sendable {
    /// Neither a zip package nor an image of MCUboot.
    case unknownKind
    /// Longer than an update can be, in octets.
    case tooLong(limit: Int)
    /// The zip file is damaged; how.
    case damagedArchive(String)
    /// The zip file needs zlib, which this system lacks.
    case noDecompressor
    /// A part is missing in the package.
    case missing(String)
    /// The manifest is no JSON, or lacks something.
    case invalidManifest(String)
    /// The image of MCUboot is damaged; how.
    case damagedImage(String)
    /// The init packet is damaged, or does not fit to the image; how.
    case invalidInitPacket(String)
}

extension FirmwareFileError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownKind:
            "this is no firmware package: it is neither a zip file with a manifest nor an image of MCUboot; use the "
                + "zip file of nrfutil, dfu_application.zip, or the signed .bin file"
        case .tooLong(let limit): "the file has more than \(limit >> 20) MiB, which no device takes"
        case .damagedArchive(let detail): "the zip file is damaged: \(detail); fetch or build it again"
        case .noDecompressor: "the zip file is compressed, and zlib is not installed; install zlib1g"
        case .missing(let name): "the package lacks \(name); build it again"
        case .invalidManifest(let detail): "the package's manifest is invalid: \(detail)"
        case .damagedImage(let detail): "the image is damaged: \(detail); fetch or build it again"
        case .invalidInitPacket(let detail): "the init packet does not fit: \(detail); build the package again"
        }
    }
}
