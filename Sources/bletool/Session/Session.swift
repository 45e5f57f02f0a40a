import BLE
import BLEAppState
import BLEDaemonClient
import BLELinux
import BLERecording
import BLEUSB
import BLEVirtualTransports

/// One run of a command: the user's options, the output, and the adapter while it is needed.
struct Session: Sendable {
    let console: Console
    private(set) var transport: TransportAddress?
    private(set) var capturePath: String?
    private(set) var recordingName: String?
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
    func chosenTransport() throws -> TransportAddress { try candidates().first }

    /// The chosen transport; or that of the first adapter with LE, and the others for when it cannot be used.
    private func candidates() throws -> (first: TransportAddress, others: [TransportAddress]) {
        if let transport { return (transport, []) }
        if let path = DaemonClient.sharedSocketPath { return (.daemon(path: path), []) }
        do throws(TransportError) {
            let all = try AdapterList.candidates().map { TransportAddress.userChannel(adapter: $0.index) }
            guard let first = all.first else { throw .noAdapter }
            return (first, Array(all.dropFirst()))
        } catch {
            throw Failure.notOpened(error)
        }
    }

    /// Opens a transport alone, without an engine.
    var openTransport: @Sendable (TransportAddress) throws(TransportError) -> sending any HCITransport {
        let makeVirtual = USBTransports.adding(to: worlds.open)
        return { (address) throws(TransportError) in try Transports.open(address, makeVirtual: makeVirtual) }
    }

    /// The same for this transport, and no other in its place.
    func on(_ transport: TransportAddress) -> Session {
        var session = self
        session.transport = transport
        return session
    }

    /// The same without a capture and a recording: a second opening would begin their files again.
    var withoutFiles: Session {
        var session = self
        (session.capturePath, session.recordingName) = (nil, nil)
        return session
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
        var (address, others) = try candidates()
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
                recorder: recording, makeVirtualTransport: USBTransports.adding(to: worlds.open))
            configuration.resetDevice = USBTransports.resetting()
            configuration.controller = USBTransports.device(at: address).map {
                ControllerIdentity(usbVendor: $0.vendor, usbProduct: $0.product, usbRelease: $0.release)
            }
            DaemonClient.join(&configuration)
            if ownAddress == .resolvable { try secure(&configuration, pairing: nil, needsStore: true) }
            if console.showsProgress { configuration.observers.append(RecoveryNotes(console)) }
            recognize(address, &configuration)
            try adjust(&configuration)
            var opened: Adapter?
            while opened == nil {
                do {
                    opened = try await open(address, configuration)
                } catch let error as UnusableController {
                    guard !others.isEmpty else { throw error.failure }
                    let name = address.adapterName
                    console.note("\(name): \(error.failure.message); trying the next adapter")
                    address = others.removeFirst()
                    console.adapter = address.adapterName
                    configuration.ownAddress = try ownAddress(on: address)
                    recognize(address, &configuration)
                    try adjust(&configuration)
                }
            }
            guard let opened else { throw Failure.interrupted }
            adapter = opened
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
        } catch {
            outcome = .failure(failure(await adapter.cause(of: error), on: address))
        }
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
        return .daemonLost
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
        let starting = LateNote("starting the controller", on: console)
        defer { starting.end() }
        do {
            return try await Adapter.open(address, configuration: configuration)
        } catch let error as BLEError {
            if Task.isCancelled { throw Failure.interrupted }
            if case .transport(let error) = error { throw Failure.notOpened(error, isFile: address.isFile) }
            var failure = Failure(error.description, status: .transportNotOpened, code: ErrorCode(error))
            if case .serialPort = address, error == .startupTimeout {
                failure.message = error.cause + "; check the baud rate, ‘,h5’, ‘chip=’ and the wires"
            }
            switch error {
            case .controllerUnresponsive, .controllerFault, .startupTimeout: throw UnusableController(failure: failure)
            default: throw failure
            }
        }
    }

    /// The engine has given the controller up: another one may work.
    private struct UnusableController: Error { let failure: Failure }

    /// What was learned of the controller earlier, and what is learned now.
    private func recognize(_ address: TransportAddress, _ configuration: inout AdapterConfiguration) {
        configuration.controller = nil
        let name: String
        switch address {
        case .daemon, .simulator, .replay: return
        default:
            if let index = address.kernelIndex {
                let hardware = AdapterHardware.read(index)
                configuration.controller = hardware.usb.map { ControllerIdentity($0) }
                let known = (try? AdapterList.adapter(index).address).flatMap {
                    $0.value == 0 || $0.isSharedByMany ? nil : $0
                }
                name = ControllerMemory.name(of: hardware, known)
            } else {
                configuration.controller = address.usbDevice.map {
                    ControllerIdentity(usbVendor: $0.vendor, usbProduct: $0.product, usbRelease: $0.release)
                }
                name = ControllerMemory.name(of: address)
            }
        }
        let memory = controllerMemory
        configuration.experience = memory.experience(of: name)
        configuration.onExperience = { memory.keep($0, of: name) }
    }

    /// What this program has learned of controllers.
    var controllerMemory: ControllerMemory { ControllerMemory(path: state.path) { [console] in console.note($0) } }

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

extension Adapter {
    /// For a link or an operation that the controller took with it: what became of the controller, which says more.
    func cause(of error: any Error) -> any Error {
        guard [.linkLost(.controllerLost), .controllerLost].contains(error as? BLEError), let end else { return error }
        guard case .daemon = address else { return end }
        // bled could be opened: what it says is why the link ended, unless it is gone itself.
        guard end == .transport(.closedByPeer) else { return Failure(end.description, code: .linkLost) }
        return Failure.daemonLost
    }
}

extension Failure {
    /// The connection to a daemon has ended, and no reason came before.
    static let daemonLost = Failure(
        "bled has ended the connection: it was stopped, or this program did not read in time what it was sent (then bled’s "
            + "log says so); when it runs, give this command again", code: .transportLost)
}
