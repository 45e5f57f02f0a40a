#if SERVICES
import BLE
import ServiceLifecycle

/// An adapter as a service: it is opened when the service runs, opened again when it is lost, and closed when the
/// service is to end.
///
///     let bluetooth = AdapterService("user:0") { adapter in
///         for try await discovery in adapter.scan() { print(discovery) }
///     }
///     try await ServiceGroup(
///         services: [bluetooth], gracefulShutdownSignals: [.sigterm], logger: logger
///     ).run()
public struct AdapterService: ServiceLifecycle.Service {
    private let address: String
    private let configuration: AdapterConfiguration
    private let pause: ClosedRange<Duration>
    private let body: @Sendable (Adapter) async throws -> Void

    /// - Parameters:
    ///   - address: the transport, as for `Adapter.open(_:configuration:)`.
    ///   - pause: the shortest and the longest pause before the adapter is opened again; it doubles with each failure.
    ///   - body: the work. Its task is cancelled at a graceful shutdown. When it returns, the service ends. When it
    ///     throws because the adapter is lost, it is called again with the next one; its other errors end the service.
    public init(
        _ address: String, configuration: AdapterConfiguration = AdapterConfiguration(),
        pause: ClosedRange<Duration> = Duration.seconds(1)...Duration.seconds(60),
        _ body: @escaping @Sendable (Adapter) async throws -> Void
    ) {
        self.address = address
        self.configuration = configuration
        self.pause = pause
        self.body = body
    }

    /// Runs until the work is done, or the service is to end.
    /// - Throws: the error of the work, and `BLEError.transport` if the address cannot name a transport.
    public func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await serve() }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // The work was cancelled, as it should be.
        }
    }

    private func serve() async throws {
        var wait = pause.lowerBound
        while true {
            do {
                let adapter = try await Adapter.open(address, configuration: configuration)
                wait = pause.lowerBound
                do {
                    try await body(adapter)
                    await adapter.close()
                    return
                } catch {
                    await adapter.close()
                    throw error
                }
            } catch let error as BLEError where error.isLossOfAdapter {
                try await Task.sleep(for: wait)
                wait = min(wait * 2, pause.upperBound)
            }
        }
    }
}

extension BLEError {
    /// Whether another attempt with the same transport may succeed.
    fileprivate var isLossOfAdapter: Bool {
        switch self {
        case .transport(.invalidAddress), .transport(.notOffered), .transport(.unusableFile),
            .transport(.unknownPreset):
            false
        // An operation may hear of the loss before the adapter does.
        case .transport, .startupTimeout, .controllerUnresponsive, .controllerFault, .controllerLost: true
        default: false
        }
    }
}

extension AdapterService: CustomStringConvertible {
    /// For the log of the service group, which would otherwise write out the configuration, with its passkey.
    public var description: String { "AdapterService(\(address))" }
}
#endif
