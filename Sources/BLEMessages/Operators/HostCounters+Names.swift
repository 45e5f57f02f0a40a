import BLEHost

extension HostCounters {
    /// Every counter with its name.
    public var named: [DaemonStatus.Counter] {
        [
            .init("malformedPackets", malformedPackets),
            .init("unexpectedEvents", unexpectedEvents),
            .init("commandTimeouts", commandTimeouts),
            .init("controllerResets", controllerResets),
            .init("transportReopenings", transportReopenings),
            .init("hardwareErrors", hardwareErrors),
            .init("desynchronisations", desynchronisations),
            .init("scanRestarts", scanRestarts),
            .init("advertisingReports", advertisingReports),
            .init("forgottenDevices", forgottenDevices),
            .init("parkedPackets", parkedPackets),
            .init("strayPackets", strayPackets),
            .init("oversizedFrames", oversizedFrames),
            .init("connectionRetries", connectionRetries),
            .init("floodedLinks", floodedLinks),
            .init("stalledLinks", stalledLinks),
            .init("dataBufferOverflows", dataBufferOverflows),
            .init("refusedCleartext", refusedCleartext),
            .init("droppedDiscoveries", droppedDiscoveries),
            .init("droppedValues", droppedValues),
            .init("missedUpdates", missedUpdates),
            .init("malformedATTPDUs", malformedATTPDUs),
            .init("unexpectedATTResponses", unexpectedATTResponses),
            .init("droppedEarlyNotifications", droppedEarlyNotifications),
        ]
    }
}
