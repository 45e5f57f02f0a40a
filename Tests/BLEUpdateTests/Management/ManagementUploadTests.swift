import BLE
import BLEManagement
import BLEUpdate
import Testing

@Suite("The upload of device management, as a value")
struct ManagementUploadTests {
    /// A device that takes chunks in order, and the requests that are on the way to it.
    private struct Bench {
        var machine: ManagementUpload
        var now = Instant.zero
        var toDevice: [ManagementFrame] = []
        var received: [UInt8] = []
        var progress: [Int] = []
        var end: UpdateAction?

        init(_ data: [UInt8], window: Int = 4, frameLimit: Int = 128, writeLimit: Int = 128) {
            machine = ManagementUpload(
                .init(
                    group: 1, command: 1, data: data, firstMembers: [.init(.text("len"), .integer(data.count))],
                    frameLimit: frameLimit, writeLimit: writeLimit, window: window))
            machine.receive(.ready, at: now)
            drain()
        }

        mutating func drain() {
            var pieces = ManagementAssembler()
            while let action = machine.nextAction() {
                switch action {
                case .writePacket(let octets):
                    guard let whole = try? pieces.add(octets), let frame = try? ManagementFrame(whole) else { continue }
                    toDevice.append(frame)
                case .progress(let done, _): progress.append(done)
                case .finished, .failed: end = action
                case .writeControl: Issue.record("there is no control point")
                }
            }
        }

        mutating func answer(_ request: ManagementFrame, _ content: CBORValue) {
            let response = ManagementFrame(
                .writeResponse, group: 1, command: 1, sequence: request.sequence, content: content)
            machine.receive(.notified(response.encoded), at: now)
            drain()
        }

        /// The device handles the next request.
        mutating func step() {
            let request = toDevice.removeFirst()
            if request.content["off"]?.integer == received.count {
                received += request.content["data"]?.byteString ?? []
            }
            answer(request, .object(["off": .integer(received.count)]))
        }

        mutating func pass(_ seconds: Int64) {
            now = now.advanced(by: Microseconds(rawValue: seconds * 1_000_000))
            machine.advance(to: now)
            drain()
        }
    }

    private let data = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    @Test("several requests are in flight, and the first one alone")
    func window() {
        var bench = Bench(data)
        #expect(bench.toDevice.count == 1)
        bench.step()
        #expect(bench.toDevice.count == 4)
        while bench.end == nil { bench.step() }
        #expect(bench.end == .finished && bench.received == data && bench.progress.last == 1000)
    }

    @Test("lost requests and lost responses cost time, not the upload")
    func losses() {
        var bench = Bench(data)
        bench.step()
        // The second of four is lost: the device says twice where it is.
        bench.step()
        bench.toDevice.removeFirst()
        var guardCount = 0
        while bench.end == nil, guardCount < 200 {
            guardCount += 1
            if bench.toDevice.isEmpty { bench.pass(60) } else { bench.step() }
        }
        #expect(bench.end == .finished && bench.received == data)
        // Each third frame is lost.
        var poor = Bench(data)
        for count in 0..<2000 where poor.end == nil {
            if poor.toDevice.isEmpty {
                poor.pass(60)
            } else if count % 3 == 2 {
                poor.toDevice.removeFirst()
            } else {
                poor.step()
            }
        }
        #expect(poor.end == .finished && poor.received == data)
    }

    @Test("a device that has a part of the upload gets the rest")
    func resumes() {
        var bench = Bench(data)
        bench.received = Array(data.prefix(600))
        bench.answer(bench.toDevice.removeFirst(), .object(["off": .integer(600)]))
        #expect(bench.machine.resumedFrom == 600)
        while bench.end == nil { bench.step() }
        #expect(bench.end == .finished && bench.received == data && bench.progress.first == 600)
    }

    @Test("writes that are shorter than a frame carry it in pieces; none that is too short begins")
    func shortWrites() {
        var bench = Bench(data, frameLimit: 128, writeLimit: 20)
        while bench.end == nil { bench.step() }
        #expect(bench.received == data)
        #expect(Bench(data, frameLimit: 20, writeLimit: 20).end == .failed(.mtuTooSmall(23)))
    }

    @Test("silence, errors, a wrong hash and offsets that are none end it once")
    func failures() {
        var silent = Bench(data)
        for _ in 0..<20 { silent.pass(61) }
        #expect(silent.end == .failed(.timedOut("the upload")) && silent.machine.nextDeadline == nil)
        var refused = Bench(data)
        refused.answer(
            refused.toDevice.removeFirst(), .object(["err": .object(["group": .integer(1), "rc": .integer(9)])]))
        #expect(refused.end == .failed(.management(.init(group: 1, code: 9))))
        var wrong = Bench([1, 2, 3])
        wrong.answer(wrong.toDevice.removeFirst(), .object(["off": .integer(3), "match": .boolean(false)]))
        #expect(wrong.end == .failed(.damagedTransfer))
        for offset: CBORValue in [.integer(1001), .integer(-1), .unsigned(.max), .text("0")] {
            var bench = Bench(data)
            bench.answer(bench.toDevice.removeFirst(), .object(["off": offset]))
            #expect(bench.end == .failed(.invalidResponse("a response without a valid offset")))
        }
    }

    @Test("half a response costs a repetition, not the upload")
    func halfResponse() {
        var bench = Bench(data, window: 1)
        bench.step()
        let response = ManagementFrame(
            .writeResponse, group: 1, command: 1, sequence: bench.toDevice[0].sequence,
            content: .object(["off": .integer(1000)]))
        bench.machine.receive(.notified(Array(response.encoded.prefix(9))), at: bench.now)
        bench.toDevice = []
        bench.pass(11)
        while bench.end == nil, !bench.toDevice.isEmpty { bench.step() }
        #expect(bench.end == .finished && bench.received == data)
    }

    @Test("a device that keeps an octet of each chunk is given up, whatever it says of its progress")
    func keepsOneOctet() {
        var bench = Bench([UInt8](repeating: 7, count: 20_000), window: 1)
        var kept = 0
        var requests = 0
        while bench.end == nil, requests < 5000 {
            requests += 1
            kept += 1
            bench.answer(bench.toDevice.removeFirst(), .object(["off": .integer(kept)]))
        }
        guard case .failed(.invalidResponse)? = bench.end else {
            Issue.record("\(String(describing: bench.end))")
            return
        }
        #expect(requests < 200)
    }

    @Test("a device that never keeps what it has does not keep us for ever")
    func playsForTime() {
        var bench = Bench(data)
        var count = 0
        while bench.end == nil, count < 100_000 {
            count += 1
            guard !bench.toDevice.isEmpty else {
                bench.pass(61)
                continue
            }
            let request = bench.toDevice.removeFirst()
            let offset = request.content["off"]?.integer ?? 0
            let length = request.content["data"]?.byteString?.count ?? 0
            bench.answer(request, .object(["off": .integer(count % 2 == 0 ? 0 : offset + length)]))
        }
        if case .failed = bench.end {} else { Issue.record("it goes on: \(count)") }
    }
}
