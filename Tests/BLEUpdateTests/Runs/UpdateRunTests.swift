import BLE
import BLESimulator
import BLETestKit
import BLEUpdate
import Synchronization
import Testing

@Suite("Updates of simulated devices, over the whole stack")
struct UpdateRunTests {
    static let address = DeviceAddress("C0:00:00:00:0A:01/random")!
    static let old = "1.0.0"
    static let mcuboot = SimulatedImage.mcuboot(version: (2, 0, 0), body: Packages.image(12_000))
    static let secure = Packages.secure(Packages.image(20_000))
    static let legacy = Packages.legacy(Packages.image(6_000))

    /// A radio with one device, and what was seen of its update.
    final class Stage: Sendable {
        let radio: TestRadio
        let device: SimulatedDeviceID
        let phases = Mutex<[UpdateProgress.Phase]>([])
        let offsets = Mutex<[Int]>([])
        /// The parts of the file that were uploaded, as they came.
        let parts = Mutex<[Int]>([])

        init(_ add: @escaping @Sendable (SimulatedAir) -> SimulatedDeviceID) throws {
            radio = try TestRadio()
            device = radio.onAir(add)
        }

        /// Time passes at once while the device restarts.
        func update(_ file: [UInt8], _ options: FirmwareUpdate.Options = .init()) async throws -> FirmwareUpdate.Outcome
        {
            let update = FirmwareUpdate(try FirmwareFile(file), options: options)
            let adapter = try await radio.openAdapter()
            let work = Task {
                let found = try await adapter.connect(to: address(), timeout: .seconds(60))
                return try await update.run(on: found) { progress in
                    self.phases.withLock { if $0.last != progress.phase { $0.append(progress.phase) } }
                    self.offsets.withLock { $0.append(progress.done) }
                    guard progress.phase == .uploading else { return }
                    self.parts.withLock { if $0.last != progress.part { $0.append(progress.part) } }
                }
            }
            let clock = radio.clock
            let pump = Task {
                var (known, idle) = (0, 0)
                while !Task.isCancelled {
                    let (phase, count) = (phases.withLock { $0.last }, offsets.withLock { $0.count })
                    (idle, known) = (count == known ? idle + 1 : 0, count)
                    // While nothing arrives, the link may be lost, which only its timeout tells.
                    if phase != .uploading {
                        await clock.advance(by: .milliseconds(500))
                    } else if idle > 20 {
                        await clock.advance(by: .milliseconds(100))
                    }
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            let result = await work.result
            pump.cancel()
            await adapter.close()
            return try result.get()
        }

        private func address() -> DeviceAddress { UpdateRunTests.address }

        /// What the device runs once it has started.
        func version() async -> String? {
            for _ in 0..<200 {
                let (device, radio) = (device, radio)
                if let version = radio.onAir({ $0.firmware(of: device)?.version }) { return version }
                await radio.clock.advance(by: .milliseconds(500))
            }
            return nil
        }

        var operations: Int {
            let device = device
            return radio.onAir { $0.firmware(of: device)?.flashOperations ?? 0 }
        }
    }

    enum Kind: String, CaseIterable, Sendable {
        case mcumgr, secure, bonded, legacy

        static let nordic = [Kind.secure, .bonded, .legacy]

        var file: [UInt8] {
            switch self {
            case .mcumgr: UpdateRunTests.mcuboot
            case .secure, .bonded: UpdateRunTests.secure
            case .legacy: UpdateRunTests.legacy
            }
        }

        var oldVersion: String { self == .mcumgr ? "1.0.0" : "1" }
        var newVersion: String { self == .mcumgr ? "2.0.0" : "2" }

        /// A device with two images, or a package with two parts.
        var secondFile: [UInt8] {
            let (system, image) = (Packages.image(7_000, seed: 9), Packages.image(5_000))
            return switch self {
            case .mcumgr:
                Packages.images([
                    SimulatedImage.mcuboot(version: (2, 0, 0), body: image),
                    SimulatedImage.mcuboot(version: (3, 0, 0), body: system),
                ])
            case .secure, .bonded: Packages.secureSystem(system, image)
            case .legacy: Packages.legacySystem(system, image)
            }
        }

        func stage(
            powerLosses: [Int] = [], linkLosses: [Int] = [], hasTwoImages: Bool = false,
            _ change: @escaping @Sendable (inout SimulatedNordicDevice) -> Void = { _ in }
        ) throws -> Stage {
            try Stage { [self] air in
                if self == .mcumgr {
                    var device = SimulatedManagedDevice(name: "Board", address: UpdateRunTests.address)
                    device.slotByteCount = 32 * 1024
                    if hasTwoImages {
                        device.otherImages = [SimulatedImage.mcuboot(version: (1, 0, 0), body: Packages.image(900))]
                    }
                    (device.powerLosses, device.linkLosses) = (powerLosses, linkLosses)
                    return air.addManagedDevice(device)
                }
                var device = SimulatedNordicDevice(name: "Board", address: UpdateRunTests.address)
                device.bootloader = self == .secure ? .secure : self == .bonded ? .bonded : .legacy
                device.bankByteCount = 32 * 1024
                (device.powerLosses, device.linkLosses) = (powerLosses, linkLosses)
                change(&device)
                return air.addNordicDevice(device)
            }
        }
    }

    @Test("each kind of device is updated, and has the new firmware", arguments: Kind.allCases)
    func update(_ kind: Kind) async throws {
        let stage = try kind.stage()
        #expect(await stage.version() == kind.oldVersion)
        let outcome = try await stage.update(kind.file)
        #expect(!outcome.wasCurrent && outcome.byteCount > 5_000)
        #expect(await stage.version() == kind.newVersion)
        let phases = stage.phases.withLock { $0 }
        #expect(phases.first == .preparing && phases.contains(.uploading) && phases.contains(.restarting))
        #expect(stage.offsets.withLock { $0.max() } ?? 0 >= 6_000)
    }

    @Test("a lost link is made again, and the upload goes on where it was", arguments: [Kind.mcumgr, .secure])
    func lostLink(_ kind: Kind) async throws {
        let stage = try kind.stage(linkLosses: [6_000, 10_000])
        let outcome = try await stage.update(kind.file)
        #expect(outcome.reconnections >= 3)
        #expect(await stage.version() == kind.newVersion)
        // Nearly nothing was sent twice.
        #expect(outcome.byteCount < 24_000, "\(outcome)")
    }

    @Test("legacy DFU begins again after a lost link")
    func lostLegacyLink() async throws {
        let stage = try Kind.legacy.stage(linkLosses: [3_000])
        _ = try await stage.update(Kind.legacy.file)
        #expect(await stage.version() == "2")
    }

    @Test(
        "power lost at any moment leaves a device that works, and the update is done at the next try at the latest",
        arguments: Kind.allCases)
    func powerLoss(_ kind: Kind) async throws {
        let whole = try kind.stage()
        _ = try await whole.update(kind.file)
        _ = await whole.version()
        let operations = whole.operations
        #expect(operations > 20)
        for point in 1...20 {
            let stage = try kind.stage(powerLosses: [max(1, operations * point / 20)])
            var tries = 1
            do { _ = try await stage.update(kind.file) } catch {
                let version = await stage.version()
                #expect(version == kind.oldVersion || version == kind.newVersion, "no firmware after point \(point)")
                tries += 1
                _ = try await stage.update(kind.file)
            }
            #expect(await stage.version() == kind.newVersion, "point \(point) of \(operations), \(tries) tries")
        }
    }

    @Test("packages of two parts, and images for two processors, arrive whole, in order", arguments: Kind.allCases)
    func twoParts(_ kind: Kind) async throws {
        let stage = try kind.stage(hasTwoImages: true)
        let outcome = try await stage.update(kind.secondFile)
        #expect(outcome.byteCount >= 11_000)
        #expect(await stage.version() == (kind == .mcumgr ? "2.0.0 3.0.0" : "2"))
        #expect(stage.parts.withLock { $0 } == [1, 2])
    }

    @Test(
        "power lost in any of the two parts, or between them, costs another try at most", arguments: Kind.allCases)
    func powerLossInParts(_ kind: Kind) async throws {
        let whole = try kind.stage(hasTwoImages: true)
        _ = try await whole.update(kind.secondFile)
        _ = await whole.version()
        let operations = whole.operations
        for point in 1...10 {
            let stage = try kind.stage(powerLosses: [max(1, operations * point / 10)], hasTwoImages: true)
            let new = kind == .mcumgr ? "2.0.0 3.0.0" : "2"
            var version: String?
            for _ in 1...2 where version != new {
                _ = try? await stage.update(kind.secondFile)
                version = await stage.version()
            }
            #expect(version == new, "point \(point) of \(operations)")
        }
    }

    @Test("Nordic's programs end the link before they restart: no update waits for a timeout", arguments: Kind.nordic)
    func restarts(_ kind: Kind) async throws {
        let stage = try kind.stage()
        _ = try await stage.update(kind.file)
        let device = stage.device
        let reason = stage.radio.onAir { $0.statistics(of: device).lastDisconnectReason }
        #expect(reason != nil && reason != .connectionTimeout, "\(String(describing: reason))")
    }

    @Test("a device that has the firmware is left alone")
    func current() async throws {
        let stage = try Kind.mcumgr.stage()
        _ = try await stage.update(Kind.mcumgr.file)
        let operations = stage.operations
        #expect(try await stage.update(Kind.mcumgr.file).wasCurrent)
        #expect(stage.operations == operations)
    }

    @Test("an image that crashes is taken back by the bootloader, and reported")
    func crash() async throws {
        let stage = try Kind.mcumgr.stage()
        let image = SimulatedImage.mcuboot(version: (9, 0, 0), body: Array("CRASH".utf8) + Packages.image(5000))
        await #expect(throws: UpdateError.imageNotStarted) { try await stage.update(image) }
        #expect(await stage.version() == "1.0.0")
    }

    @Test("an image that is not confirmed goes at the next restart")
    func trial() async throws {
        var options = FirmwareUpdate.Options()
        options.confirms = false
        let stage = try Kind.mcumgr.stage()
        #expect(try await stage.update(Kind.mcumgr.file, options).isOnTrial)
        #expect(await stage.version() == "2.0.0")
    }

    @Test("a file comes in pieces of any sensible length; a device that sends octet after octet is given up soon")
    func download() async throws {
        for (piece, isTaken) in [(nil, true), (16, true), (1, false)] as [(Int?, Bool)] {
            let radio = try TestRadio()
            _ = radio.onAir { air in
                var device = SimulatedManagedDevice(name: "Board", address: Self.address)
                device.filePieceByteCount = piece
                return air.addManagedDevice(device)
            }
            let adapter = try await radio.openAdapter()
            let clock = radio.clock
            let pump = Task {
                while !Task.isCancelled {
                    await clock.advance(by: .milliseconds(50))
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            let client = try await ManagementClient(
                try await adapter.connect(to: Self.address, timeout: .seconds(60)))
            let octets = Packages.image(1000)
            try await client.uploadFile(octets, to: "/lfs/log")
            do {
                #expect(try await client.downloadFile("/lfs/log") == octets && isTaken)
            } catch {
                #expect(!isTaken)
                #expect("\(error)".contains("octets of a file in "), "\(error)")
            }
            pump.cancel()
            await adapter.close()
        }
    }

    @Test("files of another kind are refused before anything is erased")
    func wrongFiles() async throws {
        for (kind, file) in [
            (Kind.mcumgr, Self.secure), (.secure, Self.mcuboot), (.secure, Self.legacy), (.legacy, Self.secure),
        ] {
            let stage = try kind.stage()
            let error = await #expect(throws: UpdateError.self) { try await stage.update(file) }
            if case .wrongFile = error {} else { Issue.record("\(String(describing: error))") }
            #expect(stage.operations == 0)
        }
    }

    @Test("the bootloader's refusals are told in words, and the old firmware goes on")
    func refusals() async throws {
        let image = Packages.image(2000)
        let cases: [([UInt8], UInt8?, @Sendable (inout SimulatedNordicDevice) -> Void)] = [
            (Packages.secure(image), nil, { $0.refusesSignature = true }),
            (Packages.secure(image, isSigned: false), 8, { $0.needsSignature = true }),
            (Packages.secure(image, hardware: 51), 6, { _ in }),
            (Packages.secure(image, version: 3), 5, { $0.version = 4 }),
        ]
        for (file, extended, change) in cases {
            let stage = try Kind.secure.stage(change)
            let error = await #expect(throws: UpdateError.self) { try await stage.update(file) }
            guard case .refused(_, let refusal) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(refusal.extended == extended && refusal.remedy != nil)
        }
    }
}
