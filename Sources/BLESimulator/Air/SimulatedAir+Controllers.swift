import BLEPackets

/// Operations on the controllers of an air, allowed at any time. Identifiers of another air are ignored.
extension SimulatedAir {
    /// Counters of a controller's traffic with its host.
    public func statistics(of controller: SimulatedControllerID) -> SimulatedControllerStatistics {
        self.controller(controller)?.statistics ?? SimulatedControllerStatistics()
    }

    /// The current faults of a controller.
    public func faults(of controller: SimulatedControllerID) -> SimulatedControllerFaults {
        self.controller(controller)?.faults ?? SimulatedControllerFaults()
    }

    /// Changes the faults of a controller.
    public func changeFaults(
        of controller: SimulatedControllerID, _ change: (inout SimulatedControllerFaults) -> Void
    ) {
        self.controller(controller)?.changeFaults(change)
    }

    /// Changes the faults of a controller until something is done about them; weaker remedies do not end them.
    ///
    ///     air.changeFaults(of: controller, until: .powerCycle) { $0.hangs = true }
    public func changeFaults(
        of controller: SimulatedControllerID, until remedy: SimulatedControllerRemedy,
        _ change: @escaping (inout SimulatedControllerFaults) -> Void
    ) {
        self.controller(controller)?.changeFaults(until: remedy, change)
    }

    /// Ends all faults of a controller.
    public func clearFaults(of controller: SimulatedControllerID) {
        self.controller(controller)?.temporaryFaults = []
        self.controller(controller)?.faults = SimulatedControllerFaults()
    }

    /// Makes a controller forget everything without an event, as at power-on, while its transport stays open: it has
    /// restarted by itself.
    /// - Parameter microseconds: a time of the air; `nil` for now.
    public func forgetEverything(_ controller: SimulatedControllerID, at microseconds: Int64? = nil) {
        guard let controller = self.controller(controller) else { return }
        after((microseconds ?? nowMicroseconds) - nowMicroseconds) { controller.reset() }
    }

    /// Takes the power from a controller and gives it back, as a USB reset does: it forgets everything, packets on their
    /// way are lost, its links go silent, and faults that end with this end. Its transport is open afterwards.
    public func powerCycle(_ controller: SimulatedControllerID) { self.controller(controller)?.powerCycleDevice() }

    /// Sends a Hardware Error event, now or later; the controller otherwise continues normally.
    /// - Parameter microseconds: a time of the air; `nil` for now.
    public func sendHardwareError(
        _ code: UInt8, from controller: SimulatedControllerID, at microseconds: Int64? = nil
    ) {
        guard let controller = self.controller(controller) else { return }
        after((microseconds ?? nowMicroseconds) - nowMicroseconds) {
            guard controller.isOpen, controller.isOn(.hardwareError) else { return }
            controller.send(event: HardwareError(hardwareCode: code))
        }
    }

    /// Delivers any packet to a host, even one that no controller would send.
    /// - Parameter packet: a whole H4 packet, type octet first.
    public func inject(_ packet: [UInt8], from controller: SimulatedControllerID) {
        self.controller(controller)?.send(packet: packet)
    }

    /// Unplugs a controller: the transport closes, the controller forgets everything, its links go silent.
    /// - Parameter microseconds: a time of the air; `nil` for now.
    public func closeTransport(of controller: SimulatedControllerID, at microseconds: Int64? = nil) {
        guard let controller = self.controller(controller) else { return }
        guard let microseconds, microseconds > nowMicroseconds else { return controller.losePower() }
        after(microseconds - nowMicroseconds) { controller.losePower() }
    }

    /// Unplugs a controller after this many more packets in both directions.
    public func closeTransport(of controller: SimulatedControllerID, afterPackets count: Int) {
        self.controller(controller)?.packetsUntilClosed = max(0, count)
    }

    /// Whether the transport has been closed by `closeTransport`; the packets before that can still be read.
    public func isTransportClosed(of controller: SimulatedControllerID) -> Bool {
        self.controller(controller).map { !$0.isOpen } ?? true
    }

    /// Opens a transport again. A controller whose transport was closed starts as after power-on, with the faults that
    /// this does not end.
    public func reopenTransport(of controller: SimulatedControllerID) {
        self.controller(controller)?.apply(.reopening)
        self.controller(controller)?.regainPower()
    }
}
