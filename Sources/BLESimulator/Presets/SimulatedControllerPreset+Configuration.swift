import BLEPackets

extension SimulatedControllerPreset {
    /// The identity and the capabilities of a controller of the family.
    /// - Parameter unit: which one of several, 0 to 255: it changes the address, unless all units have the same.
    public func configuration(unit: UInt8 = 0) -> SimulatedControllerConfiguration {
        var configuration = SimulatedControllerConfiguration()
        configuration.publicAddress = publicAddress(unit: unit)
        switch self {
        case .csrClone: describeCSR(&configuration)
        case .realtek8761: describeRealtek(&configuration)
        case .ats2851: describeActions(&configuration)
        case .intelAX2xx: describeIntel(&configuration)
        case .broadcomPi: describeBroadcom(&configuration)
        case .zephyrUSB: describeZephyr(&configuration)
        case .esp32: describeEspressif(&configuration)
        case .mediatek7922: describeMediaTek(&configuration)
        case .cc2564: describeTI(&configuration)
        case .virtualMachine: describeVMware(&configuration)
        }
        if hasClassic { configuration.fixedAnswers += Self.classicAnswers(name: name) }
        return configuration
    }

    private func publicAddress(unit: UInt8) -> DeviceAddress? {
        let value: UInt64? =
            switch self {
            // Every unit has the same (abandonware/noble#237).
            case .csrClone: 0x001A_7DDA_7113
            // The default of chips without one (Linux, btbcm.c).
            case .broadcomPi: 0xAAAA_AAAA_AAAA
            case .zephyrUSB: nil
            case .realtek8761: 0x8C88_4B00_0000 + UInt64(unit)
            case .ats2851: 0x3125_8600_0000 + UInt64(unit)
            case .intelAX2xx: 0xA4C3_F000_0000 + UInt64(unit)
            case .esp32: 0x240A_C400_0000 + UInt64(unit)
            case .mediatek7922: 0x1418_C300_0000 + UInt64(unit)
            case .cc2564: 0xD03A_E900_0000 + UInt64(unit)
            case .virtualMachine: 0x000C_2900_0000 + UInt64(unit)
            }
        return value.map { DeviceAddress(value: $0, kind: .public) }
    }

    // MARK: Families

    /// What controllers of Core 4.2 have, with longer packets and private addresses.
    private static let features42: LEFeatures = [
        .encryption, .connectionParametersRequestProcedure, .extendedRejectIndication,
        .peripheralInitiatedFeaturesExchange, .ping, .dataPacketLengthExtension, .linkLayerPrivacy,
        .extendedScanningFilterPolicies,
    ]
    /// What those of Core 5.0 have besides: faster and farther PHYs, extended advertising.
    private static let features50: LEFeatures = features42.union([
        .le2MPHY, .leCodedPHY, .extendedAdvertising, .channelSelectionAlgorithm2,
    ])
    private static let trains: LEFeatures = [
        .periodicAdvertising, .periodicAdvertisingSyncTransferSender, .periodicAdvertisingSyncTransferRecipient,
    ]

    /// A dual-mode chip: BR/EDR with EDR, SSP and extended features, and LE.
    private static let dualMode: UInt64 = 0x877B_FFDB_FECF_FEBF

    /// Barrot's 8041a02, which says that it is of CSR: its revisions differ (Linux, btusb.c).
    private func describeCSR(_ configuration: inout SimulatedControllerConfiguration) {
        configuration.version = .core40
        configuration.manufacturer = CompanyIdentifier(rawValue: 0x000A)
        (configuration.hciRevision, configuration.subversion) = (0x0810, 0x1012)
        configuration.features = .encryption
        configuration.linkManagerFeatures = Self.dualMode
        configuration.supportedStates = 0x0000_0000_1FFF_FFFF
        (configuration.aclDataLength, configuration.aclDataCount) = (310, 10)
        configuration.sharesBuffers = true
        configuration.maximumDataLength = 27
        configuration.maximumLinks = 5
        configuration.refusesNeedlessDisable = true
    }

    /// With its firmware: HCI revision and LMP subversion are the halves of the firmware's version.
    private func describeRealtek(_ configuration: inout SimulatedControllerConfiguration) {
        configuration.version = .core51
        configuration.manufacturer = CompanyIdentifier(rawValue: 0x005D)
        (configuration.hciRevision, configuration.subversion) = (0xDFC6, 0xD922)
        configuration.features = Self.features50
        configuration.linkManagerFeatures = Self.dualMode
        (configuration.aclDataLength, configuration.aclDataCount) = (251, 8)
        configuration.maximumLinks = 6
        configuration.acceptListSize = 16
        configuration.advertisingSets = 3
        configuration.resolvingListSize = 32
    }

