import BLEManagement
import BLEPackets

/// The program of a managed device: it answers requests one after the other, each as soon as its flash has time.
final class SimulatedManagement: SimulatedFirmware {
    static let characteristic = BluetoothUUID("DA2E7828-FBCE-4E01-AE9E-261174997C48")!

    /// An upload that has begun; memory only, so that a restart forgets it.
    private struct Upload {
        var image: Int
        var hash: [UInt8]
        var byteCount: Int
        var offset = 0
    }

    enum Refusal: Error {
        /// A number of the protocol.
        case general(Int)
        /// A number of the group.
        case group(Int)
        case powerLoss
    }

    private unowned let station: SimulatedDevice
    let device: SimulatedManagedDevice
    private var boot: SimulatedMCUboot
    private var assembler = ManagementAssembler()
    private var upload: Upload?
    private var fileUpload: (name: String, octets: [UInt8])?
    var files: [String: [UInt8]] = ["/lfs/hello.txt": Array("hello\n".utf8)]
    var settings: [String: [UInt8]] = ["board/name": Array("simulated".utf8)]
    private var linkLosses: [Int]
    /// When the flash has carried out everything.
    private var busyUntil: Int64 = 0
    private var waiting = 0
    private var isRunning = false
    /// Increases with each start, so that what was planned before does not happen.
    private var life = 0

    init(_ device: SimulatedManagedDevice, on station: SimulatedDevice) {
        self.device = device
        self.station = station
        linkLosses = device.linkLosses.sorted()
        boot = SimulatedMCUboot(
            running: [device.image] + device.otherImages, slotByteCount: device.slotByteCount, device.flash,
            powerLosses: device.powerLosses)
    }

    var version: String? {
        guard isRunning else { return nil }
        return (0..<boot.imageCount).map { boot.image(in: 0, of: $0)?.version ?? "none" }.joined(separator: " ")
    }

    var flashOperations: Int { boot.flash.operations }

    // MARK: Starting

    /// Starts the bootloader; it advertises once the image runs.
    func powerOn() {
        life += 1
        isRunning = false
        upload = nil
        fileUpload = nil
        waiting = 0
        assembler.reset()
        let before = boot.flash.microseconds
        let isPowered: Bool
        do throws(SimulatedFlash.PowerLoss) {
            try boot.start()
            isPowered = true
        } catch { isPowered = false }
        let life = life
        station.setAdvertising(false)
        station.air.after(device.startMicroseconds + boot.flash.microseconds - before) { [weak self] in
            guard let self, life == self.life else { return }
            // Without power it starts once more; an image that crashes does so, too.
            guard isPowered, let image = boot.image(in: 0, of: 0) else { return powerOn() }
            guard !image.body.starts(with: "CRASH".utf8) else { return powerOn() }
            isRunning = true
            busyUntil = station.air.nowMicroseconds
            if let number = station.server?.number(of: BluetoothUUID(0x2A26 as UInt16)) {
                station.server?.setValue(Array(image.version.utf8), of: number)
            }
            station.setAdvertising(true)
        }
    }

    private func restart() {
        station.losePower()
        powerOn()
    }

    func linkEnded(on device: SimulatedDevice) { assembler.reset() }

    // MARK: Requests

    func written(_ value: [UInt8], to characteristic: BluetoothUUID, on device: SimulatedDevice) {
        guard isRunning, characteristic == Self.characteristic else { return }
        guard let whole = try? assembler.add(value), let request = try? ManagementFrame(whole),
            request.operation == .read || request.operation == .write
        else { return }
        // Frames for which there is no buffer are lost.
        guard waiting < self.device.bufferCount, whole.count <= self.device.bufferByteCount else { return }
        waiting += 1
        let life = life
        let now = station.air.nowMicroseconds
        busyUntil = max(busyUntil, now) + 500
        station.air.after(busyUntil - now) { [weak self] in
            guard let self, life == self.life else { return }
            waiting -= 1
            carryOut(request)
        }
    }

