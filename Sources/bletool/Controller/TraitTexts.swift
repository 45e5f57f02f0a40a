import BLE

/// What the traits of a controller mean for people.
enum TraitTexts {
    /// Words that stay the same, for programs.
    static func names(of traits: ControllerTraits) -> [String] { rows.filter { traits.contains($0.trait) }.map(\.name) }

    /// A sentence each.
    static func texts(of traits: ControllerTraits) -> [String] { rows.filter { traits.contains($0.trait) }.map(\.text) }

    private static let rows: [(trait: ControllerTraits, name: String, text: String)] = [
        (.scansWithLegacyCommands, "scansWithLegacyCommands", "scans with the legacy commands only"),
        (.initiatesWithLegacyCommands, "initiatesWithLegacyCommands", "connects with the legacy command only"),
        (.advertisesWithLegacyCommands, "advertisesWithLegacyCommands", "advertises with the legacy commands only"),
        (.leavesOnReset, "leavesOnReset", "leaves its bus when it is reset"),
        (
            .eventMaskPageTwoMutesEncryption, "eventMaskPageTwoMutesEncryption",
            "hides that a link is encrypted when it is asked for more events"
        ),
        (.knowsOldEventMaskOnly, "knowsOldEventMaskOnly", "refuses events that are newer than Core 4.0"),
        (
            .cannotWriteAuthenticatedPayloadTimeout, "cannotWriteAuthenticatedPayloadTimeout",
            "is harmed by an authenticated payload timeout"
        ),
        (.hasStaticAddresses, "hasStaticAddresses", "has a static address of its maker"),
        (.cannotScanOnCodedPHY, "cannotScanOnCodedPHY", "cannot scan on LE Coded"),
        (.refusesScanWithLinks, "refusesScanWithLinks", "refuses to scan while a link is open"),
        (.refusesInitiatingWhileScanning, "refusesInitiatingWhileScanning", "refuses to connect while it scans"),
        (.refusesAdvertisingWhileScanning, "refusesAdvertisingWhileScanning", "refuses to advertise while it scans"),
        (
            .crashesScanningDuringLinkSetup, "crashesScanningDuringLinkSetup",
            "may crash when it scans while a link is made"
        ),
        (.disturbsLinksByScanning, "disturbsLinksByScanning", "disturbs its links by scanning"),
        (.failsUnderManyReports, "failsUnderManyReports", "loses events, or crashes, where many devices advertise"),
        (.reportsWrongStates, "reportsWrongStates", "is wrong about what it can do at the same time"),
        (.sharesPublicAddress, "sharesPublicAddress", "has an address that many units have, which is not used"),
        (.sendsDataBeforeEvents, "sendsDataBeforeEvents", "may deliver data before the event that they follow"),
        (.losesLongData, "losesLongData", "may lose long data after a while"),
        (.lacksFirmware, "lacksFirmware", "works without its firmware, so that it receives little or nothing"),
        (.needsDeviceReset, "needsDeviceReset", "comes back after a hang only if the device is reset"),
        (.suffersFromAutosuspend, "suffersFromAutosuspend", "is harmed by autosuspend"),
        (.losesReception, "losesReception", "may stop to hear devices although every command succeeds"),
        (.stopsConnecting, "stopsConnecting", "may answer everything, and connect to nobody, until it is reset"),
        (.isClone, "isClone", "is a copy of another maker's chip"),
        (.flaps, "flaps", "may leave its bus and come back by itself"),
    ]
}
