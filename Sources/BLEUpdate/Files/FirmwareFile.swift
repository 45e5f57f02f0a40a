import BLEJSON

/// A firmware file, checked: what it has, and for which kind of device it is.
public enum FirmwareFile: Hashable, Sendable {
    /// Images of MCUboot, for devices that speak mcumgr's SMP.
    case images([MCUbootImage])
    /// A package of Nordic's DFU, in the order in which its parts are sent.
    case nordic([NordicFirmware])

    /// The longest file that is read.
    public static let byteLimit = 32 << 20

    /// Reads a zip package or an image, and checks lengths and hashes.
    public init(_ octets: [UInt8]) throws(FirmwareFileError) {
        guard octets.count <= Self.byteLimit else { throw .tooLong(limit: Self.byteLimit) }
        guard ZipArchive.isArchive(octets) else {
            self = .images([try MCUbootImage(octets)])
            return
        }
        let archive = try ZipArchive(octets)
        guard archive.names.contains("manifest.json") else { throw .missing("manifest.json") }
        var limits = JSONReader.Limits()
        limits.byteCount = 1 << 20
        limits.valueCount = 10_000
        limits.depth = 16
        let text = try archive.file("manifest.json")
        let manifest: JSONValue
        do throws(JSONProblem) {
            manifest = try JSONReader.value(in: text, limits: limits)
        } catch { throw .invalidManifest("line \(error.line): \(error.message)") }
        if case .array(let files) = manifest["files"] {
            self = .images(try Self.images(files, archive))
        } else if let parts = manifest["manifest"] {
            self = .nordic(try NordicFirmware.parts(parts, archive))
        } else {
            throw .invalidManifest("it names no files")
        }
    }

    /// The files of a package of the nRF Connect SDK.
    private static func images(_ files: [JSONValue], _ archive: ZipArchive) throws(FirmwareFileError) -> [MCUbootImage]
    {
        guard !files.isEmpty, files.count <= 16 else { throw .invalidManifest("it names \(files.count) files") }
        var images: [MCUbootImage] = []
        var byteCount = 0
        for file in files {
            guard case .string(let name) = file["file"] else { throw .invalidManifest("a file has no name") }
            let octets = try archive.file(name)
            if case .integer(let size) = file["size"], size != octets.count {
                throw .invalidManifest("‘\(name)’ has another size than it says")
            }
            // One file of the archive may be named several times.
            byteCount += octets.count
            guard byteCount <= byteLimit else { throw .tooLong(limit: byteLimit) }
            var image = try MCUbootImage(octets)
            image.number = try number(of: file, name)
            guard !images.contains(where: { $0.number == image.number }) else {
                throw .invalidManifest(
                    "it has several files for image \(image.number): take the one for the device's free slot")
            }
            images.append(image)
        }
        return images
    }

    private static func number(of file: JSONValue, _ name: String) throws(FirmwareFileError) -> Int {
        let number: Int? =
            switch file["image_index"] {
            case nil, .null: 0
            case .integer(let number): number
            case .string(let text): Int(text)
            default: nil
            }
        guard let number, 0...255 ~= number else {
            throw .invalidManifest("the image_index of ‘\(name)’ is not a number from 0 to 255")
        }
        return number
    }

    /// All octets that are sent.
    public var byteCount: Int {
        switch self {
        case .images(let images): images.reduce(0) { $0 + $1.octets.count }
        case .nordic(let parts): parts.reduce(0) { $0 + $1.image.count }
        }
    }
}
