import BLEPackets

extension SimulatedControllerPreset {
    /// The faults that a controller of the family has all the time.
    public var faults: SimulatedControllerFaults {
        var faults = SimulatedControllerFaults()
        switch self {
        case .csrClone:
            faults.refusesUnknownMaskBits = .afterReset
            faults.answersResetTwice = true
            faults.strictDuplicates = true
            // Event filter, stored link keys, erroneous data reporting lock it up (Linux, btusb.c).
            faults.unansweredCommands = [0x005, 0x00D, 0x012, 0x05A, 0x05B].map {
                HCIOpcode(group: .controllerAndBaseband, command: $0)
            }
        case .realtek8761:
            faults.refusesExtendedScanWithLinks = true
            // Traced with 10.4 ms on a relative (CachyOS/kernel-patches#180).
            faults.eventLagMicroseconds = 10_400
        case .ats2851:
            faults.eventLagMicroseconds = 2_000
        case .intelAX2xx:
            faults.codedScanIsDeaf = true
            faults.strictDuplicates = true
            // home-assistant/core#99053
            faults.hearsOnlyForMicroseconds = 300_000_000
            faults.hearsAgainAfter = .reset
        case .broadcomPi:
            faults.crashes = [.init(LEReadRemoteFeatures.opcode, whileScanning: true)]
            faults.secondInitiationStatus = .unspecifiedError
            faults.initiatingWhileScanningStatus = .commandDisallowed
            faults.strictDuplicates = true
        case .zephyrUSB:
            faults.interleavesFragments = true
            // About a hundred devices (zephyrproject-rtos/zephyr#20250).
            faults.greatestReportRate = 1000
        case .esp32:
            faults.refusals = [.init(HostBufferSize.opcode, status: .invalidCommandParameters)]
            // After days (espressif/esp-idf#14648).
            faults.stopsCompletedPacketsAfter = 10_000
        case .mediatek7922:
            // ublue-os/bazzite#5447
            faults.refusals = [.init(LESetExtendedAdvertisingData.opcode, status: .unspecifiedError)]
        case .cc2564:
            faults.refusesAdvertisingWhileScanning = true
            faults.initiatingWhileScanningStatus = .commandDisallowed
        case .virtualMachine: break
        }
        return faults
    }
}

extension SimulatedAir {
    /// Adds a controller of a family, with its faults.
    /// - Parameter unit: which one of several, 0 to 255: it changes the address, unless all units have the same.
    @discardableResult
    public func addController(_ preset: SimulatedControllerPreset, unit: UInt8 = 0) -> SimulatedControllerID {
        addController(preset.configuration(unit: unit), faults: preset.faults)
    }
}
