import BLEHost
import BLEMessages
import BLEPackets

/// What the controller is doing.
///
///     opening ──ready──▶ ready ──lost──▶ waiting ──time, adapter came──▶ opening
///        └────── cannot be opened ─────────▲
///     any ──power off──▶ off ──power on──▶ opening
struct ControllerDesk {
    enum State: Equatable {
        /// An operator has switched Bluetooth off.
        case off
        /// It is being opened, or starts.
        case opening
        case ready
        /// It is not there; it is opened at this time.
        /// - Parameter isGivenBack: the kernel has taken the adapter to open it, could not, and so reports that it has
        ///   come: no reason to try again at once.
        case waiting(until: UInt64, isGivenBack: Bool)
    }

    /// Why apps have no Bluetooth, until the controller is ready.
    struct Interruption: OptionSet {
        let rawValue: UInt8
        /// rfkill forbids it.
        static let blocked = Interruption(rawValue: 1)
        /// An operator has switched it off.
        static let switchedOff = Interruption(rawValue: 2)
    }

    var state = State.opening
    var interruption: Interruption = []
    var hasBeenReady = false
    /// The reason why the controller cannot be used, as text.
    var trouble = "the controller starts"
    /// Why it could not be opened, as the log said last.
    var complaint: String?
    /// The address of the kernel's adapter, by which it is found again under another index.
    var address: DeviceAddress?
    /// The pause before a lost controller is opened again: each one is twice as long as the one before.
    private var pause = Self.shortestPause

    private static let shortestPause: UInt64 = 250_000
    private static let longestPause: UInt64 = 4_000_000

    init(address: DeviceAddress?) { self.address = address }

    var isReady: Bool { state == .ready }
    var isPowered: Bool { state != .off }
    var deadline: UInt64? { if case .waiting(let time, _) = state { time } else { nil } }

    mutating func hasCome() { pause = Self.shortestPause }

    mutating func waits(isGivenBack: Bool, at now: UInt64) {
        state = .waiting(until: now + pause, isGivenBack: isGivenBack)
        pause = min(2 * pause, Self.longestPause)
    }
}

extension DaemonCore {
    /// The reason why there is no controller, as text.
    private static var powerIsOff: String { "Bluetooth is off; an operator turns it on with ‘bletool power on’" }

    mutating func openController() {
        guard controller.isPowered else { return }
        controller.state = controller.isReady ? .ready : .opening
        if !port.engine.isOpen { effects.append(.openController) }
    }

    mutating func receive(_ news: ControllerNews) {
        switch news {
        case .refused(let reason, let isBlocked, let isGivenBack):
            if isBlocked { controller.interruption.insert(.blocked) }
            controllerIsLost(reason, isGivenBack: isGivenBack)
        case .ended(let error):
            controllerIsLost(controller.isPowered ? error ?? "the controller was closed" : Self.powerIsOff)
        case .adapterCame:
            if case .waiting(_, isGivenBack: true) = controller.state { return }
            controller.hasCome()
            if !port.engine.isOpen { openController() }
        case .adapterIs(let address):
            controller.address = address
            // Manifests may name their adapter by its address. The first reading is still to come if nothing was opened
            // before.
            if apps.hasReadManifests { readManifests(.adapterKnown) }
        }
    }

    mutating func controllerIsReady(_ information: ControllerInformation) {
        // It was switched off meanwhile.
        guard controller.isPowered else { return }
        controller.state = .ready
        controller.hasBeenReady = true
        controller.hasCome()
        controller.complaint = nil
        if isDebugging { debug("the controller is ready") }
        askForAdvertisingSets(information)
        let hasStated = connections.all.contains { $0.pairing != nil }
        if hasStated || apps.installed.all.contains(where: { !$0.mayPair }) { setPairing() }
        // Clients that have sent their greeting wait for this.
        for connection in connections.all where connection.tool != nil { look(at: connection) }
        for connection in connections.all {
            guard let app = connection.app, app.isLaunched else { continue }
            app.session.controllerIsReady(isExtended: information.usesExtendedCommands)
            look(at: connection)
        }
        guard !controller.interruption.isEmpty else { return }
        let (now, byUser) = (now, controller.interruption.contains(.switchedOff))
        controller.interruption = []
        apps.lifecycle.withApps(at: now) { $0.setPower(true, byUser: byUser, at: now) }
    }

    /// - Parameter wasReady: whether it could be used until now; `nil`: its state says so.
    private mutating func controllerIsLost(_ reason: String, isGivenBack: Bool = false, wasReady: Bool? = nil) {
        let (wasReady, isPowered) = (wasReady ?? controller.isReady, controller.isPowered)
        let (now, hasBeenReady) = (now, controller.hasBeenReady)
        let isBlocked = controller.interruption.contains(.blocked)
        if isPowered { controller.waits(isGivenBack: isGivenBack, at: microseconds) }
        tools.isAdvertising = false
        controller.trouble = reason
        if controller.complaint != reason { warn("no controller: \(reason)") }
        controller.complaint = reason
        for connection in connections.all {
            guard let tool = connection.tool else { continue }
            tool.session.controllerIsLost(reason)
            look(at: connection)
        }
        apps.lifecycle.withApps(at: now) { apps in
            if !isPowered || isBlocked { apps.setPower(false, byUser: !isPowered, at: now) }
            if wasReady {
                apps.transportClosed(at: now)
            } else if !hasBeenReady, isPowered, !isBlocked {
                // Only an adapter that was never there is unsupported: one that is lost is waited for.
                apps.transportFailed(at: now)
            }
        }
    }

    /// Switches Bluetooth off, so that all links end and the controller is released, or on (SPEC SPR-30).
    mutating func setPower(_ isOn: Bool) {
        guard isOn != controller.isPowered else { return }
        if isOn {
            controller.state = .opening
            log("Bluetooth is switched on")
            // If the engine still stops, it is opened again when its end is reported.
            openController()
        } else {
            controller.interruption.insert(.switchedOff)
            let wasReady = controller.isReady
            controller.state = .off
            controllerIsLost(Self.powerIsOff, wasReady: wasReady)
            if port.engine.isOpen { _ = submit(.stop) }
        }
    }
}
