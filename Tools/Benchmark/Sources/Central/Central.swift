@_spi(Benchmark) import BLE

/// A central that does what its standard input asks for, so that it can take turns with another stack's.
///
///     Central ADAPTER ADDRESS[/random]
///
/// Lines in: `discover` connects, discovers everything, disconnects; `idle SECONDS` connects and does nothing. Each is
/// answered by a line of JSON: milliseconds from the call to the whole database and what was found, or wake-ups of the
/// adapter's thread while idle. `ready` is the first line.
@main
struct Central {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let peer = DeviceAddress(arguments[2]) else {
            return print("usage: Central ADAPTER ADDRESS[/random]")
        }
        do {
            let adapter = try await Adapter.open(arguments[1])
            answer("{\"event\":\"ready\"}")
            while let line = readLine() {
                if line == "discover" {
                    try await discover(peer, with: adapter)
                } else if line.hasPrefix("idle "), let seconds = Int(line.dropFirst(5)) {
                    try await idle(for: seconds, on: peer, with: adapter)
                } else {
                    answer("{\"event\":\"unknown\"}")
                }
            }
            await adapter.close()
        } catch {
            answer("{\"event\":\"failed\"}")
            print(error)
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

    private static func milliseconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) * 1e3 + Double(duration.components.attoseconds) / 1e15
    }

    private static func answer(_ line: String) {
        print(line)
        flush()
    }
}
