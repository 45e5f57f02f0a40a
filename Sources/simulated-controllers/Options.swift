import BLEPackets
import BLESimulator

/// The options of the command line.
struct Options {
    static let usage = """
        simulated-controllers [OPTION]… unix:PATH|unix:@NAME|tcp:HOST:PORT…

        N simulated LE controllers on one air, each on an H4 endpoint, in real time. Prints one line
        `READY {"endpoints": […], "addresses": […]}` when every endpoint listens (TCP port 0 picks a free one, and READY
        gives it). Stops on SIGTERM or SIGINT.

        One client at a time has an endpoint; another is refused meanwhile. Each finds a controller as after power-on.
        When it leaves, its links fall silent, and their peers see the supervision timeout.

          --legacy       controllers of Core 4.2: no extended advertising, no other PHY
          --acl-len N    octets of data in one ACL packet from the host, 27 to 65535 (251)
          --acl-num N    ACL packets that a controller holds, 1 to 255 (8)
          --latency N    microseconds from a packet at the controller to one at the host, 0 to 10000000 (100)
        """

    var endpoints: [Endpoint] = []
    var isLegacy = false
    var aclDataLength: UInt16 = 251
    var aclDataCount: UInt8 = 8
    var latencyMicroseconds: Int64 = 100

    /// - Throws: `UsageError`, which names the argument.
    init(_ arguments: some Sequence<String>) throws(UsageError) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--legacy": isLegacy = true
            case "--acl-len": aclDataLength = try Self.number(after: argument, in: &rest, 27...UInt16.max)
            case "--acl-num": aclDataCount = try Self.number(after: argument, in: &rest, 1...UInt8.max)
            case "--latency": latencyMicroseconds = try Self.number(after: argument, in: &rest, 0...10_000_000)
            default:
                guard let endpoint = Endpoint(argument) else { throw UsageError(argument: argument) }
                endpoints.append(endpoint)
            }
        }
        // The last octet of the controllers' addresses counts them.
        guard 1...255 ~= endpoints.count else { throw UsageError(argument: "\(endpoints.count) endpoints") }
    }

    /// The controller of the endpoint with this index.
    func controller(_ index: Int) -> SimulatedControllerConfiguration {
        let address = DeviceAddress(value: 0x00AA_0100_0001 + UInt64(index), kind: .public)
        var controller: SimulatedControllerConfiguration =
            isLegacy ? .core42(publicAddress: address) : .init(publicAddress: address)
        controller.aclDataLength = aclDataLength
        controller.aclDataCount = aclDataCount
        controller.latencyMicroseconds = latencyMicroseconds
        return controller
    }

    private static func number<Value: FixedWidthInteger>(
        after option: String, in rest: inout ArraySlice<String>, _ range: ClosedRange<Value>
    ) throws(UsageError) -> Value {
        guard let text = rest.popFirst(), let value = Value(text), range ~= value else {
            throw UsageError(argument: option)
        }
        return value
    }
}

/// An invalid argument.
struct UsageError: Error {
    var argument: String
}
