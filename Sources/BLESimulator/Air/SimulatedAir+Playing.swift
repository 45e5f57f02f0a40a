import BLEPackets

/// Functions for a program that plays a controller from another source, such as a capture.
extension SimulatedAir {
    /// Whether a controller's host is scanning, including pauses between two periods.
    public func isScanning(_ controller: SimulatedControllerID) -> Bool {
        self.controller(controller)?.settings.scan.isEnabled ?? false
    }

    /// Runs an action once, as soon as the host of a controller scans.
    public func whenScanning(_ controller: SimulatedControllerID, _ action: @escaping (SimulatedAir) -> Void) {
        guard let controller = self.controller(controller) else { return }
        if controller.settings.scan.isEnabled {
            schedule(at: nowMicroseconds, action)
        } else {
            controller.scanWaiters.append(action)
        }
    }

    /// Makes a controller report an advertisement that no station has sent, if its host is scanning. The report takes
    /// the form of that scan and passes its accept list and duplicate filter; scan responses are reported to active
    /// scans only.
    public func report(_ report: LEExtendedAdvertisingReport.Report, by controller: SimulatedControllerID) {
        self.controller(controller)?.play(report)
    }
}
