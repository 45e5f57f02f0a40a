import BLE
import BLEDaemonClient
import BLELinux
import BLERecording
import BLEVirtualTransports

/// One run of a command: the user's options, the output, and the adapter while it is needed.
struct Session: Sendable {
    let console: Console
    let transport: TransportAddress?
    let capturePath: String?
    let recordingName: String?
    let state: StateDirectory
    /// Whether the user chose the state folder.
    let hasOwnState: Bool
    var ownAddress: GlobalOptions.OwnAddressKind?
    /// What stands behind a virtual transport, also when it is opened again.
    private let worlds: VirtualWorlds

    init(_ options: GlobalOptions, console: Console) {
        self.console = console
        worlds = VirtualWorlds { console.note("replay: \($0)") }
        transport = options.transport
        capturePath = options.capture
        recordingName = options.record
        state = StateDirectory(path: options.state)
        hasOwnState = options.state != nil
        ownAddress = options.ownAddress
    }

    /// The chosen transport, or the user channel of the first adapter.
    /// - Throws: `Failure` when there is no adapter.
    func chosenTransport() throws -> TransportAddress {
        if let transport { return transport }
        if let path = DaemonClient.sharedSocketPath { return .daemon(path: path) }
        do throws(TransportError) {
            return .userChannel(adapter: try AdapterList.first().index)
        } catch {
            throw Failure.notOpened(error)
        }
    }

    /// The kernel's adapter of `raw:`, whose connections and lists survive this process.
    var rawAdapter: UInt16? {
        guard case .rawChannel(let index) = transport else { return nil }
        return index
    }

    /// Opens the adapter for `body` and always closes it afterwards: scans are stopped and links closed.
    /// - Parameters:
    ///   - observer: sees every packet, in addition to a capture.
    ///   - adjust: changes the configuration for this command.
    /// - Throws: `Failure`.
    func withAdapter<Result>(
        observer: (any PacketObserver)? = nil, adjusting adjust: (inout AdapterConfiguration) throws -> Void = { _ in },
        _ body: (Adapter) async throws -> Result
    ) async throws -> Result {
        let address = try chosenTransport()
        console.adapter = address.adapterName
        if case .daemon = address { try refuseWhatDaemonsHave() }
        let capture = try capturePath.map { try CaptureTap(path: $0) }
        var recording: RecordingWriter?
        let observers = [capture, observer].compactMap { $0 as (any PacketObserver)? }
        let adapter: Adapter
        do {
            recording = try recordingName.map { try RecordingWriter(RecordingFiles($0)) }
            if let recordingName {
                console.note(
                    "‘\(recordingName)’ will contain the keys of bonds and pairings: keep it secret")
            }
            var configuration = AdapterConfiguration(
                ownAddress: try ownAddress(on: address), tap: observers.isEmpty ? nil : PacketObservers(observers),
                recorder: recording, makeVirtualTransport: worlds.open)
            DaemonClient.join(&configuration)
            if ownAddress == .resolvable { try secure(&configuration, pairing: nil, needsStore: true) }
            try adjust(&configuration)
            adapter = try await open(address, configuration)
        } catch {
            capture?.abandon()
            recording?.abandon()
            // If the controller was used already, the recording is completed.
            try? recording?.finish()
            throw Failure(error)
        }
        // A controller is started once, and may be used for months.
        clinux_release_code()
        let outcome: Swift.Result<Result, any Error>
        let leaving = Leaving(adapter)
        do {
            let result = try await withTaskCancellationHandler {
                try await body(adapter)
            } onCancel: {
                leaving.begin()
            }
            outcome = .success(result)
        } catch { outcome = .failure(failure(error, on: address)) }
        console.showProgress("")
        await leaving.close()
        // The capture is completed in any case; an error of the command takes precedence over one of the capture.
        let written = Swift.Result {
            try capture?.finish()
            do { try recording?.finish() } catch { throw Failure(error) }
        }
        let result = try outcome.get()
        try written.get()
        return result
    }

    /// The error of a command; what ends a daemon's connection is the end of the daemon, not of a controller.
    private func failure(_ error: any Error, on address: TransportAddress) -> Failure {
        // Whatever still waited when the adapter was closed.
        if Task.isCancelled, error as? BLEError == .closed { return .interrupted }
        guard case .daemon = address, error as? AdapterError == .transport(.closedByPeer) else { return Failure(error) }
        return Failure("the connection to bled is lost; start it again, and then this command", code: .transportLost)
    }

    /// The engine and its address are the daemon's own.
    private func refuseWhatDaemonsHave() throws {
        let option: String? =
            if recordingName != nil { "--record" } else if ownAddress != nil { "--own-address" } else { nil }
        guard let option else { return }
        throw Failure(
            "\(option) is for a controller of this program's own; it cannot be used with -t bled", status: .usage)
    }

    private func open(_ address: TransportAddress, _ configuration: AdapterConfiguration) async throws -> Adapter {
        do {
            return try await Adapter.open(address, configuration: configuration)
        } catch let error as BLEError {
            if Task.isCancelled { throw Failure.interrupted }
            if case .transport(let error) = error { throw Failure.notOpened(error, isFile: address.isFile) }
            throw Failure(error.description, status: .transportNotOpened, code: ErrorCode(error))
        }
    }

    private func ownAddress(on transport: TransportAddress) throws -> AdapterConfiguration.OwnAddress {
        let index = transport.kernelIndex ?? 0
        switch ownAddress {
        case .public: return .public
        case .static: return .random(try state.staticAddress(adapter: index))
        case .nonResolvable: return .random(.randomNonResolvable())
        case .resolvable: return .resolvable(fallback: try state.staticAddress(adapter: index))
        case nil:
            // Most controllers have a public address: a place that cannot be written is no reason to fail here.
            let kept = try? state.staticAddress(adapter: index)
            return .automatic(fallback: kept ?? .randomStatic())
        }
    }
}
