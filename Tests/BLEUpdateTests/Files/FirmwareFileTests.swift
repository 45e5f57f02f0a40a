import BLESimulator
import BLEUpdate
import Testing

@Suite("Firmware files")
struct FirmwareFileTests {
    private func problem(_ octets: [UInt8]) -> FirmwareFileError? {
        do throws(FirmwareFileError) {
            _ = try FirmwareFile(octets)
            return nil
        } catch { return error }
    }

    @Test("an image of MCUboot is checked: header, lengths, trailer, hash")
    func images() throws {
        let octets = SimulatedImage.mcuboot(version: (1, 2, 3), body: Packages.image(3000))
        guard case .images(let images) = try FirmwareFile(octets) else {
            Issue.record("no image")
            return
        }
        #expect(images.map(\.version) == ["1.2.3"] && images[0].hash.count == 32 && !images[0].isSigned)
        #expect(images[0].fileHash == SecureHash.sha256(octets))
        for place in [33, 2000, octets.count - 1] {
            var damaged = octets
            damaged[place] ^= 1
            #expect(problem(damaged) == .damagedImage("its hash is not that of its content"))
        }
        for count in 0..<octets.count where count < 64 || count > octets.count - 64 {
            #expect(problem(Array(octets.prefix(count))) != nil)
        }
        var long = octets
        long.replaceSubrange(12..<16, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(problem(long) == .damagedImage("it is shorter than its header says"))
    }

    @Test("packages of the nRF Connect SDK have an image for each processor")
    func connectSDK() throws {
        let first = SimulatedImage.mcuboot(version: (2, 0, 0), body: Packages.image(100))
        let second = SimulatedImage.mcuboot(version: (3, 0, 0), body: Packages.image(200))
        let manifest = """
            {"format-version":1,"files":[{"file":"app.bin","image_index":"0","size":\(first.count)},
            {"file":"net.bin","image_index":"1"}],"name":"two"}
            """
        let package = Packages.zip([("manifest.json", Array(manifest.utf8)), ("app.bin", first), ("net.bin", second)])
        guard case .images(let images) = try FirmwareFile(package) else {
            Issue.record("no images")
            return
        }
        #expect(images.map(\.number) == [0, 1] && images.map(\.version) == ["2.0.0", "3.0.0"])
        let wrong = Array(manifest.replacing("\(first.count)", with: "7").utf8)
        #expect(
            problem(Packages.zip([("manifest.json", wrong), ("app.bin", first), ("net.bin", second)]))
                == .invalidManifest("‘app.bin’ has another size than it says"))
    }

    @Test("packages of secure DFU: hash, sizes and type in the init packet are those of the image")
    func secure() throws {
        let image = Packages.image(5000)
        guard case .nordic(let parts) = try FirmwareFile(Packages.secure(image, version: 7)) else {
            Issue.record("no package")
            return
        }
        #expect(parts.count == 1 && parts[0].kind == .application && parts[0].applicationByteCount == 5000)
        guard case .secure(let command) = parts[0].generation else {
            Issue.record("not secure")
            return
        }
        #expect(command.firmwareVersion == 7 && command.hardwareVersion == 52 && command.softDevices == [0x100])
        #expect(command.isSigned && command.hashType == .sha256)
        let manifest = Array(#"{"manifest":{"application":{"bin_file":"a","dat_file":"b"}}}"#.utf8)
        func package(_ image: [UInt8], _ packet: [UInt8]) -> [UInt8] {
            Packages.zip([("manifest.json", manifest), ("a", image), ("b", packet)])
        }
        let packet = Packages.initPacket(image)
        var other = image
        other[77] ^= 1
        #expect(problem(package(other, packet)) == .invalidInitPacket("its hash is not that of the image"))
        for count in 1..<packet.count { #expect(problem(package(image, Array(packet.prefix(count)))) != nil) }
        // Whatever the octets say, the answer is an image or an error.
        for place in packet.indices {
            for bit: UInt8 in [1, 0x80, 0xFF] {
                var damaged = packet
                damaged[place] ^= bit
                _ = problem(package(image, damaged))
            }
        }
    }

    @Test("packages of legacy DFU: the checksum in the init packet is that of the image")
    func legacy() throws {
        let image = Packages.image(600)
        guard case .nordic(let parts) = try FirmwareFile(Packages.legacy(image)) else {
            Issue.record("no package")
            return
        }
        #expect(!parts[0].isSecure && parts[0].initPacket.count == 14)
        #expect(
            problem(Packages.legacy(image, checksum: 1))
                == .invalidInitPacket("its checksum is not that of the image"))
        #expect(
            Checksum.crc16(Array("123456789".utf8)) == 0x29B1 && Checksum.crc32(Array("123456789".utf8)) == 0xCBF4_3926)
    }

