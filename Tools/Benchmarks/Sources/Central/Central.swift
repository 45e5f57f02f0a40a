@_spi(Benchmark) import BLE
import BLEDaemonClient
import BenchmarkService

/// A central that does what its standard input asks for, so that it can take turns with another stack's.
///
///     Central ADAPTER ADDRESS[/random]
///
/// Lines in: `discover` connects, discovers everything, disconnects; `idle SECONDS` connects and does nothing; `stream
/// OCTETS LENGTH [PART]` connects and asks for so many octets in notifications of such a length, PART octets at once;
/// `write OCTETS LENGTH` sends as many in write commands; `channel OCTETS LENGTH` sends as many on a channel and takes
/// them back; what `Round` has is for `Feeder`; `here LINE` does LINE on the adapter's thread. Each is answered by a line
/// of JSON: milliseconds from the call to the whole database and what was found, wake-ups of the adapter's thread while
/// idle, or milliseconds from the request to the last notification or message. `ready` is the first line.
@main
struct Central {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let peer = DeviceAddress(arguments[2]) else {
            return print("usage: Central ADAPTER ADDRESS[/random]")
        }
        do {
            var configuration = AdapterConfiguration()
            DaemonClient.join(&configuration)
            let adapter = try await Adapter.open(arguments[1], configuration: configuration)
            answer("{\"event\":\"ready\"}")
            while let line = readLine() {
                guard line.hasPrefix(here) else {
                    try await carryOut(line, on: peer, with: adapter)
                    continue
                }
                let rest = String(line.dropFirst(here.count))
                try await withTaskExecutorPreference(adapter.taskExecutor) {
                    try await carryOut(rest, on: peer, with: adapter)
                }
            }
            await adapter.close()
        } catch {
            answer("{\"event\":\"failed\"}")
            print(error)
        }
    }

    /// Begins a line whose rest is done on the adapter's thread.
    private static let here = "here "

    private static func carryOut(_ line: String, on peer: DeviceAddress, with adapter: Adapter) async throws {
        if line == "discover" {
            try await discover(peer, with: adapter)
        } else if line.hasPrefix("idle "), let seconds = Int(line.dropFirst(5)) {
            try await idle(for: seconds, on: peer, with: adapter)
        } else if line.hasPrefix("stream "), let words = Stream(line) {
            try await stream(words, from: peer, with: adapter)
        } else if line.hasPrefix("write "), let words = Stream(line) {
            try await write(words, to: peer, with: adapter)
        } else if line.hasPrefix("channel "), let words = Stream(line) {
            try await echo(words, from: peer, with: adapter)
        } else if let round = Round(line) {
            answer(try await round.run(on: peer, with: adapter))
        } else {
            answer("{\"event\":\"unknown\"}")
        }
    }

    private static func discover(_ peer: DeviceAddress, with adapter: Adapter) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let peripheral = try await adapter.connect(to: peer)
        let connected = clock.now
        let contents = try await peripheral.discoverContents()
        let end = clock.now
        try await peripheral.disconnect()
        let characteristics = contents.flatMap { $0.characteristics }
        let descriptors = characteristics.flatMap { $0.descriptors }
        answer(
            """
            {"event":"discovered","ms":\(milliseconds(end - start)),"connect":\(milliseconds(connected - start)),\
            "services":\(contents.count),"characteristics":\(characteristics.count),"descriptors":\(descriptors.count)}
            """)
    }

    private static func idle(for seconds: Int, on peer: DeviceAddress, with adapter: Adapter) async throws {
        let peripheral = try await adapter.connect(to: peer)
        // What both sides have to say after connecting is over by then.
        try await Task.sleep(for: .seconds(2))
        let before = adapter.wakeUpCount
        try await Task.sleep(for: .seconds(seconds))
        let count = adapter.wakeUpCount - before
        try await peripheral.disconnect()
        answer("{\"event\":\"idled\",\"wakeUps\":\(count)}")
    }

    /// What `stream` asks for.
    private struct Stream {
        let octets: UInt32
        let length: UInt16
        /// Octets that are asked for at once.
        let part: Int

        init?(_ line: String) {
            let words = line.split(separator: " ")
            guard words.count >= 3, let octets = UInt32(words[1]), let length = UInt16(words[2]) else { return nil }
            self.octets = octets
            self.length = length
            part = words.count > 3 ? Int(words[3]) ?? Self.partLength : Self.partLength
        }

        /// Octets that are asked for at once. btvirt drops what its receiver's socket cannot hold, without a word; so
        /// much it always can.
        static let partLength = 16384
        /// How many write commands are on their way at a time; the engine takes twenty.
        static let commandsAtOnce = 16

        /// As the peer's control point takes it.
        func request(for octets: UInt32) -> [UInt8] {
            [1] + withUnsafeBytes(of: octets.littleEndian) { [UInt8]($0) }
                + withUnsafeBytes(of: length.littleEndian) { [UInt8]($0) }
        }
    }

    private static func stream(_ wish: Stream, from peer: DeviceAddress, with adapter: Adapter) async throws {
        let peripheral = try await adapter.connect(to: peer)
        let control = try await peripheral.findCharacteristic(BenchmarkService.control)
        let values = try await peripheral.findCharacteristic(BenchmarkService.stream)
        let notifications = try await peripheral.notifications(of: values)
        var iterator = notifications.makeAsyncIterator()
        let clock = ContinuousClock()
        let start = clock.now
        var octets = 0
        var count = 0
        var isInOrder = true
        while octets < Int(wish.octets) {
            let part = min(wish.part, Int(wish.octets) - octets)
            try await peripheral.write(wish.request(for: UInt32(part)), to: control)
            var received = 0
            var next: UInt32 = 0
            while received < part, let value = try await iterator.next() {
                let number = value.bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
                isInOrder = isInOrder && number == next
                next += 1
                received += value.bytes.count
            }
            guard received == part else { break }
            octets += received
            count += Int(next)
        }
        let end = clock.now
        let mtu = await peripheral.attMTU
        try await peripheral.disconnect()
        answer(
            """
            {"event":"streamed","ms":\(milliseconds(end - start)),"octets":\(octets),"notifications":\(count),\
            "inOrder":\(isInOrder),"mtu":\(mtu)}
            """)
    }

    private static func write(_ wish: Stream, to peer: DeviceAddress, with adapter: Adapter) async throws {
        let peripheral = try await adapter.connect(to: peer)
        let control = try await peripheral.findCharacteristic(BenchmarkService.control)
        let sink = try await peripheral.findCharacteristic(BenchmarkService.sink)
        let value = [UInt8](repeating: 0x5A, count: Int(wish.length))
        let clock = ContinuousClock()
        let start = clock.now
        var octets = 0
        while octets < Int(wish.octets) {
            // The answer to a request comes behind all commands before it.
            let count = max(1, Stream.partLength / value.count)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    if number >= Stream.commandsAtOnce { try await group.next() }
                    group.addTask { try await peripheral.writeWithoutResponse(value, to: sink) }
                }
                try await group.waitForAll()
            }
            octets += count * value.count
            try await peripheral.write(wish.request(for: 0), to: control)
        }
        let end = clock.now
        try await peripheral.disconnect()
        answer("{\"event\":\"written\",\"ms\":\(milliseconds(end - start)),\"octets\":\(octets)}")
    }

    private static func echo(_ wish: Stream, from peer: DeviceAddress, with adapter: Adapter) async throws {
        let peripheral = try await adapter.connect(to: peer)
        let channel = try await peripheral.openChannel(BenchmarkService.echo, BenchmarkService.echoSettings)
        let message = (0..<Int(wish.length)).map { UInt8(truncatingIfNeeded: $0) }
        var iterator = channel.makeAsyncIterator()
        let clock = ContinuousClock()
        let start = clock.now
        var (octets, isWhole) = (0, true)
        while octets < Int(wish.octets), isWhole {
            let part = max(1, Stream.partLength / message.count) * message.count
            let sending = Task {
                for _ in 0..<part / message.count { try await channel.send(message) }
            }
            var received = 0
            while received < part, let echo = try await iterator.next() {
                // The peer may cut what it sends otherwise.
                isWhole = isWhole && echo.first == message[received % message.count]
                received += echo.count
            }
            try await sending.value
            isWhole = isWhole && received == part
            octets += received
        }
        let end = clock.now
        await channel.close()
        try await peripheral.disconnect()
        answer(
            """
            {"event":"echoed","ms":\(milliseconds(end - start)),"octets":\(octets),"inOrder":\(isWhole),\
            "mtu":\(channel.information.sendMTU)}
            """)
    }

    static func milliseconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) * 1e3 + Double(duration.components.attoseconds) / 1e15
    }

    static func answer(_ line: String) {
        print(line)
        flush()
    }
}
