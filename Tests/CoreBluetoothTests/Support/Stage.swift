import BLE
import BLEAppLifecycle
import BLEAppState
import BLEHost
import BLEPackets
import BLESimulator
import BLETransport
import Foundation

@testable import CoreBluetooth

/// One virtual air on one thread, on which any number of apps run, each with a controller of its own.
final class Stage: @unchecked Sendable {
    // @unchecked Sendable is safe because air and transports are touched only on the loop's thread.
    let loop: EventLoop
    private let air: SimulatedAir
    private var transports: [StageTransport] = []
    private var deadline: EventLoop.Deadline?
    private let epoch: UInt64
    private var isDeliveryPlanned = false
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("jelling-\(UUID())").path

    init(_ populate: @escaping @Sendable (SimulatedAir) -> Void = { $0.addPeripheral(.jellingHeart) }) throws {
        loop = try EventLoop(name: "stage")
        air = SimulatedAir()
        epoch = loop.nowMicroseconds
        populate(air)
        try loop.start()
        loop.run { self.deadline = self.loop.makeDeadline { self.play() } }
    }

    deinit {
        loop.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// A new process of an app on this air, with a controller of its own.
    /// - Parameter manifest: what its manifest contains.
    func launch(
        _ name: String = "org.example.app", manifest: String? = nil, modes: [String] = [], inForeground: Bool = true,
        authorization: ManagerAuthorization = .allowedAlways, settings: LifecycleSettings = LifecycleSettings(),
        configure: (inout AdapterConfiguration) -> Void = { _ in }, log: (@Sendable (String) -> Void)? = nil
    ) -> LocalSystem {
        var environment = Self.environment(manifest)
        environment.transport = "sim"
        environment.identifier = name
        environment.modeNames = modes
        environment.startsInForeground = inForeground
        environment.authorization = authorization
        var adapter = AdapterConfiguration(makeVirtualTransport: { [self] _ throws(TransportError) in
            StageTransport(stage: self)
        })
        configure(&adapter)
        let journal = StateFolder(path: folder).journalPath(of: name)
        var configuration = LocalSystem.Configuration(
            environment: environment, adapter: adapter, journalPath: journal, loop: loop)
        configuration.settings = settings
        configuration.log = log
        return LocalSystem(configuration)
    }

    private static func environment(_ manifest: String?) -> AppEnvironment {
        guard let manifest else { return AppEnvironment([:]) }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("manifest-\(UUID()).json").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try? Data(manifest.utf8).write(to: URL(fileURLWithPath: path))
        return AppEnvironment(["JELLING_MANIFEST": path])
    }

    func journalPath(_ name: String = "org.example.app") -> String { StateFolder(path: folder).journalPath(of: name) }

    /// A controller of its own on this air.
    func makeTransport() -> any HCITransport { StageTransport(stage: self) }

    /// Changes what is on the air.
    func onAir<Result: Sendable>(_ body: @escaping @Sendable (SimulatedAir) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            loop.run {
                let result = body(self.air)
                self.deliver()
                continuation.resume(returning: result)
            }
        }
    }

    /// Lets time pass on the air. When this returns, everything that happened in that time has been delivered.
    func pass(milliseconds: Int) async {
        await withCheckedContinuation { continuation in
            loop.run {
                var deadline: EventLoop.Deadline?
                deadline = self.loop.makeDeadline {
                    deadline?.cancel()
                    self.play()
                    self.loop.runLater { continuation.resume() }
                }
                deadline?.set(atMicroseconds: self.loop.nowMicroseconds + UInt64(milliseconds) * 1000)
            }
        }
    }

    /// Changes how the controllers of all apps misbehave.
    func changeFaults(_ change: @escaping @Sendable (inout SimulatedControllerFaults) -> Void) async {
        await withCheckedContinuation { continuation in
            loop.run {
                for case let controller? in self.transports.map(\.controller) {
                    self.air.changeFaults(of: controller, change)
                }
                continuation.resume()
            }
        }
    }

    /// The controllers of all apps report a hardware error: they are reset.
    func failHardware() async {
        await withCheckedContinuation { continuation in
            loop.run {
                for case let controller? in self.transports.map(\.controller) {
                    self.air.sendHardwareError(1, from: controller)
                }
                self.play()
                continuation.resume()
            }
        }
    }

    // MARK: On the loop

    fileprivate func add(_ transport: StageTransport) -> SimulatedControllerID {
        transports.append(transport)
        return air.addController()
    }

    fileprivate func remove(_ transport: StageTransport, _ controller: SimulatedControllerID) {
        transports.removeAll { $0 === transport }
        air.closeTransport(of: controller)
    }

    fileprivate func send(_ packet: RawSpan, to controller: SimulatedControllerID) {
        air.send(packet, to: controller, at: airTime)
        guard !isDeliveryPlanned else { return }
        isDeliveryPlanned = true
        loop.runLater {
            self.isDeliveryPlanned = false
            self.deliver()
        }
    }

    private var airTime: Int64 { Int64(loop.nowMicroseconds - epoch) }

    private func play() {
        air.advance(to: airTime)
        deliver()
    }

    private func deliver() {
        for transport in transports {
            while let controller = transport.controller, let packet = air.nextPacket(from: controller) {
                transport.receive?(packet.span.bytes)
            }
        }
        if let next = air.nextDeadlineMicroseconds {
            deadline?.set(atMicroseconds: epoch + UInt64(max(0, next)))
        } else {
            deadline?.clear()
        }
    }
}

private final class StageTransport: HCITransport {
    let address = TransportAddress.simulator(scenario: nil)
    private let stage: Stage
    var controller: SimulatedControllerID?
    var receive: ((RawSpan) -> Void)?
    private var closed: ((TransportError?) -> Void)?

    init(stage: Stage) { self.stage = stage }

    func start(
        on loop: EventLoop, receive: @escaping (RawSpan) -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        self.receive = receive
        self.closed = closed
        controller = stage.add(self)
    }

    func send(_ packet: RawSpan) {
        if let controller { stage.send(packet, to: controller) }
    }

    func close() {
        guard let closed, let controller else { return }
        self.closed = nil
        receive = nil
        self.controller = nil
        stage.remove(self, controller)
        stage.loop.runLater { closed(nil) }
    }
}
