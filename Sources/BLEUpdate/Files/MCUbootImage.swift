import Crypto

/// An image of MCUboot, checked (MCUboot, Design, Image format).
public struct MCUbootImage: Hashable, Sendable {
    /// The whole file.
    public let octets: [UInt8]
    /// Major, minor, revision and build.
    public let version: String
    /// The hash in the trailer: by it devices name the image.
    public let hash: [UInt8]
    /// The SHA-256 of the whole file: by it devices recognise an upload.
    public let fileHash: [UInt8]
    /// Whether the image has a signature, which only the device can check.
    public let isSigned: Bool
    /// Whether it is encrypted, so that its hash cannot be checked here.
    public let isEncrypted: Bool
    /// The number of the image, for devices with several processors.
    public var number = 0

    /// The first four octets of an image as a number.
    static let magic = 0x96F3_B83D
    private static let hashTypes = [0x10: 32, 0x11: 48, 0x12: 64]

    /// - Throws: what is wrong with the image.
    public init(_ octets: [UInt8]) throws(FirmwareFileError) {
        let reader = LittleEndian(octets)
        guard reader.number32(at: 0) == Self.magic else { throw .unknownKind }
        guard let headerLength = reader.number16(at: 8), let protected = reader.number16(at: 10),
            let length = reader.number32(at: 12), let flags = reader.number32(at: 16),
            let build = reader.number32(at: 24), let revision = reader.number16(at: 22), octets.count >= 32
        else { throw .damagedImage("its header is cut") }
        guard headerLength >= 32 else { throw .damagedImage("its header is too short") }
        let end = headerLength + length
        guard end + protected <= octets.count else { throw .damagedImage("it is shorter than its header says") }
        isEncrypted = flags & 0x0C != 0
        version = "\(octets[20]).\(octets[21]).\(revision)" + (build == 0 ? "" : "+\(build)")
        if protected > 0, reader.number16(at: end) != 0x6908 || reader.number16(at: end + 2) != protected {
            throw .damagedImage("its protected trailer is wrong")
        }
        let trailer = end + protected
        guard reader.number16(at: trailer) == 0x6907, let total = reader.number16(at: trailer + 2),
            total >= 4, trailer + total <= octets.count
        else { throw .damagedImage("its trailer is missing: sign it with imgtool") }
        var place = trailer + 4
        var found: (type: Int, octets: [UInt8])?
        var isSigned = false
        while place < trailer + total {
            guard let type = reader.number16(at: place), let count = reader.number16(at: place + 2),
                place + 4 + count <= trailer + total
            else { throw .damagedImage("its trailer is cut") }
            if Self.hashTypes[type] == count {
                guard found == nil else { throw .damagedImage("it has two hashes") }
                found = (type, Array(octets[place + 4..<place + 4 + count]))
            }
            isSigned = isSigned || 0x20...0x25 ~= type
            place += 4 + count
        }
        guard let found else { throw .damagedImage("its trailer has no hash") }
        if !isEncrypted {
            let content = octets[..<trailer]
            let computed: [UInt8] =
                switch found.type {
                case 0x10: Array(SHA256.hash(data: content))
                case 0x11: Array(SHA384.hash(data: content))
                default: Array(SHA512.hash(data: content))
                }
            guard computed == found.octets else { throw .damagedImage("its hash is not that of its content") }
        }
        hash = found.octets
        self.isSigned = isSigned
        self.octets = octets
        fileHash = Array(SHA256.hash(data: octets))
    }
}