    private func carryOut(_ request: ManagementFrame) {
        let before = boot.flash.microseconds
        var answer = ManagementFrame(
            request.operation.response, group: request.group, command: request.command, sequence: request.sequence,
            version: device.isOld ? 0 : request.version)
        do throws(Refusal) {
            if device.isOld, request.version > 0 { throw .general(13) }
            answer.content = try content(of: request)
        } catch {
            switch error {
            case .general(let code): answer.content = .object(["rc": .integer(code)])
            case .group(let code) where answer.version == 0:
                answer.content = .object(["rc": .integer(code == 3 ? 5 : 1)])
            case .group(let code):
                answer.content = .object([
                    "err": .object(["group": .integer(Int(request.group)), "rc": .integer(code)])
                ])
            case .powerLoss: return restart()
            }
        }
        busyUntil = max(busyUntil, station.air.nowMicroseconds) + boot.flash.microseconds - before
        let (octets, life) = (answer.encoded, life)
        station.air.after(busyUntil - station.air.nowMicroseconds) { [weak self] in
            guard let self, life == self.life else { return }
            send(octets)
            if request.group == 0, request.command == 5 {
                station.air.after(250_000) { if life == self.life { self.restart() } }
            }
            if let upload, let loss = linkLosses.first, upload.offset >= loss {
                linkLosses.removeFirst()
                station.air.abandonLinks(of: station)
                station.server?.linkEnded()
                assembler.reset()
                station.setAdvertising(true)
            }
        }
    }

    private func send(_ octets: [UInt8]) {
        guard let server = station.server, let number = server.number(of: Self.characteristic) else { return }
        let limit = server.mtu - 3
        for start in stride(from: 0, to: octets.count, by: limit) {
            station.announce(Array(octets[start..<min(octets.count, start + limit)]), from: number)
        }
    }

    private func content(of request: ManagementFrame) throws(Refusal) -> CBORValue {
        let content = request.content
        switch (request.group, request.command, request.operation) {
        case (0, 0, _):
            guard let text = content["d"]?.string else { throw .general(3) }
            return .object(["r": .text(text)])
        case (0, 2, .read):
            let task: CBORValue = .object([
                "prio": .integer(0), "tid": .integer(0), "state": .integer(1), "stkuse": .integer(120),
                "stksiz": .integer(512), "cswcnt": .integer(7), "runtime": .integer(42), "last_checkin": .integer(0),
                "next_checkin": .integer(0),
            ])
            return .object(["tasks": .object(["idle": task, "main": task])])
        case (0, 5, .write): return .map([])
        case (0, 6, .read):
            return .object([
                "buf_size": .integer(device.bufferByteCount), "buf_count": .integer(device.bufferCount),
            ])
        case (0, 7, .read): return .object(["output": .text("Zephyr")])
        case (1, 0, .read): return images()
        case (1, 0, .write): return try setState(content)
        case (1, 1, .write): return try receive(content)
        case (1, 5, .write):
            let slot = content["slot"]?.integer ?? 1
            guard slot % 2 == 1, 0..<boot.imageCount ~= slot / 2 else { throw .group(14) }
            guard boot.flags[slot / 2].pending == nil else { throw .general(6) }
            upload = nil
            try withPower { (boot) throws(SimulatedFlash.PowerLoss) in try boot.eraseSecondSlot(of: slot / 2) }
            return .map([])
        case (3, _, _): return try setting(request)
        case (8, _, _): return try file(request)
        case (9, 0, .write): return try shell(content)
        default: throw .general(8)
        }
    }

    private func withPower(
        _ body: (inout SimulatedMCUboot) throws(SimulatedFlash.PowerLoss) -> Void
    ) throws(Refusal) {
        do throws(SimulatedFlash.PowerLoss) { try body(&boot) } catch { throw .powerLoss }
    }

    // MARK: Images

