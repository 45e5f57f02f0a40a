/// How a controller deviates from the specification, or what is weak about it.
///
/// The engine starts with what `ControllerFamily` lists for the controller, and learns the rest from its behaviour
/// (`ControllerExperience`).
public struct ControllerTraits: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    // MARK: Commands

    /// Scans with the legacy commands: the extended ones are claimed and do not work.
    public static let scansWithLegacyCommands = Self(rawValue: 1 << 0)
    /// Initiates with the legacy command.
    public static let initiatesWithLegacyCommands = Self(rawValue: 1 << 1)
    /// Advertises with the legacy commands.
    public static let advertisesWithLegacyCommands = Self(rawValue: 1 << 2)
    /// Resetting it makes it leave the bus: it is reset only when it is closed.
    public static let leavesOnReset = Self(rawValue: 1 << 3)
    /// Set Event Mask Page 2 silences Encryption Change.
    public static let eventMaskPageTwoMutesEncryption = Self(rawValue: 1 << 4)
    /// LE Set Event Mask takes only the events of Core 4.0.
    public static let knowsOldEventMaskOnly = Self(rawValue: 1 << 5)
    /// Writing the authenticated payload timeout harms it.
    public static let cannotWriteAuthenticatedPayloadTimeout = Self(rawValue: 1 << 6)
    /// It has static addresses of its maker, read with the vendor command Read Static Addresses.
    public static let hasStaticAddresses = Self(rawValue: 1 << 7)

    // MARK: Radio

    /// Scanning on LE Coded fails, or disturbs scanning on LE 1M.
    public static let cannotScanOnCodedPHY = Self(rawValue: 1 << 8)
    /// It refuses to begin a scan while a link is open.
    public static let refusesScanWithLinks = Self(rawValue: 1 << 9)
    /// It refuses to initiate while it scans.
    public static let refusesInitiatingWhileScanning = Self(rawValue: 1 << 10)
    /// It refuses to advertise while it scans.
    public static let refusesAdvertisingWhileScanning = Self(rawValue: 1 << 11)
    /// Scanning while a link is set up crashes it.
    public static let crashesScanningDuringLinkSetup = Self(rawValue: 1 << 12)
    /// Scanning with full duty while links are open disturbs them.
    public static let disturbsLinksByScanning = Self(rawValue: 1 << 13)
    /// It loses events, or crashes, under many reports.
    public static let failsUnderManyReports = Self(rawValue: 1 << 14)
    /// Its supported states are wrong.
    public static let reportsWrongStates = Self(rawValue: 1 << 15)

    // MARK: Addresses and data

    /// Many units have the same public address, which counts as none.
    public static let sharesPublicAddress = Self(rawValue: 1 << 16)
    /// Data may come tens of milliseconds before the event that they follow.
    public static let sendsDataBeforeEvents = Self(rawValue: 1 << 17)
    /// Long data are lost after a while.
    public static let losesLongData = Self(rawValue: 1 << 18)

    // MARK: What its user should know

    /// Its firmware was not loaded: it receives little or nothing.
    public static let lacksFirmware = Self(rawValue: 1 << 24)
    /// Only a reset of the device on its bus brings it back after a hang.
    public static let needsDeviceReset = Self(rawValue: 1 << 25)
    /// Autosuspend of its bus harms it.
    public static let suffersFromAutosuspend = Self(rawValue: 1 << 26)
    /// Reception can fade away although every command succeeds.
    public static let losesReception = Self(rawValue: 1 << 27)
    /// It may answer everything, and connect to nobody.
    public static let stopsConnecting = Self(rawValue: 1 << 28)
    /// A copy of another maker's chip.
    public static let isClone = Self(rawValue: 1 << 29)
    /// It leaves its bus and comes back by itself.
    public static let flaps = Self(rawValue: 1 << 30)
}

/// What was learned about a controller by its behaviour. The owner of the engine stores it, and gives it to the next
/// engine for the same device (`HostConfiguration.experience`).
public struct ControllerExperience: Hashable, Sendable {
    /// Traits that it showed.
    public var found: ControllerTraits
    /// Traits of its family that it does not have.
    public var refuted: ControllerTraits

    public init(found: ControllerTraits = [], refuted: ControllerTraits = []) {
        self.found = found
        self.refuted = refuted
    }

    /// Whether nothing was learned.
    public var isEmpty: Bool { found.isEmpty && refuted.isEmpty }

    /// Notes that the controller has a trait, or that it has not.
    /// - Returns: whether this is news.
    mutating func learn(_ trait: ControllerTraits, isThere: Bool) -> Bool {
        let before = self
        if isThere {
            found.formUnion(trait)
            refuted.subtract(trait)
        } else {
            found.subtract(trait)
            refuted.formUnion(trait)
        }
        return self != before
    }
}
