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
        if let controller = self.controller(controller) { change(&controller.faults) }
    }

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

    /// Plugs a controller in again: it starts as after power-on, with the same faults.
    public func reopenTransport(of controller: SimulatedControllerID) { self.controller(controller)?.regainPower() }
}
