import BLEHost

extension HostCounters {
    /// Every counter with its name.
    public var named: [(name: String, value: UInt64)] {
        [
            ("malformedPackets", malformedPackets),
            ("unexpectedEvents", unexpectedEvents),
            ("commandTimeouts", commandTimeouts),
            ("controllerResets", controllerResets),
            ("transportReopenings", transportReopenings),
            ("hardwareErrors", hardwareErrors),
            ("desynchronisations", desynchronisations),
            ("scanRestarts", scanRestarts),
            ("advertisingReports", advertisingReports),
            ("forgottenDevices", forgottenDevices),
            ("parkedPackets", parkedPackets),
            ("strayPackets", strayPackets),
            ("oversizedFrames", oversizedFrames),
            ("connectionRetries", connectionRetries),
            ("floodedLinks", floodedLinks),
            ("stalledLinks", stalledLinks),
            ("refusedCleartext", refusedCleartext),
            ("droppedDiscoveries", droppedDiscoveries),
            ("droppedValues", droppedValues),
            ("missedUpdates", missedUpdates),
            ("malformedATTPDUs", malformedATTPDUs),
            ("unexpectedATTResponses", unexpectedATTResponses),
            ("droppedEarlyNotifications", droppedEarlyNotifications),
        ]
    }
}

extension WireOperatorAnswer {
    /// The error of a request to remove a bond that does not exist.
    public static let noBond = "there is no such bond"
}