    private func images() -> CBORValue {
        var images: [CBORValue] = []
        for place in 0..<2 * boot.imageCount {
            let (number, slot) = (place / 2, place % 2)
            guard let image = boot.image(in: slot, of: number) else { continue }
            let flags = boot.flags[number]
            let pending = slot == 1 ? flags.pending : nil
            images.append(
                .object([
                    "image": boot.imageCount > 1 ? .integer(number) : nil, "slot": .integer(slot),
                    "version": .text(image.version), "hash": .octets(image.hash), "bootable": .boolean(true),
                    "pending": .boolean(pending != nil),
                    "confirmed": .boolean(slot == 0 ? flags.isConfirmed : !flags.isConfirmed),
                    "active": .boolean(slot == 0), "permanent": .boolean(pending?.isPermanent ?? false),
                ]))
        }
        return .object(["images": .array(images), "splitStatus": .integer(0)])
    }

    private func setState(_ content: CBORValue) throws(Refusal) -> CBORValue {
        let isPermanent = content["confirm"]?.isTrue ?? false
        let hash = content["hash"]?.byteString
        let numbers = 0..<boot.imageCount
        if let running = hash == nil ? 0 : numbers.first(where: { boot.image(in: 0, of: $0)?.hash == hash }) {
            guard isPermanent else { throw .group(hash == nil ? 24 : 33) }
            if !boot.flags[running].isConfirmed {
                try withPower { (boot) throws(SimulatedFlash.PowerLoss) in try boot.confirm(running) }
            }
        } else {
            guard let hash, let number = numbers.first(where: { boot.image(in: 1, of: $0)?.hash == hash }) else {
                throw .group(8)
            }
            guard boot.flags[number].isConfirmed else { throw .group(28) }
            try withPower { (boot) throws(SimulatedFlash.PowerLoss) in
                try boot.setPending(hash, isPermanent: isPermanent, of: number)
            }
        }
        return images()
    }

    private func receive(_ content: CBORValue) throws(Refusal) -> CBORValue {
        guard let offset = content["off"]?.integer, offset >= 0, let data = content["data"]?.byteString else {
            throw .general(3)
        }
        if offset == 0 { if let answer = try begin(content, data) { return answer } }
        guard var upload, offset == upload.offset else { return .object(["off": .integer(upload?.offset ?? 0)]) }
        guard data.count <= upload.byteCount - offset else { throw .group(31) }
        let start = boot.slot(1, of: upload.image).lowerBound + offset
        try withPower { (boot) throws(SimulatedFlash.PowerLoss) in try boot.flash.write(data, at: start) }
        upload.offset += data.count
        self.upload = upload
        var isRight: Bool?
        if upload.offset == upload.byteCount {
            self.upload = nil
            let octets = boot.flash.octets[boot.slot(1, of: upload.image)].prefix(upload.byteCount)
            if !upload.hash.isEmpty { isRight = SecureHash.sha256(octets) == upload.hash }
        }
        return .object(["off": .integer(upload.offset), "match": isRight.map { .boolean($0) }])
    }

    /// - Returns: where to go on, if a part of this image is here already.
    private func begin(_ content: CBORValue, _ data: [UInt8]) throws(Refusal) -> CBORValue? {
        guard let count = content["len"]?.integer else { throw .group(21) }
        let hash = content["sha"]?.byteString ?? []
        let number = content["image"]?.integer ?? 0
        guard 0..<boot.imageCount ~= number else { throw .group(14) }
        if let upload, !hash.isEmpty, upload.image == number, upload.hash == hash, upload.byteCount == count,
            upload.offset > 0
        {
            return .object(["off": .integer(upload.offset)])
        }
        guard data.count >= 32 else { throw .group(22) }
        guard data.starts(with: [0x3D, 0xB8, 0xF3, 0x96]) else { throw .group(23) }
        guard 0...boot.slotByteCount ~= count else { throw .group(30) }
        // The image to which the device may have to return stays.
        guard boot.flags[number].pending == nil, boot.flags[number].isConfirmed else { throw .group(9) }
        if content["upgrade"]?.isTrue ?? false, let running = boot.image(in: 0, of: number)?.version {
            let revision = Int(data[22]) | Int(data[23]) << 8
            let numbers = running.split(separator: ".").prefix(3).map { Int($0) ?? 0 }
            guard numbers.lexicographicallyPrecedes([Int(data[20]), Int(data[21]), revision]) else {
                throw .group(27)
            }
        }
        upload = nil
        let page = boot.flash.pageByteCount
        let start = boot.slot(1, of: number).lowerBound
        let range = start..<start + (count + page - 1) / page * page
        try withPower { (boot) throws(SimulatedFlash.PowerLoss) in try boot.flash.erase(range) }
        upload = Upload(image: number, hash: hash, byteCount: count)
        return nil
    }

