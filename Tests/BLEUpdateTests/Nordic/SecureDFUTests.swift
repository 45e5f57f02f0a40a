import BLE
import BLESimulator
import BLEUpdate
import Testing

@Suite("Secure DFU as a machine")
struct SecureDFUTests {
    static let image = Packages.image(10_000)
    static let initPacket = Packages.initPacket(image)

    /// A bootloader that counts packets as those of nRF5 do: anew in each object.
    struct Bootloader {
        var machine: SecureDFU
        /// The packets of the image that are lost, by their numbers.
        var losses: Set<Int> = []
        var image: [UInt8] = []
        var packets = 0
        var longestPacket = 0
        var receiptIntervals: [Int] = []
        var receipts = 0
        private var command: [UInt8] = []
        private var isData = false
        private var executed = 0
        private var objectEnd = 0
        private var untilReceipt = 0

        init(_ machine: SecureDFU) { self.machine = machine }

        private static func number(_ octets: ArraySlice<UInt8>) -> Int {
            octets.reversed().reduce(0) { $0 << 8 | Int($1) }
        }

        private var state: [UInt8] {
            let octets = isData ? image : command
            return Packages.number(octets.count, 4) + Packages.number(Int(Checksum.crc32(octets)), 4)
        }

        /// - Returns: the error with which the machine ended, and how often time had to pass.
        mutating func run() -> (error: UpdateError?, timeouts: Int) {
            var now = Instant(microseconds: 0)
            var timeouts = 0
            machine.receive(.ready, at: now)
            while timeouts < 50 {
                guard let action = machine.nextAction() else {
                    guard let deadline = machine.nextDeadline else { return (nil, timeouts) }
                    timeouts += 1
                    now = deadline
                    machine.advance(to: now)
                    continue
                }
                var answers: [[UInt8]] = []
                switch action {
                case .writeControl(let octets):
                    machine.receive(.written, at: now)
                    answers.append(control(octets))
                case .writePacket(let octets): if let receipt = packet(octets) { answers.append(receipt) }
                case .progress: break
                case .finished: return (nil, timeouts)
                case .failed(let error): return (error, timeouts)
                }
                for answer in answers { machine.receive(.notified(answer), at: now) }
            }
            return (nil, timeouts)
        }

        private mutating func control(_ octets: [UInt8]) -> [UInt8] {
            var rest: [UInt8] = []
            switch octets[0] {
            case 1:
                isData = octets[1] == 2
                untilReceipt = receiptIntervals.last ?? 0
                if isData {
                    image.removeLast(image.count - executed)
                    objectEnd = executed + Self.number(octets[2...])
                } else {
                    command = []
                }
            case 2:
                receiptIntervals.append(Self.number(octets[1...]))
                untilReceipt = receiptIntervals.last ?? 0
            case 3: rest = state
            case 4: if isData { executed = image.count }
            case 6:
                isData = octets[1] == 2
                rest = Packages.number(isData ? 4096 : 512, 4) + state
            default: return [0x60, octets[0], 2]
            }
            return [0x60, octets[0], 1] + rest
        }

        private mutating func packet(_ octets: [UInt8]) -> [UInt8]? {
            longestPacket = max(longestPacket, octets.count)
            if isData {
                packets += 1
                if losses.contains(packets) { return nil }
                image += octets.prefix(objectEnd - image.count)
            } else {
                command += octets
            }
            untilReceipt -= 1
            guard untilReceipt == 0, let interval = receiptIntervals.last else { return nil }
            untilReceipt = interval
            receipts += 1
            return [0x60, 3, 1] + state
        }
    }

    private func bootloader(_ interval: Int?, packetLimit: Int = 244) -> Bootloader {
        Bootloader(
            SecureDFU(
                initPacket: Self.initPacket, image: Self.image, packetLimit: packetLimit, receiptInterval: interval))
    }

    @Test("Objects follow each other without receipts, in packets of whole words", arguments: [20, 182, 244])
    func flows(_ limit: Int) {
        var bootloader = bootloader(nil, packetLimit: limit)
        let (error, timeouts) = bootloader.run()
        #expect(error == nil && timeouts == 0)
        #expect(bootloader.image == Self.image)
        #expect(bootloader.receiptIntervals == [0, 0] && bootloader.longestPacket == limit & ~3)
    }

