import BLEPackets

/// What the owner of an air may do to its controllers at any time. Identifiers of another air are ignored.
extension SimulatedAir {
    /// What a controller has seen of its host so far.
    public func statistics(of controller: SimulatedControllerID) -> SimulatedControllerStatistics {
        self.controller(controller)?.statistics ?? SimulatedControllerStatistics()
    }

    /// How a controller misbehaves at present.
    public func faults(of controller: SimulatedControllerID) -> SimulatedControllerFaults {
        self.controller(controller)?.faults ?? SimulatedControllerFaults()
    }

    /// Lets a controller misbehave otherwise from now on.
    public func changeFaults(
        of controller: SimulatedControllerID, _ change: (inout SimulatedControllerFaults) -> Void
    ) {
        if let controller = self.controller(controller) { change(&controller.faults) }
    }

    /// Sends a Hardware Error event, now or later; the controller goes on as if nothing had happened.
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

    /// Hands a host any packet, be it one that no controller would send.
    /// - Parameter packet: a whole H4 packet, type octet first.
    public func inject(_ packet: [UInt8], from controller: SimulatedControllerID) {
        self.controller(controller)?.send(packet: packet)
    }

    /// Pulls the plug: the transport closes, the controller forgets everything, its links fall silent.
    /// - Parameter microseconds: a time of the air; `nil` for now.
    public func closeTransport(of controller: SimulatedControllerID, at microseconds: Int64? = nil) {
        guard let controller = self.controller(controller) else { return }
        guard let microseconds, microseconds > nowMicroseconds else { return controller.losePower() }
        after(microseconds - nowMicroseconds) { controller.losePower() }
    }

    /// Pulls the plug after so many more packets, counted in both directions.
    public func closeTransport(of controller: SimulatedControllerID, afterPackets count: Int) {
        self.controller(controller)?.packetsUntilClosed = max(0, count)
    }

    /// Whether the transport has been closed by one of the two; the packets before that can still be taken.
    public func isTransportClosed(of controller: SimulatedControllerID) -> Bool {
        self.controller(controller).map { !$0.isOpen } ?? true
    }

    /// Plugs a controller in again: it begins as after power-on, with the same faults.
    public func reopenTransport(of controller: SimulatedControllerID) { self.controller(controller)?.regainPower() }
}