    // MARK: Settings, files and the shell

    private func setting(_ request: ManagementFrame) throws(Refusal) -> CBORValue {
        let name = request.content["name"]?.string
        switch (request.command, request.operation) {
        case (0, .read):
            guard let name else { throw .general(3) }
            guard let value = settings[name] else { throw .group(3) }
            return .object(["val": .octets(value)])
        case (0, .write):
            guard let name, let value = request.content["val"]?.byteString else { throw .general(3) }
            guard name.utf8.count <= 32 else { throw .group(2) }
            guard settings.count < 64, value.count <= 256 else { throw .general(2) }
            settings[name] = value
        case (1, .write):
            guard let name, settings.removeValue(forKey: name) != nil else { throw .group(3) }
        case (2, .write), (3, .read), (3, .write): break
        default: throw .general(8)
        }
        return .map([])
    }

    private func file(_ request: ManagementFrame) throws(Refusal) -> CBORValue {
        let content = request.content
        guard let name = content["name"]?.string, name.hasPrefix("/") else { throw .group(2) }
        if case (0, .write) = (request.command, request.operation) { return try receive(content, into: name) }
        guard let octets = files[name] else { throw .group(3) }
        switch (request.command, request.operation) {
        case (0, .read):
            guard let offset = content["off"]?.integer, offset >= 0 else { throw .general(3) }
            guard offset <= octets.count else { throw .group(12) }
            let limit = min(device.bufferByteCount, (station.server?.mtu ?? 23) - 3)
            let piece = Array(octets[offset...].prefix(device.filePieceByteCount ?? max(16, limit - 40)))
            return .object([
                "off": .integer(offset), "data": .octets(piece), "len": offset == 0 ? .integer(octets.count) : nil,
            ])
        case (1, .read): return .object(["len": .integer(octets.count)])
        case (2, .read):
            guard content["type"]?.string ?? "sha256" == "sha256" else { throw .group(13) }
            return .object([
                "type": .text("sha256"), "len": .integer(octets.count), "output": .octets(SecureHash.sha256(octets)),
            ])
        default: throw .general(8)
        }
    }

    private func receive(_ content: CBORValue, into name: String) throws(Refusal) -> CBORValue {
        guard let offset = content["off"]?.integer, let data = content["data"]?.byteString else { throw .general(3) }
        if offset == 0 {
            guard let count = content["len"]?.integer, 0...65_536 ~= count, files.count < 64 else { throw .general(3) }
            fileUpload = (name, [])
            files[name] = []
        }
        guard let upload = fileUpload, upload.name == name, upload.octets.count == offset else {
            return .object(["off": .integer(fileUpload?.octets.count ?? 0)])
        }
        guard upload.octets.count + data.count <= 65_536 else { throw .group(10) }
        fileUpload = (name, upload.octets + data)
        files[name] = upload.octets + data
        return .object(["off": .integer(upload.octets.count + data.count)])
    }

    private func shell(_ content: CBORValue) throws(Refusal) -> CBORValue {
        guard let words = content["argv"]?.elements?.compactMap(\.string), let command = words.first else {
            throw .group(3)
        }
        let output: String
        var status = 0
        switch command {
        case "echo": output = words.dropFirst().joined(separator: " ") + "\n"
        case "version": output = (version ?? "") + "\n"
        default: (output, status) = ("\(command): command not found\n", -8)
        }
        return .object(["o": .text(output), "ret": .integer(status)])
    }
}
