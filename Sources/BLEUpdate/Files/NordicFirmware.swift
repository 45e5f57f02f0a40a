import BLEJSON
import Crypto

/// A part of a package of Nordic's DFU: an image and its init packet.
public struct NordicFirmware: Hashable, Sendable {
    /// What is in the image.
    public enum Kind: String, Sendable {
        case application, bootloader
        case softDevice = "softdevice"
        /// SoftDevice and bootloader, one behind the other.
        case system = "softdevice_bootloader"
    }

    /// The protocol for which its init packet is.
    public enum Generation: Hashable, Sendable {
        case secure(NordicInitCommand)
        case legacy
    }

    /// What is in the image.
    public let kind: Kind
    /// The octets of the `.bin` file.
    public let image: [UInt8]
    /// The octets of the `.dat` file.
    public let initPacket: [UInt8]
    /// The protocol.
    public let generation: Generation
    /// The octets of the SoftDevice in the image.
    public let softDeviceByteCount: Int
    /// The octets of the bootloader in the image.
    public let bootloaderByteCount: Int
    /// The octets of the application in the image.
    public let applicationByteCount: Int

    /// The parts in the order in which they are sent: the system before the application.
    static func parts(_ manifest: JSONValue, _ archive: ZipArchive) throws(FirmwareFileError) -> [NordicFirmware] {
        var parts: [NordicFirmware] = []
        var isLegacy = false
        if manifest["dfu_version"]?.double != nil { isLegacy = true }
        for kind in [Kind.system, .softDevice, .bootloader, .application] {
            guard let entry = manifest[kind.rawValue] else { continue }
            guard case .string(let image) = entry["bin_file"] else {
                throw .invalidManifest("\(kind.rawValue) has no bin_file")
            }
            guard case .string(let packet) = entry["dat_file"] else {
                throw .invalidManifest("\(kind.rawValue) has no dat_file")
            }
            parts.append(
                try NordicFirmware(
                    kind, image: try archive.file(image), initPacket: try archive.file(packet), isLegacy: isLegacy,
                    entry))
        }
        guard !parts.isEmpty else { throw .invalidManifest("it names neither application nor bootloader") }
        guard Set(parts.map(\.isSecure)).count == 1 else {
            throw .invalidManifest("its parts are for different generations of bootloaders")
        }
        return parts
    }

    /// Whether the part is for secure DFU.
    public var isSecure: Bool { if case .secure = generation { true } else { false } }

    private init(
        _ kind: Kind, image: [UInt8], initPacket: [UInt8], isLegacy: Bool, _ entry: JSONValue
    ) throws(FirmwareFileError) {
        self.kind = kind
        self.image = image
        self.initPacket = initPacket
        guard !image.isEmpty else { throw .missing("the content of \(kind.rawValue)") }
        guard 1...4096 ~= initPacket.count else { throw .invalidInitPacket("it has \(initPacket.count) octets") }
        let command = isLegacy ? nil : try NordicInitCommand(initPacket)
        var sizes = (softDevice: 0, bootloader: 0, application: 0)
        if let command {
            try Self.check(command, kind, image)
            generation = .secure(command)
            sizes = (command.softDeviceByteCount, command.bootloaderByteCount, command.applicationByteCount)
        } else {
            try Self.checkLegacy(initPacket, image, entry)
            generation = .legacy
            switch kind {
            case .application: sizes.application = image.count
            case .bootloader: sizes.bootloader = image.count
            case .softDevice: sizes.softDevice = image.count
            case .system:
                let place = entry["info_read_only_metadata"] ?? entry
                guard case .integer(let softDevice) = place["sd_size"], case .integer(let bootloader) = place["bl_size"]
                else { throw .invalidManifest("softdevice_bootloader has no sizes") }
                sizes = (softDevice, bootloader, 0)
            }
        }
        (softDeviceByteCount, bootloaderByteCount, applicationByteCount) = sizes
        let parts = [sizes.softDevice, sizes.bootloader, sizes.application]
        guard parts.allSatisfy({ 0...image.count ~= $0 }), parts.reduce(0, +) == image.count else {
            throw .invalidInitPacket("the sizes that it says are not that of the image (\(image.count) octets)")
        }
    }

    private static func check(
        _ command: NordicInitCommand, _ kind: Kind, _ image: [UInt8]
    ) throws(FirmwareFileError) {
        let expected: [NordicInitCommand.FirmwareType] =
            switch kind {
            case .application: [.application, .externalApplication]
            case .bootloader: [.bootloader]
            case .softDevice: [.softDevice]
            case .system: [.softDeviceAndBootloader]
            }
        guard expected.contains(command.type) else {
            throw .invalidInitPacket("it is for \(command.type), and the manifest says \(kind.rawValue)")
        }
        // The hash is stored with its last octet first.
        let hash: [UInt8] = command.hash.reversed()
        let isRight: Bool
        switch command.hashType {
        case .none: isRight = true
        case .crc:
            let checksum = Checksum.crc32(image)
            isRight = command.hash == (0..<4).map { UInt8(truncatingIfNeeded: checksum >> UInt32(8 * $0)) }
        case .sha128: isRight = hash == Array(SHA256.hash(data: image)).prefix(16).map { $0 }
        case .sha256: isRight = hash == Array(SHA256.hash(data: image))
        case .sha512: isRight = hash == Array(SHA512.hash(data: image))
        }
        guard isRight else { throw .invalidInitPacket("its hash is not that of the image") }
    }

    /// Device type, revision and version are followed by the SoftDevices for which the image is, and by its CRC.
    private static func checkLegacy(
        _ packet: [UInt8], _ image: [UInt8], _ entry: JSONValue
    ) throws(FirmwareFileError) {
        let reader = LittleEndian(packet)
        guard let count = reader.number16(at: 8), count <= 64, packet.count >= 10 + 2 * count else {
            throw .invalidInitPacket("it is too short")
        }
        // Later forms, of signed images, have more; there the bootloader checks the image.
        guard packet.count == 12 + 2 * count, let checksum = reader.number16(at: 10 + 2 * count) else { return }
        guard Checksum.crc16(image) == UInt16(checksum) else {
            throw .invalidInitPacket("its checksum is not that of the image")
        }
    }
}
