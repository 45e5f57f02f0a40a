import BLE
import BLEHost
import BLEMessages
import BLEPackets
import BLETransport

/// What the controller is doing.
///
///     opening ──ready──▶ ready ──lost──▶ waiting ──time, adapter came──▶ opening
///        └────── cannot be opened ─────────▲
///     any ──power off──▶ off ──power on──▶ opening
struct ControllerDesk {
    enum State: Equatable {
        /// Bluetooth is switched off.
        case off
        /// It is being opened, or starts.
        case opening
        case ready
        /// It is not there; it is opened at this time.
        /// - Parameter isGivenBack: the kernel has taken the adapter to open it, could not, and so reports that it has
        ///   come: no reason to try again at once.
        case waiting(until: UInt64, isGivenBack: Bool)
    }

    /// Who has switched Bluetooth off.
    struct Off: OptionSet {
        let rawValue: UInt8
        static let byOperator = Off(rawValue: 1)
        /// A switch of the machine, which rfkill reports.
        static let byMachine = Off(rawValue: 2)
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
    var off: Off = []
    /// The machine's switch that is off.
    var switchName = ""
    var interruption: Interruption = []
    var hasBeenReady = false
    /// The reason why the controller cannot be used, as text.
    var trouble = "the controller starts"
    /// Why it could not be opened, as the log said last.
    var complaint: String?
    /// By what the kernel's adapter is found again under another number.
    var key: AdapterKey?
    /// Where it was found last.
    var place: String?
    var pauses = OpeningPauses()
    /// What the device is, and what people should know of it.
    var device = ""
    var notes: [String] = []
    /// Why the engine has given the controller up, until the transport is closed.
    var failure: String?
    /// The last one that the log has.
    var loggedFailure: String?
    /// What no recovery has cured, until the controller is opened again.
    var fault: String?
    /// Whether the device is being reset.
    var isResetting = false
    /// The operators who wait for that.
    var resetters: [ConnectionID] = []
    /// Whether it is being released because Bluetooth was switched off: its end is no fall.
    var isReleased = false
    /// What the engine has learned since the daemon began.
    var experience = ControllerExperience()
    /// What the log has of recoveries.
    var recoveries = RecoveryNews()
    /// Whether the log says that it is lost again and again.
    var isFlappingLogged = false

    init(key: AdapterKey?) { self.key = key }

    var isReady: Bool { state == .ready }
    var isPowered: Bool { off.isEmpty }
    var deadline: UInt64? { if case .waiting(let time, _) = state { time } else { nil } }

    /// Why Bluetooth is off, as text.
    var reasonOfOff: String {
        off.contains(.byOperator)
            ? "Bluetooth is off; an operator turns it on with ‘bletool power on’"
            : "Bluetooth is switched off on this machine by ‘\(switchName)’; switch it on with the machine's own key or "
                + "‘rfkill unblock bluetooth’"
    }

    /// What people should know of a controller that is lost again and again; `nil` if it is not.
    func warningOfFalls(at address: TransportAddress) -> String? {
        guard pauses.isFlapping else { return nil }
        let (name, remedy) = Self.remedyOfFalls(at: address)
        return "\(name) was lost \(pauses.falls) times in \(pauses.secondsOfFalls) s, so bled waits longer between "
            + "tries; \(remedy); ‘bletool power on’ tries at once"
    }

