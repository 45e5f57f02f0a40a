import BLE

/// What to do about the traits of a controller.
extension TraitTexts {
    /// What may disturb the controller's user; the others are only worth knowing, for the stack copes with them.
    static let harmful: ControllerTraits = [
        .leavesOnReset, .cannotScanOnCodedPHY, .refusesScanWithLinks, .crashesScanningDuringLinkSetup,
        .disturbsLinksByScanning, .failsUnderManyReports, .sharesPublicAddress, .losesLongData, .lacksFirmware,
        .needsDeviceReset, .suffersFromAutosuspend, .losesReception, .stopsConnecting, .isClone, .flaps,
    ]

    /// A sentence each: what the trait is, and what to do about it.
    /// - Parameter transport: where the controller is, if that is known: a reset is another one there.
    static func weaknesses(of traits: ControllerTraits, at transport: TransportAddress? = nil) -> [String] {
        advices.filter { traits.contains($0.trait) }.map { advice in
            let cure = advice.trait == .needsDeviceReset ? transport.map { "when it hangs, \($0.cureOfHang)" } : nil
            return texts(of: advice.trait).joined(separator: "; ") + ": " + (cure ?? advice.text)
        }
    }

    private static let handled = "nothing to do, it is used accordingly"

    /// One for each trait.
    static let advices: [(trait: ControllerTraits, text: String)] = [
        (.scansWithLegacyCommands, handled), (.initiatesWithLegacyCommands, handled),
        (.advertisesWithLegacyCommands, handled),
        (.leavesOnReset, "it is reset only when it is closed; unplug it and plug it in again if it hangs"),
        (.eventMaskPageTwoMutesEncryption, handled), (.knowsOldEventMaskOnly, handled),
        (.cannotWriteAuthenticatedPayloadTimeout, handled), (.hasStaticAddresses, handled),
        (.cannotScanOnCodedPHY, "devices that advertise only on LE Coded need another adapter"),
        (.refusesScanWithLinks, "scans wait until its links have ended; use a second adapter to scan all the time"),
        (.refusesInitiatingWhileScanning, "scans pause while a connection is made"),
        (.refusesAdvertisingWhileScanning, "scanning and advertising take turns; use a second adapter for one of them"),
        (.crashesScanningDuringLinkSetup, "scans pause while a link is made; newer firmware may mend it"),
        (.disturbsLinksByScanning, "scans take a smaller share while links are open; use a second adapter to scan"),
        (.failsUnderManyReports, "use filters, or another adapter where many devices advertise"),
        (.reportsWrongStates, handled),
        (.sharesPublicAddress, "a random static address is used in its place"),
        (.sendsDataBeforeEvents, handled),
        (.losesLongData, "connect again when a transfer stops, and look for newer firmware"),
        (.lacksFirmware, "install the firmware package of its maker, and unplug the adapter and plug it in again"),
        (
            .needsDeviceReset,
            "let bled reset it, or do so with ‘bletool power reset’, on USB and for the kernel's adapters"
        ),
        (.suffersFromAutosuspend, "write “on” into power/control of the device; bled does so with ‘keepsAwake’"),
        (
            .losesReception,
            "a program that scans for days should watch for reports; bled restarts the scan and the controller"
        ),
        (.stopsConnecting, "reset the device when known devices are heard and none of them connects"),
        (.isClone, "do not rely on what it claims; a chip of the maker it names would do better"),
        (.flaps, "try another port or a powered hub; bled waits longer after each return"),
    ]
}
