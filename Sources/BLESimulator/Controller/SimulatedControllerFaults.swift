import BLEPackets

/// Faults of a simulated controller; they can be changed at any time.
///
/// Each is one deviation of real controllers from the specification, with its public source where it was reported.
/// `SimulatedAir.changeFaults(of:until:_:)` makes faults that end with a step of recovery.
public struct SimulatedControllerFaults: Hashable, Sendable {
    /// No faults.
    public init() {}

    // MARK: Answers

    /// Commands that are ignored and never answered.
    public var unansweredCommands: [HCIOpcode] = []
    /// Commands that are refused; the first match counts.
    public var refusals: [Refusal] = []
    /// Commands that are carried out late; the commands after them wait. So an ESP32 answers LE Create Connection after
    /// 10 s, and cancels meanwhile after it (espressif/esp-idf#7763).
    public var answerDelays: [AnswerDelay] = []
    /// How late Reset is carried out and answered, in microseconds; Toshiba's controllers need seconds.
    public var resetDelayMicroseconds: Int64 = 0
    /// Whether each Reset has two answers, as from controllers of CSR and Toshiba (BTstack, `hci.c`).
    public var answersResetTwice = false
    /// Whether the transport closes instead of an answer to Reset, as with old BlueCore chips (Linux, `btusb.c`).
    public var resetClosesTransport = false
    /// The credits of the first answer after power-on; `nil` for the usual ones. Intel's 7260 has 0 there, and only the
    /// answer to a later Reset has others (Linux, `btusb.c`).
    public var creditsOfFirstAnswer: UInt8?
    /// Whether answers have no credits, and a Command Complete for opcode 0 with them follows (Core 5.4, Vol 4, Part E,
    /// 4.4).
    public var returnsCreditsByNOP = false
    /// Whether a Command Complete for opcode 0 comes after power-on, unasked.
    public var sendsNOPAtBoot = false
    /// Whether LE Set Event Mask is refused with 0x12 if the mask has other bits than these; `nil` if no bit is
    /// refused. Controllers of Core 4.0 know 0x1F.
    public var refusesUnknownMaskBits: LEEventMask?
    /// Whether there is no Encryption Change after Set Event Mask Page 2, as from a BL654 (BTstack, `hci.c`).
    public var pageTwoMutesEncryption = false
    /// Whether scanning, advertising and connecting are refused with 0x0C before Write LE Host Support.
    public var needsLEHostSupport = false
    /// Whether nothing is answered, not even Reset, and nothing is sent.
    public var hangs = false
    /// Whether nothing is answered but Reset, which does not help, and nothing else is sent.
    public var hangsAfterReset = false
    /// Commands that crash the controller.
    public var crashes: [Crash] = []
    /// Whether each event comes with an event of the vendor and one with code 0 (home-assistant/core#76544).
    public var addsStrayEvents = false
    /// How long after each opening the transport closes, in microseconds; `nil` if it stays open. Intel's 8087:0a2a
    /// drops off the bus so (home-assistant/operating-system#3725).
    public var closesAfterMicroseconds: Int64?

    // MARK: Scanning

    /// Whether advertising reports are withheld although scanning continues.
    public var silencesReports = false
    /// How long reports come after `hearsAgainAfter`, in microseconds; `nil` without a limit.
    public var hearsOnlyForMicroseconds: Int64?
    /// What makes the time of `hearsOnlyForMicroseconds` start again.
    public var hearsAgainAfter = SimulatedControllerRemedy.scanRestart
    /// Whether starting a scan is refused with 0x0C while there is a link.
    public var refusesScanWithLinks = false
    /// The same for extended scans only, as by an RTL8761B (bluez/bluetooth-next#133).
    public var refusesExtendedScanWithLinks = false
    /// Whether a scan with LE Coded among its PHYs receives nothing (Linux, `btintel.c`, BROKEN_LE_CODED).
    public var codedScanIsDeaf = false
    /// Whether reports have no data (home-assistant/core#77043).
    public var emptiesReports = false
    /// Whether every report has the controller's public address (abandonware/noble#237).
    public var reportsOwnAddress = false
    /// Whether the RSSI of each report is 127, which is unknown.
    public var reportsNoRSSI = false
    /// Whether reserved bits of event type and primary PHY are set in extended reports (bluez/bluetooth-next#607).
    public var fillsReservedBits = false
    /// Whether the last three octets of each event with reports are missing (custom-components/ble_monitor#47).
    public var cutsReports = false
    /// Whether the duplicate filter knows addresses only, so that changed data is not reported (Linux, `btintel.c`); a
    /// scan response is reported beside its advertisement.
    public var strictDuplicates = false
    /// Whether only the first part of long data is reported, with “more to come” (zephyrproject-rtos/zephyr#36496).
    public var losesLastFragment = false
    /// Whether the parts of two long advertisements alternate, if the second comes within 200 ms
    /// (zephyrproject-rtos/zephyr#37336).
    public var interleavesFragments = false
    /// The most reports in a second; those beyond are lost. `nil` without a limit.
    public var greatestReportRate: Int?
    /// The rate of reports, in one second, that crashes the controller; `nil` if none does (NicoIIT/ha-ble-adv#60).
    public var crashingReportRate: Int?