    private func describeActions(_ configuration: inout SimulatedControllerConfiguration) {
        configuration.version = .core53
        configuration.manufacturer = CompanyIdentifier(rawValue: 0x03E0)
        (configuration.hciRevision, configuration.subversion) = (0x0001, 0x0001)
        configuration.features = Self.features50
        configuration.linkManagerFeatures = Self.dualMode
        // LE Read Transmit Power, which the simulator has not; LE Set Resolvable Private Address Timeout; the two
        // commands of extended scanning and LE Extended Create Connection.
        configuration.falselyClaimedCommands = [
            HCIOpcode(group: .leController, command: 0x04B), LESetResolvablePrivateAddressTimeout.opcode,
            LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode, LEExtendedCreateConnection.opcode,
        ]
        // Linux advertises with extended commands and scans with legacy ones there.
        configuration.allowsMixedCommands = true
        configuration.maximumLinks = 5
    }

    private func describeIntel(_ configuration: inout SimulatedControllerConfiguration) {
        configuration.version = .core52
        configuration.manufacturer = CompanyIdentifier(rawValue: 0x0002)
        (configuration.hciRevision, configuration.subversion) = (0x2231, 0x2231)
        configuration.features = Self.features50.union(Self.trains)
        configuration.linkManagerFeatures = Self.dualMode
        (configuration.aclDataLength, configuration.aclDataCount) = (251, 4)
        configuration.acceptListSize = 25
        configuration.resolvingListSize = 24
        configuration.advertisingSets = 12
        configuration.fixedAnswers = [
            // Intel Read Version: platform, hardware variant 0x14, revision, operational firmware.
            .init(
                HCIOpcode(group: .vendorSpecific, command: 0x005),
                returns: [0, 0x37, 0x14, 0x10, 0x23, 0x10, 0x1E, 0x24, 0x16, 0x00])
        ]
    }

    private func describeBroadcom(_ configuration: inout SimulatedControllerConfiguration) {
        configuration.version = .core50
        configuration.manufacturer = CompanyIdentifier(rawValue: 0x0131)
        (configuration.hciRevision, configuration.subversion) = (0x0182, 0x6119)
        configuration.features = Self.features42.union([.le2MPHY])
        configuration.linkManagerFeatures = Self.dualMode
        // It says truly that it cannot initiate while it scans: bits 22 and 23.
        configuration.supportedStates = 0x0000_03FF_FFFF_FFFF & ~(0b11 << 22)
        (configuration.aclDataLength, configuration.aclDataCount) = (251, 9)
        configuration.maximumLinks = 7
        configuration.acceptListSize = 16
    }

    /// The vendor commands are those of Zephyr's `hci_vs.h`.
    private func describeZephyr(_ configuration: inout SimulatedControllerConfiguration) {
        configuration.version = .core54
        configuration.manufacturer = CompanyIdentifier(rawValue: 0x05F1)
        (configuration.hciRevision, configuration.subversion) = (0x0000, 0xFFFF)
        configuration.features = Self.features50.union(Self.trains)
        configuration.linkManagerFeatures = 0x60 << 32
        // Initiating and scanning exclude each other (zephyrproject-rtos/zephyr#33688).
        configuration.supportedStates = 0x0000_03FF_FFFF_FFFF & ~(0b11 << 22)
        (configuration.aclDataLength, configuration.aclDataCount) = (251, 3)
        configuration.maximumLinks = 4
        configuration.advertisingSets = 2
        func vendor(_ command: UInt16) -> HCIOpcode { HCIOpcode(group: .vendorSpecific, command: command) }
        let staticAddress: [UInt8] = [0x5E, 0x11, 0x05, 0xF1, 0x5E, 0xDE]
        configuration.fixedAnswers = [
            // Read Version Information: Nordic, nRF52840, standard firmware, 3.7.
            .init(vendor(0x001), returns: [0, 0x02, 0, 0x02, 0, 0, 3, 7, 0, 0, 0, 0, 0]),
            // Read Supported Commands: the first two, Write BD_ADDR, Read Build Information and this family's addresses.
            .init(vendor(0x002), returns: [0, 0b1010_0011, 0b0000_0001, 0, 0, 0, 0, 0, 0]),
            .init(vendor(0x009), returns: [0, 1] + staticAddress + [UInt8](repeating: 0, count: 16)),
        ]
    }