    private static func remedyOfFalls(at address: TransportAddress) -> (name: String, remedy: String) {
        switch address {
        case .userChannel, .rawChannel, .usb:
            (
                "the adapter",
                "plug it into another port or a hub with a power supply, see ‘dmesg’, and switch its autosuspend off"
            )
        case .serialPort:
            (
                "the controller at \(address)",
                "check its power, the wires, the baud rate and the flow control, or use H5 (‘,h5’)"
            )
        case .unix, .tcp, .daemon:
            ("the controller at \(address)", "see what the program says that offers it, and restart that")
        case .simulator, .replay: ("the controller \(address)", "see why in the lines before")
        }
    }
}

extension DaemonCore {
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
            let why = controller.failure ?? error ?? "the controller was closed"
            controller.failure = nil
            let reason = controller.isPowered ? why : controller.reasonOfOff
            let wasReleased = controller.isReleased
            controller.isReleased = false
            controllerIsLost(reason, wasOpen: !wasReleased)
        case .adapterCame:
            if case .waiting(_, isGivenBack: true) = controller.state { return }
            let time = controller.pauses.hasCome(at: microseconds)
            guard !port.engine.isOpen else { return }
            if time > microseconds, case .waiting = controller.state {
                controller.state = .waiting(until: time, isGivenBack: false)
            } else {
                openController()
            }
        case .resetEnded(let problem): resetEnded(problem)
        case .otherAdapter:
            controller.pauses.forget()
            controller.loggedFailure = nil
            openController()
        case .notes(let device, let notes): (controller.device, controller.notes) = (device, notes)
        case .machineSwitch(let name):
            if let name { controller.switchName = name }
            setOff(.byMachine, name != nil)
        case .adapterIs(let key, let place):
            (controller.key, controller.place) = (key, place)
            // Manifests may name their adapter by its address or its place. The first reading is still to come if nothing was opened
            // before.
            if apps.hasReadManifests { readManifests(.adapterKnown) }
        }
    }

    mutating func controllerIsReady(_ information: ControllerInformation) {
        // It was switched off meanwhile.
        guard controller.isPowered else { return }
        controller.state = .ready
        controller.hasBeenReady = true
        controller.pauses.isReady(at: microseconds)
        controller.complaint = nil
        controller.fault = nil
        if isDebugging { debug("the controller is ready") }
        effects.append(.controllerIsReady)
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

    /// - Parameters:
    ///   - wasOpen: whether it could be opened before.
    ///   - wasReady: whether it could be used until now; `nil`: its state says so.
    private mutating func controllerIsLost(
        _ reason: String, isGivenBack: Bool = false, wasOpen: Bool = false, wasReady: Bool? = nil
    ) {
        let (wasReady, isPowered) = (wasReady ?? controller.isReady, controller.isPowered)
        let (now, hasBeenReady) = (now, controller.hasBeenReady)
        let isBlocked = controller.interruption.contains(.blocked)
        let isOffByOperator = controller.off.contains(.byOperator)
        if isPowered {
            let time = microseconds
            let until = wasOpen ? controller.pauses.fell(at: time) : controller.pauses.wasRefused(at: time)
            controller.state = .waiting(until: until, isGivenBack: isGivenBack)
        }
        tools.isAdvertising = false
        controller.trouble = reason
        if controller.complaint != reason { warn("no controller: \(reason)") }
        controller.complaint = reason
        warnOfFalls()
        for connection in connections.all {
            guard let tool = connection.tool else { continue }
            tool.session.controllerIsLost(reason)
            look(at: connection)
        }
        apps.lifecycle.withApps(at: now) { apps in
            if !isPowered || isBlocked { apps.setPower(false, byUser: isOffByOperator, at: now) }
            if wasReady {
                apps.transportClosed(at: now)
            } else if !hasBeenReady, isPowered, !isBlocked {
                // Only an adapter that was never there is unsupported: one that is lost is waited for.
                apps.transportFailed(at: now)
            }
        }
    }

    /// Says once that the controller is lost again and again.
    private mutating func warnOfFalls() {
        guard let text = controller.warningOfFalls(at: port.engine.address) else {
            controller.isFlappingLogged = false
            return
        }
        guard !controller.isFlappingLogged else { return }
        controller.isFlappingLogged = true
        warn(text)
    }

    // MARK: What the engine gives up

    mutating func controllerFailed(_ failure: HostFailure) {
        let text = "\(BLEError(failure))"
        controller.failure = text
        // One that cannot work is tried again when it comes back, and the log need not repeat that.
        if controller.loggedFailure != text { logError("the controller failed: \(text)") }
        controller.loggedFailure = text
    }

    mutating func faultRemains(_ fault: ControllerFault) {
        let text = "\(BLEError.controllerFault(fault))"
        if controller.fault != text { warn(text) }
        controller.fault = text
    }

    // MARK: Reset of the device

    /// - Parameter operatorID: the operator who asks for it; `nil`: the engine does.
    mutating func resetDevice(for operatorID: ConnectionID?) {
        if let operatorID { controller.resetters.append(operatorID) }
        guard !controller.isResetting else { return }
        controller.isResetting = true
        effects.append(.resetDevice)
    }

    private mutating func resetEnded(_ problem: String?) {
        guard controller.isResetting else { return }
        controller.isResetting = false
        let waiting = controller.resetters
        controller.resetters = []
        let text = problem.map { "the device could not be reset: \($0)" }
        for id in waiting { complete(answer(text), for: id) }
        // It was not open before: now it may work.
        guard problem == nil, !port.engine.isOpen else { return }
        controller.pauses.forget()
        openController()
    }

    /// An operator switches Bluetooth off, so that all links end and the controller is released, or on (SPEC SPR-30).
    mutating func setPower(_ isOn: Bool) {
        if isOn, controller.isPowered, case .waiting = controller.state {
            controller.pauses.forget()
            openController()
        }
        setOff(.byOperator, !isOn)
    }

    private mutating func setOff(_ who: ControllerDesk.Off, _ isOff: Bool) {
        guard controller.off.contains(who) != isOff else { return }
        let wasPowered = controller.isPowered
        if isOff { controller.off.insert(who) } else { controller.off.remove(who) }
        if controller.isPowered {
            controller.state = .opening
            controller.pauses.forget()
            log("Bluetooth is switched on")
            // If the engine still stops, it is opened again when its end is reported.
            openController()
            return
        }
        controller.interruption.insert(who == .byOperator ? .switchedOff : .blocked)
        guard wasPowered else {
            controller.trouble = controller.reasonOfOff
            return
        }
        let wasReady = controller.isReady
        controller.state = .off
        controllerIsLost(controller.reasonOfOff, wasReady: wasReady)
        guard port.engine.isOpen else { return }
        controller.isReleased = true
        _ = submit(.stop)
    }
}