    @Test("Receipts are counted anew in each object", arguments: [1, 5, 12, 16, 17, 18, 100])
    func receipts(_ interval: Int) {
        var bootloader = bootloader(interval)
        let (error, timeouts) = bootloader.run()
        #expect(error == nil && timeouts == 0)
        #expect(bootloader.image == Self.image)
        // Seventeen packets to an object, and eight in the last.
        #expect(bootloader.receipts == 17 / interval * 2 + 8 / interval)
    }

    @Test("A bootloader that loses packets is waited for from then on", arguments: [1, 5, 17, 18, 34, 35, 42])
    func losses(_ first: Int) {
        var bootloader = bootloader(nil)
        bootloader.losses = [first]
        let (error, timeouts) = bootloader.run()
        #expect(error == nil && timeouts == 0)
        #expect(bootloader.image == Self.image)
        #expect(bootloader.receiptIntervals == [0, 0, 8])
    }

    @Test("Losses with receipts are found", arguments: [1, 8, 17, 20, 42])
    func lossesWithReceipts(_ first: Int) {
        var bootloader = bootloader(4)
        bootloader.losses = [first]
        let (error, _) = bootloader.run()
        #expect(error == nil)
        #expect(bootloader.image == Self.image)
    }

    @Test("Objects of an octet are refused, and small ones cost no more work than large ones")
    func smallObjects() {
        let image = Packages.image(100_000)
        for (limit, isTaken) in [(1, false), (12, false), (16, true)] {
            var machine = SecureDFU(initPacket: Self.initPacket, image: image, packetLimit: 244, receiptInterval: nil)
            let now = Instant(microseconds: 0)
            machine.receive(.ready, at: now)
            var answers: [[UInt8]] = [
                [0x60, 6, 1] + Packages.number(512, 4) + Packages.number(Self.initPacket.count, 4)
                    + Packages.number(Int(Checksum.crc32(Self.initPacket)), 4),
                [0x60, 4, 1], [0x60, 2, 1],
                [0x60, 6, 1] + Packages.number(limit, 4) + Packages.number(0, 4) + Packages.number(0, 4),
            ]
            while !answers.isEmpty { machine.receive(.notified(answers.removeFirst()), at: now) }
            #expect((machine.failure == nil) == isTaken)
            if case .invalidResponse(let text)? = machine.failure {
                #expect(text.contains("objects of \(limit) octets"))
            }
        }
    }

    @Test("A bootloader that says the same again and again costs no checksum of the whole image each time")
    func repeatedReceipts() {
        // Receipts that say less than is known are no progress, and too many of them end it.
        var machine = SecureDFU(
            initPacket: Self.initPacket, image: Self.image, packetLimit: 244, receiptInterval: 1)
        let now = Instant(microseconds: 0)
        machine.receive(.ready, at: now)
        let octets = Self.initPacket
        for answer in [
            [0x60, 6, 1] + Packages.number(512, 4) + Packages.number(octets.count, 4)
                + Packages.number(Int(Checksum.crc32(octets)), 4),
            [0x60, 4, 1], [0x60, 2, 1],
            [0x60, 6, 1] + Packages.number(4096, 4) + Packages.number(0, 4) + Packages.number(0, 4), [0x60, 1, 1],
        ] { machine.receive(.notified(answer), at: now) }
        var actions = 0
        for _ in 0..<10_000 where machine.failure == nil {
            machine.receive(.notified([0x60, 3, 1] + Packages.number(0, 4) + Packages.number(0, 4)), at: now)
            while let action = machine.nextAction() {
                actions += 1
                guard case .writeControl(let octets) = action, octets[0] == 1 else { continue }
                machine.receive(.notified([0x60, 1, 1]), at: now)
            }
        }
        #expect(machine.failure != nil && actions < 1000)
    }

    @Test("A failure drops what was still to be sent, and progress is told once for each time that it is looked at")
    func failureComesFirst() {
        var machine = SecureDFU(
            initPacket: Self.initPacket, image: Self.image, packetLimit: 20, receiptInterval: nil)
        let now = Instant(microseconds: 0)
        machine.receive(.ready, at: now)
        machine.receive(.notified([0x60, 6, 2]), at: now)
        let refusal = DFURefusal(code: 2, text: "it does not know the operation")
        #expect(machine.failure == .refused(step: "send the init packet", refusal))
        guard case .failed? = machine.nextAction() else {
            Issue.record("something else comes first")
            return
        }
        #expect(machine.nextAction() == nil)
    }

    @Test("A bootloader that never gets an object right is given up")
    func givesUp() {
        var bootloader = bootloader(nil)
        bootloader.losses = Set(1...10_000)
        #expect(bootloader.run().error == .damagedTransfer)
    }
}