    // MARK: Connecting and links

    /// How many of the next connections fail to be established.
    public var failingConnections = 0
    /// How those connections fail.
    public var connectionFailure = ConnectionFailure.disconnection
    /// Whether attempts to connect are accepted and never succeed (LuanAdemi/mediatek7925e-bluetooth-fix#13).
    public var initiatesNever = false
    /// How attempts to connect are refused while scanning runs; `nil` if they are not. Others than 0x0C are seen.
    public var initiatingWhileScanningStatus: HCIStatus?
    /// How an attempt is refused while another one runs; `nil` for 0x0C. A BCM43438 has an error of the link layer
    /// there (bluez/bluetooth-next#643).
    public var secondInitiationStatus: HCIStatus?
    /// The delay of Connection Complete after the link was made, in microseconds: data may arrive first.
    public var connectionCompleteDelayMicroseconds: Int64 = 0
    /// The maximum random delay of each event that does not answer a command, in microseconds, so that events overtake
    /// each other.
    public var eventDisorderMicroseconds: Int64 = 0
    /// The delay of every event that does not answer a command, in microseconds, so that data overtakes them: events
    /// and data of a USB dongle come through different endpoints.
    public var eventLagMicroseconds: Int64 = 0
    /// Whether a link is reported by LE Connection Complete and by LE Enhanced Connection Complete, whatever the mask.
    public var reportsConnectionTwice = false
    /// Whether only LE Enhanced Connection Complete is used, so that a host that masks it never sees a link.
    public var sendsEnhancedOnly = false
    /// Whether the peer's address in Connection Complete is marked as an identity although nothing was resolved
    /// (BTstack, `hci.c`).
    public var marksIdentities = false
    /// Whether a new link has the handle of the last one, even if that still exists.
    public var reusesHandles = false
    /// How Disconnect is refused; `nil` if it is not.
    public var refusesDisconnect: HCIStatus?
    /// Whether Disconnection Complete is withheld.
    public var keepsDisconnection = false
    /// Whether Disconnection Complete comes twice.
    public var reportsDisconnectionTwice = false

    // MARK: Data

    /// Whether Number Of Completed Packets is withheld.
    public var keepsCompletedPackets = false
    /// How many packets on all links are reported as completed after power-on or Reset; `nil` without a limit
    /// (zephyrproject-rtos/zephyr#14899).
    public var stopsCompletedPacketsAfter: Int?
    /// Whether Number Of Completed Packets has twice the count, and packets of a link that does not exist.
    public var overcountsCompletedPackets = false
    /// The longest data of a packet from the host that arrives; longer data vanishes, and its buffer is free again.
    /// `nil` without a limit. An ESP32 loses data beyond 63 octets after some days (espressif/esp-idf#14648).
    public var losesDataLongerThan: Int?
    /// A packet from the host whose length with its header is a multiple of this is never taken; `nil` if none is.
    /// Zephyr's USB controllers had 64 (zephyrproject-rtos/zephyr#31922).
    public var losesMultiplesOf: Int?

    // MARK: Advertising and privacy

    /// Whether advertising is refused with 0x0C while scanning runs, whatever the supported states say
    /// (bluekitchen/btstack#28).
    public var refusesAdvertisingWhileScanning = false
    /// Whether the resolving list is accepted but ignored, as by Bumble's controllers.
    public var resolvesNothing = false
    /// Whether entries of the accept list do not match any more after a change of the resolving list, until they are
    /// added again (BTstack, `hci.c`).
    public var forgetsAcceptedIdentities = false
    /// Whether a new random address is used only after the next Set Advertising Parameters (BTstack, `hci.c`).
    public var latchesAdvertisingAddress = false
}