    private func describeEspressif(_ configuration: inout SimulatedControllerConfiguration) {
        configuration.version = .core42
        configuration.manufacturer = CompanyIdentifier(rawValue: 0x02E5)
        (configuration.hciRevision, configuration.subversion) = (0x000A, 0x0011)
        configuration.features = Self.features42
        configuration.linkManagerFeatures = Self.dualMode
        (configuration.aclDataLength, configuration.aclDataCount) = (251, 10)
        configuration.maximumLinks = 9
        configuration.acceptListSize = 12
        configuration.resolvingListSize = 5
        configuration.leEventMaskAfterReset = []
    }

    private func describeMediaTek(_ configuration: inout SimulatedControllerConfiguration) {
        configuration.version = .core53
        configuration.manufacturer = CompanyIdentifier(rawValue: 0x0046)
        (configuration.hciRevision, configuration.subversion) = (0x0000, 0x2309)
        configuration.features = Self.features50.union(Self.trains)
        configuration.linkManagerFeatures = Self.dualMode
        (configuration.aclDataLength, configuration.aclDataCount) = (251, 12)
        configuration.acceptListSize = 32
        configuration.resolvingListSize = 32
        configuration.advertisingSets = 6
    }

    /// Its states: each alone, scanning with a link, initiating with a link as central (bluekitchen/btstack#28).
    private func describeTI(_ configuration: inout SimulatedControllerConfiguration) {
        configuration.version = .core41
        configuration.manufacturer = CompanyIdentifier(rawValue: 0x000D)
        (configuration.hciRevision, configuration.subversion) = (0x0000, 0x9A1A)
        configuration.features = [.encryption, .connectionParametersRequestProcedure, .extendedRejectIndication]
        configuration.linkManagerFeatures = Self.dualMode
        configuration.supportedStates = 0x0000_0000_3F00_00FF
        (configuration.aclDataLength, configuration.aclDataCount) = (1021, 4)
        configuration.sharesBuffers = true
        configuration.maximumDataLength = 27
        configuration.maximumLinks = 4
    }

    private func describeVMware(_ configuration: inout SimulatedControllerConfiguration) {
        configuration.version = .core40
        configuration.manufacturer = CompanyIdentifier(rawValue: 0x000F)
        (configuration.hciRevision, configuration.subversion) = (0x0100, 0x0100)
        configuration.features = .encryption
        configuration.linkManagerFeatures = Self.dualMode
        configuration.supportedStates = 0x0000_0000_1FFF_FFFF
        (configuration.aclDataLength, configuration.aclDataCount) = (1021, 32)
        (configuration.claimedDataLength, configuration.claimedDataCount) = (8192, 128)
        configuration.maximumDataLength = 27
        configuration.commandCredits = 255
        // google/bumble#605
        configuration.unservedCommands = [LESetRandomAddress.opcode]
    }

    // MARK: BR/EDR

    /// What a host of BR/EDR asks and orders at its start; the simulator has no BR/EDR beyond this.
    private static func classicAnswers(name: String) -> [SimulatedControllerConfiguration.FixedAnswer] {
        var localName = Array(name.utf8)
        localName += [UInt8](repeating: 0, count: 248 - localName.count)
        func baseband(_ command: UInt16, _ values: [UInt8] = []) -> SimulatedControllerConfiguration.FixedAnswer {
            .init(HCIOpcode(group: .controllerAndBaseband, command: command), returns: [0] + values)
        }
        return [
            // Write Default Link Policy Settings.
            .init(HCIOpcode(group: .linkPolicy, command: 0x00F)),
            // Read Local Extended Features: page 1, the last one, of a host that has written nothing yet.
            .init(
                HCIOpcode(group: .informationalParameters, command: 0x004),
                returns: [0, 1, 1] + [UInt8](repeating: 0, count: 8)),
            // Event filter, stored link keys, local name, accept timeout, page timeout.
            baseband(0x005), baseband(0x00D, [0, 0, 0, 0]), baseband(0x012, [0, 0]), baseband(0x013),
            baseband(0x014, localName), baseband(0x016), baseband(0x018),
            // Scan enable and activity, authentication, class of device, voice.
            baseband(0x019, [0]), baseband(0x01A), baseband(0x01B, [0x00, 0x08, 0x12, 0x00]), baseband(0x01C),
            baseband(0x020), baseband(0x023, [0, 0, 0]), baseband(0x024), baseband(0x025, [0x60, 0]), baseband(0x026),
            // Inquiry access codes, inquiry mode, page scan type, extended inquiry response.
            baseband(0x038, [2]), baseband(0x039, [1, 0x33, 0x8B, 0x9E]), baseband(0x03A), baseband(0x045),
            baseband(0x046, [0]), baseband(0x047), baseband(0x052),
            // Simple pairing, inquiry power, secure connections.
            baseband(0x055, [0]), baseband(0x056), baseband(0x058, [0]), baseband(0x07A),
        ]
    }
}