    @Test("a deflated file is read; one that becomes longer than it says, or claims too much, is not")
    func deflated() throws {
        // zlib's own output for 1000 zeros.
        let packed: [UInt8] = [0x63, 0x60, 0x18, 0x05, 0xA3, 0x60, 0x14, 0x0C, 0x77, 0x00, 0x00]
        func archive(_ says: Int, checksum: UInt32) -> [UInt8] {
            var octets = Packages.zip([("manifest.json", packed)])
            let header = 30 + 13
            func put(_ value: Int, _ count: Int, at place: Int) {
                octets.replaceSubrange(place..<place + count, with: Packages.number(value, count))
            }
            let directory = header + packed.count
            put(8, 2, at: directory + 10)
            put(Int(checksum), 4, at: directory + 16)
            put(says, 4, at: directory + 24)
            return octets
        }
        let right = Checksum.crc32([UInt8](repeating: 0, count: 1000))
        // It is inflated: what is wrong then is the JSON in it.
        if case .invalidManifest = problem(archive(1000, checksum: right)) {
        } else {
            Issue.record("\(String(describing: problem(archive(1000, checksum: right))))")
        }
        #expect(problem(archive(999, checksum: right)) == .damagedArchive("a file is longer than it says"))
        #expect(problem(archive(1001, checksum: right)) == .damagedArchive("a file has another length than it says"))
        #expect(problem(archive(1000, checksum: right ^ 1)) == .damagedArchive("a file's checksum is wrong"))
        #expect(problem(archive(0x7FFF_FFFF, checksum: right)) == .tooLong(limit: 16 << 20))
    }

    @Test("a manifest that names a file again and again, or numbers that no image has, costs little and is refused")
    func hostileManifests() throws {
        let image = SimulatedImage.mcuboot(version: (2, 0, 0), body: Packages.image(100))
        func package(_ files: String, _ image: [UInt8]) -> [UInt8] {
            Packages.zip([("manifest.json", Array("{\"files\":[\(files)]}".utf8)), ("a", image)])
        }
        for index in ["-1", "256", "1e30", "\"x\"", "\"999999999999999999999\"", "[0]", "0.5"] {
            #expect(
                problem(package("{\"file\":\"a\",\"image_index\":\(index)}", image))
                    == .invalidManifest("the image_index of ‘a’ is not a number from 0 to 255"), "\(index)")
        }
        let twice = "{\"file\":\"a\",\"image_index\":\"0\",\"slot\":0},{\"file\":\"a\",\"image_index\":0}"
        #expect(
            problem(package(twice, image))
                == .invalidManifest("it has several files for image 0: take the one for the device's free slot"))
        let large = SimulatedImage.mcuboot(version: (2, 0, 0), body: [UInt8](repeating: 0, count: 12 << 20))
        let files = (0..<16).map { "{\"file\":\"a\",\"image_index\":\($0)}" }.joined(separator: ",")
        #expect(problem(package(files, large)) == .tooLong(limit: 32 << 20))
    }

    @Test("cut, changed and foreign files are errors, never the end of the program; names lead nowhere")
    func hostile() {
        let package = Packages.secure(Packages.image(300))
        for count in 0..<package.count { #expect(problem(Array(package.prefix(count))) != nil) }
        for place in package.indices {
            for bit: UInt8 in [1, 0x40, 0xFF] {
                var damaged = package
                damaged[place] ^= bit
                _ = problem(damaged)
            }
        }
        #expect(problem([]) == .unknownKind && problem(Array("MZ".utf8)) == .unknownKind)
        #expect(problem(Packages.zip([("a", [1])])) == .missing("manifest.json"))
        let manifest = Array(#"{"manifest":{"application":{"bin_file":"../../etc/passwd","dat_file":"b"}}}"#.utf8)
        #expect(problem(Packages.zip([("manifest.json", manifest)])) == .missing("the file ‘../../etc/passwd’"))
        let twice = Packages.zip([("manifest.json", manifest), ("manifest.json", manifest)])
        #expect(problem(twice) == .damagedArchive("two files have one name"))
    }
}
