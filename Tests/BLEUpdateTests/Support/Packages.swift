import BLESimulator
import BLEUpdate

/// Files as the makers' tools write them.
enum Packages {
    static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// A zip file whose files are stored.
    static func zip(_ files: [(name: String, octets: [UInt8])]) -> [UInt8] {
        var archive: [UInt8] = []
        var directory: [UInt8] = []
        for (name, octets) in files {
            let name = Array(name.utf8)
            let sizes =
                number(Int(Checksum.crc32(octets)), 4) + number(octets.count, 4) + number(octets.count, 4)
                + number(name.count, 2) + number(0, 2)
            directory +=
                number(0x0201_4B50, 4) + number(20, 2) + number(20, 2) + [UInt8](repeating: 0, count: 8) + sizes
            directory += [UInt8](repeating: 0, count: 10) + number(archive.count, 4) + name
            archive += number(0x0403_4B50, 4) + number(20, 2) + [UInt8](repeating: 0, count: 8) + sizes + name + octets
        }
        let start = archive.count
        return archive + directory + number(0x0605_4B50, 4) + number(0, 4) + number(files.count, 2)
            + number(files.count, 2) + number(directory.count, 4) + number(start, 4) + number(0, 2)
    }

    private static func varint(_ value: Int) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
    }

    private static func field(_ number: Int, _ value: Int) -> [UInt8] { varint(number << 3) + varint(value) }
    private static func field(_ number: Int, _ octets: [UInt8]) -> [UInt8] {
        varint(number << 3 | 2) + varint(octets.count) + octets
    }

    /// The init packet of a secure package.
    /// - Parameter system: the octets of SoftDevice and bootloader, if that is what it is.
    static func initPacket(
        _ image: [UInt8], version: Int = 2, hardware: Int = 52, isSigned: Bool = true, system: (Int, Int)? = nil
    ) -> [UInt8] {
        let hash = field(1, 3) + field(2, Array(SecureHash.sha256(image).reversed()))
        let initial =
            field(1, version) + field(2, hardware) + field(3, varint(0x100)) + field(4, system == nil ? 0 : 3)
            + field(5, system?.0 ?? 0) + field(6, system?.1 ?? 0) + field(7, system == nil ? image.count : 0)
            + field(8, hash) + field(9, 0)
        let command = field(1, 1) + field(2, initial)
        return isSigned
            ? field(2, field(1, command) + field(2, 0) + field(3, [UInt8](repeating: 0x5A, count: 64)))
            : field(1, command)
    }

    static func secure(_ image: [UInt8], version: Int = 2, hardware: Int = 52, isSigned: Bool = true) -> [UInt8] {
        let manifest = #"{"manifest":{"application":{"bin_file":"app.bin","dat_file":"app.dat"}}}"#
        return zip([
            ("manifest.json", Array(manifest.utf8)), ("app.bin", image),
            ("app.dat", initPacket(image, version: version, hardware: hardware, isSigned: isSigned)),
        ])
    }

    static func legacy(_ image: [UInt8], version: Int = 2, checksum: UInt16? = nil) -> [UInt8] {
        let manifest = """
            {"manifest":{"application":{"bin_file":"app.bin","dat_file":"app.dat","init_packet_data":{}},"dfu_version":0.5}}
            """
        let packet = legacyPacket(image, version: version, checksum: checksum)
        return zip([("manifest.json", Array(manifest.utf8)), ("app.bin", image), ("app.dat", packet)])
    }

    /// SoftDevice and bootloader with an application, for secure DFU.
    static func secureSystem(_ system: [UInt8], _ image: [UInt8]) -> [UInt8] {
        let manifest = """
            {"manifest":{"application":{"bin_file":"app.bin","dat_file":"app.dat"},"softdevice_bootloader":\
            {"bin_file":"sd_bl.bin","dat_file":"sd_bl.dat","info_read_only_metadata":{"sd_size":1000,"bl_size":\
            \(system.count - 1000)}}}}
            """
        return zip([
            ("manifest.json", Array(manifest.utf8)), ("app.bin", image), ("app.dat", initPacket(image)),
            ("sd_bl.bin", system), ("sd_bl.dat", initPacket(system, system: (1000, system.count - 1000))),
        ])
    }

    /// SoftDevice and bootloader with an application, for legacy DFU.
    static func legacySystem(_ system: [UInt8], _ image: [UInt8]) -> [UInt8] {
        let manifest = """
            {"manifest":{"application":{"bin_file":"app.bin","dat_file":"app.dat"},"softdevice_bootloader":\
            {"bin_file":"sd_bl.bin","dat_file":"sd_bl.dat","sd_size":1000,"bl_size":\(system.count - 1000)},\
            "dfu_version":0.5}}
            """
        return zip([
            ("manifest.json", Array(manifest.utf8)), ("app.bin", image), ("app.dat", legacyPacket(image)),
            ("sd_bl.bin", system), ("sd_bl.dat", legacyPacket(system)),
        ])
    }

    private static func legacyPacket(_ image: [UInt8], version: Int = 2, checksum: UInt16? = nil) -> [UInt8] {
        number(0xFFFF, 2) + number(0xFFFF, 2) + number(version, 4) + number(1, 2) + number(0xFFFE, 2)
            + number(Int(checksum ?? Checksum.crc16(image)), 2)
    }

    /// Images for several processors, as the nRF Connect SDK packs them.
    static func images(_ images: [[UInt8]]) -> [UInt8] {
        let files = images.indices.map { #"{"file":"\#($0).bin","image_index":"\#($0)"}"# }
        let manifest = #"{"format-version":1,"files":[\#(files.joined(separator: ","))]}"#
        return zip([("manifest.json", Array(manifest.utf8))] + images.enumerated().map { ("\($0).bin", $1) })
    }

    static func image(_ count: Int, seed: UInt8 = 3) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ ($0 >> 8) &* 7) &+ seed }
    }
}
