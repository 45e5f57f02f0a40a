import BLEPackets

/// What a program needs that plays a controller from elsewhere than the air, such as from a capture.
extension SimulatedAir {
    /// Whether a controller's host scans now, be it in a pause between two periods.
    public func isScanning(_ controller: SimulatedControllerID) -> Bool {
        self.controller(controller)?.settings.scan.isEnabled ?? false
    }

    /// Does something as soon as the host of a controller scans, once; at the next moment if it does already.
    public func whenScanning(_ controller: SimulatedControllerID, _ action: @escaping (SimulatedAir) -> Void) {
        guard let controller = self.controller(controller) else { return }
        if controller.settings.scan.isEnabled {
            schedule(at: nowMicroseconds, action)
        } else {
            controller.scanWaiters.append(action)
        }
    }

    /// Lets a controller report an advertisement that nobody on the air has sent, if its host scans: in the form of that
    /// scan, through its accept list and its duplicate filter, scan responses to an active scan only.
    public func report(_ report: LEExtendedAdvertisingReport.Report, by controller: SimulatedControllerID) {
        self.controller(controller)?.play(report)
    }
}
