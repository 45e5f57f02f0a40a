import ArgumentParser
import BLE
import BLEJSON

struct LEUpdateCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lecup",
        abstract: "Change the parameters of a connection.",
        discussion: """
            Units are those of HCI: intervals of 1.25 ms, a timeout of 10 ms. Give the five numbers in order, or with \
            their options. After the command's name, -t is the timeout.

              bletool -t raw:0 lecup 64 24 40 0 42
              bletool -t raw:0 lecup --handle 64 --min 24 --max 40 --latency 0 --timeout 42
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Option("The handle of the connection.", name: [.customShort("H"), .long]) var handle: Number16?

    @Option("The shortest interval, 0x0006 to 0x0c80.", name: [.customShort("m"), .long]) var min: Number16?

    @Option("The longest interval, 0x0006 to 0x0c80.", name: [.customShort("M"), .long]) var max: Number16?

    @Option("Connection events that the device may skip, 0 to 499.", name: .shortAndLong) var latency: Number16?

    @Option("The supervision timeout, 0x000a to 0x0c80.") var timeout: Number16?

    @Argument("Handle, min, max, latency and timeout.", "number") var numbers: [Number16] = []

    private struct Request {
        var handle: ConnectionHandle
        var wished: ConnectionParameterRequest
    }

    private func request() throws -> Request {
        guard numbers.count <= 5 else { throw ValidationError("Give at most five numbers.") }
        func value(_ option: Number16?, _ index: Int, _ name: String, or usual: UInt16?) throws -> UInt16 {
            if let option { return option.value }
            if index < numbers.count { return numbers[index].value }
            guard let usual else { throw ValidationError("The \(name) is missing.") }
            return usual
        }
        let handle = try value(handle, 0, "handle", or: nil)
        let shortest = try value(min, 1, "shortest interval", or: 0x0028)
        let longest = try value(max, 2, "longest interval", or: Swift.max(0x0038, shortest))
        guard shortest <= longest else { throw ValidationError("The shortest interval is longer than the longest.") }
        let wished = ConnectionParameterRequest(
            interval: ConnectionInterval(rawValue: shortest)...ConnectionInterval(rawValue: longest),
            peripheralLatency: try value(latency, 3, "latency", or: 0),
            supervisionTimeout: SupervisionTimeout(rawValue: try value(timeout, 4, "timeout", or: 0x002A)))
        return Request(handle: ConnectionHandle(rawValue: handle), wished: wished)
    }

    func validate() throws {
        guard try request().wished.isValid else {
            throw ValidationError(BLEError.invalidRequest(.connectionParameters).description)
        }
    }

    func run(in session: Session) async throws {
        let request = try request()
        let events = EventWatch()
        let end = try await session.withAdapter(observer: events) { adapter in
            try await ControllerCommands(adapter: adapter, events: events).update(
                request.handle,
                LEConnectionParameters(
                    minimumInterval: request.wished.interval.lowerBound,
                    maximumInterval: request.wished.interval.upperBound, latency: request.wished.peripheralLatency,
                    supervisionTimeout: request.wished.supervisionTimeout))
        }
        session.console.print(
            [
                "event": "updated", "handle": JSONValue(end.connectionHandle.rawValue),
                "interval": JSONValue(end.interval.rawValue), "latency": JSONValue(end.latency),
                "timeout": JSONValue(end.supervisionTimeout.rawValue),
            ],
            text: "interval \(Double(end.interval.rawValue) * 1.25) ms, latency \(end.latency), timeout "
                + "\(Int(end.supervisionTimeout.rawValue) * 10) ms")
    }
}
