@_spi(Benchmark) import BLE
import BenchmarkService
import Glibc

/// What a host is asked to do beside the null host, with the peers of `Feeder`.
enum Round {
    /// Reads a value so many times, one after the other.
    case reads(Int)
    /// Sends so many octets in write commands of such a length, one after the other or many at a time.
    case writes(octets: Int, length: Int, atOnce: Int)
    /// Takes so many notifications at such an interval, and tells how long they took.
    case latencies(Int, microseconds: Int)
    /// Takes so many notifications from each of so many peers, at such an interval, and tells what they cost.
    case links(Int, notifications: Int, microseconds: Int)

    init?(_ line: String) {
        let words = line.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Int($0) }
        switch (words.first, numbers.count) {
        case ("read", 1): self = .reads(numbers[0])
        case ("writes", 3): self = .writes(octets: numbers[0], length: numbers[1], atOnce: numbers[2])
        case ("latency", 2): self = .latencies(numbers[0], microseconds: numbers[1])
        case ("links", 3): self = .links(numbers[0], notifications: numbers[1], microseconds: numbers[2])
        default: return nil
        }
    }

    /// - Returns: a line of JSON.
    func run(on peer: DeviceAddress, with adapter: Adapter) async throws -> String {
        switch self {
        case .reads(let count): try await read(count, from: try await adapter.connect(to: peer))
        case .writes(let octets, let length, let atOnce):
            try await write(octets / length, length, atOnce: atOnce, to: try await adapter.connect(to: peer))
        case .latencies(let count, let interval): try await measure(count, interval, on: peer, with: adapter)
        case .links(let count, let notifications, let interval):
            try await hold(count, notifications, interval, beside: peer, with: adapter)
        }
    }

    private func read(_ count: Int, from peripheral: Peripheral) async throws -> String {
        let value = try await peripheral.findCharacteristic(BenchmarkService.reading)
        let clock = ContinuousClock()
        let start = clock.now
        for _ in 0..<count { _ = try await peripheral.read(value) }
        let end = clock.now
        try await peripheral.disconnect()
        return #"{"event":"reads","ms":\#(Central.milliseconds(end - start)),"reads":\#(count)}"#
    }

    private func write(_ count: Int, _ length: Int, atOnce: Int, to peripheral: Peripheral) async throws -> String {
        let sink = try await peripheral.findCharacteristic(BenchmarkService.sink)
        let value = [UInt8](repeating: 0x5A, count: length)
        let clock = ContinuousClock()
        let start = clock.now
        if atOnce > 1 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<atOnce {
                    group.addTask {
                        for _ in 0..<count / atOnce { try await peripheral.writeWithoutResponse(value, to: sink) }
                    }
                }
                try await group.waitForAll()
            }
        } else {
            for _ in 0..<count { try await peripheral.writeWithoutResponse(value, to: sink) }
        }
        // The answer to a request comes behind all commands before it.
        _ = try await peripheral.read(sink)
        let end = clock.now
        try await peripheral.disconnect()
        let sent = count / atOnce * atOnce
        return #"{"event":"written","ms":\#(Central.milliseconds(end - start)),"writes":\#(sent)}"#
    }

    private static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// As the control point of the feeder takes it.
    private static func request(_ count: Int, _ microseconds: Int) -> [UInt8] {
        [2] + withUnsafeBytes(of: UInt32(count).littleEndian) { [UInt8]($0) }
            + withUnsafeBytes(of: UInt32(microseconds).littleEndian) { [UInt8]($0) }
    }

    private func measure(
        _ count: Int, _ interval: Int, on peer: DeviceAddress, with adapter: Adapter
    ) async throws -> String {
        let peripheral = try await adapter.connect(to: peer)
        let control = try await peripheral.findCharacteristic(BenchmarkService.control)
        let values = try await peripheral.findCharacteristic(BenchmarkService.stream)
        let notifications = try await peripheral.notifications(of: values)
        try await peripheral.write(Self.request(count, interval), to: control)
        var latencies: [UInt64] = []
        for try await value in notifications {
            let written = value.bytes.prefix(8).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            latencies.append(Self.nanoseconds - written)
            if latencies.count == count { break }
        }
        try await peripheral.disconnect()
        latencies.sort()
        let (median, most) = (latencies[latencies.count / 2], latencies[latencies.count * 99 / 100])
        return #"{"event":"latencies","median":\#(median),"most":\#(most)}"#
    }

    private func hold(
        _ count: Int, _ wanted: Int, _ interval: Int, beside peer: DeviceAddress, with adapter: Adapter
    ) async throws -> String {
        var peripherals: [Peripheral] = []
        var streams: [Notifications] = []
        var memory = 0
        for number in 0..<count {
            let address = DeviceAddress(value: 0xF2F1_F001_0000 + UInt64(number), kind: .random)
            let peripheral = try await adapter.connect(to: address)
            let values = try await peripheral.findCharacteristic(BenchmarkService.stream)
            peripherals.append(peripheral)
            streams.append(try await peripheral.notifications(of: values))
            // The first one brings in the code and the tables that all need.
            if number == 0 { memory = Self.residentKilobytes }
        }
        let grown = Self.residentKilobytes - memory
        let control = try await peripherals[0].findCharacteristic(BenchmarkService.control)
        for peripheral in peripherals { try await peripheral.write(Self.request(wanted, interval), to: control) }
        let before = Self.usedNanoseconds
        try await withThrowingTaskGroup(of: Void.self) { group in
            for stream in streams {
                group.addTask {
                    var got = 0
                    for try await _ in stream {
                        got += 1
                        if got == wanted { break }
                    }
                }
            }
            try await group.waitForAll()
        }
        let used = Self.usedNanoseconds - before
        for peripheral in peripherals { try await peripheral.disconnect() }
        return #"{"event":"held","nanoseconds":\#(used),"notifications":\#(count * wanted),"kilobytes":\#(grown)}"#
    }

    /// What all threads of this process have computed.
    private static var usedNanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private static var residentKilobytes: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
        let fields = line.split(separator: CChar(UInt8(ascii: " ")))
        guard fields.count > 1 else { return 0 }
        return fields[1].reduce(0) { $0 * 10 + Int($1) - Int(UInt8(ascii: "0")) } * Int(sysconf(Int32(_SC_PAGESIZE)))
            / 1024
    }
}
