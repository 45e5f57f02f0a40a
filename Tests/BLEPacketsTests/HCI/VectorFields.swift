@testable import BLEPackets

// The values of our types under the names that Bumble gives them.

extension VectorField {
    static func number(_ value: some BinaryInteger) -> VectorField { .integer(Int(value)) }
    static func flag(_ value: Bool) -> VectorField { .integer(value ? 1 : 0) }

    /// The bytes of a number, least significant first.
    static func bytes(_ value: some FixedWidthInteger & BitwiseCopyable) -> VectorField {
        var packet = PacketWriter()
        packet.write(value)
        return .text(hexadecimal(packet.bytes))
    }

    static func numbers(_ values: [some BinaryInteger]) -> VectorField { .list(values.map { .integer(Int($0)) }) }
    static func addressText(_ value: DeviceAddress?) -> VectorField {
        .address((value ?? DeviceAddress(value: 0, kind: .random)).addressText)
    }
    static func addressText(_ value: ReportedAddress) -> VectorField {
        .address(DeviceAddress(value: value.value, kind: .public).addressText)
    }
}

private func parameters(_ value: LEConnectionParameters) -> [String: VectorField] {
    [
        "connection_interval_min": .number(value.minimumInterval.rawValue),
        "connection_interval_max": .number(value.maximumInterval.rawValue),
        "interval_min": .number(value.minimumInterval.rawValue),
        "interval_max": .number(value.maximumInterval.rawValue),
        "max_latency": .number(value.latency),
        "supervision_timeout": .number(value.supervisionTimeout.rawValue),
        "timeout": .number(value.supervisionTimeout.rawValue),
        "min_ce_length": .number(value.minimumEventLength),
        "max_ce_length": .number(value.maximumEventLength),
    ]
}

private func peer(_ address: DeviceAddress) -> [String: VectorField] {
    [
        "peer_address_type": .number(address.kind.rawValue), "peer_address": .addressText(address),
        "peer_identity_address_type": .number(address.kind.rawValue), "peer_identity_address": .addressText(address),
    ]
}

private func handle(_ handle: ConnectionHandle) -> [String: VectorField] {
    ["connection_handle": .number(handle.rawValue), "handle": .number(handle.rawValue)]
}

extension [String: VectorField] {
    fileprivate func with(_ others: [String: VectorField]...) -> Self {
        var all = self
        for other in others { all.merge(other) { first, _ in first } }
        return all
    }
}

func vectorFields(of command: some HCICommand) -> [String: VectorField] {
    let opcode: [String: VectorField] = ["op_code": .number(type(of: command).opcode.rawValue)]
    return (setupFields(of: command) ?? linkFields(of: command) ?? advertisingFields(of: command) ?? [:]).with(opcode)
}

private func setupFields(of command: some HCICommand) -> [String: VectorField]? {
    switch command {
    case let command as SetEventMask: ["event_mask": .bytes(command.mask.rawValue)]
    case let command as SetEventMaskPage2: ["event_mask_page_2": .bytes(command.mask.rawValue)]
    case let command as HostBufferSize:
        [
            "host_acl_data_packet_length": .number(command.aclDataPacketLength),
            "host_synchronous_data_packet_length": .number(command.synchronousDataPacketLength),
            "host_total_num_acl_data_packets": .number(command.totalACLDataPackets),
            "host_total_num_synchronous_data_packets": .number(command.totalSynchronousDataPackets),
        ]
    case let command as WriteLEHostSupport:
        ["le_supported_host": .flag(command.isSupported), "simultaneous_le_host": .number(command.simultaneous)]
    case let command as LESetEventMask: ["le_event_mask": .bytes(command.mask.rawValue)]
    case let command as LESetRandomAddress: ["random_address": .addressText(command.address)]
    case let command as LESetScanParameters:
        [
            "le_scan_type": .number(command.type.rawValue), "le_scan_interval": .number(command.interval.rawValue),
            "le_scan_window": .number(command.window.rawValue),
            "own_address_type": .number(command.ownAddressType.rawValue),
            "scanning_filter_policy": .number(command.filterPolicy.rawValue),
        ]
    case let command as LESetScanEnable:
        ["le_scan_enable": .flag(command.isEnabled), "filter_duplicates": .flag(command.filtersDuplicates)]
    case let command as LESetExtendedScanParameters:
        [
            "own_address_type": .number(command.ownAddressType.rawValue),
            "scanning_filter_policy": .number(command.filterPolicy.rawValue),
            "scanning_phys": .number(command.scanningPHYs.rawValue),
            "scan_types": .numbers(command.parameters.map(\.type.rawValue)),
            "scan_intervals": .numbers(command.parameters.map(\.interval.rawValue)),
            "scan_windows": .numbers(command.parameters.map(\.window.rawValue)),
        ]
    case let command as LESetExtendedScanEnable:
        [
            "enable": .flag(command.isEnabled), "filter_duplicates": .number(command.duplicateFilter.rawValue),
            "duration": .number(command.duration), "period": .number(command.period),
        ]
    case let command as LEAddDeviceToFilterAcceptList:
        ["address_type": .number(command.address.kind.rawValue), "address": .addressText(command.address)]
    case let command as LERemoveDeviceFromFilterAcceptList:
        ["address_type": .number(command.address.kind.rawValue), "address": .addressText(command.address)]
    case let command as LEAddDeviceToResolvingList:
        peer(command.peerIdentityAddress).with([
            "peer_irk": .bytes(command.peerIdentityResolvingKey.rawValue),
            "local_irk": .bytes(command.localIdentityResolvingKey.rawValue),
        ])
    case let command as LERemoveDeviceFromResolvingList: peer(command.peerIdentityAddress)
    case let command as LEReadPeerResolvableAddress: peer(command.peerIdentityAddress)
    case let command as LEReadLocalResolvableAddress: peer(command.peerIdentityAddress)
    case let command as LESetAddressResolutionEnable: ["address_resolution_enable": .flag(command.isEnabled)]
    case let command as LESetResolvablePrivateAddressTimeout: ["rpa_timeout": .number(command.timeout)]
    case let command as LESetPrivacyMode:
        peer(command.peerIdentityAddress).with(["privacy_mode": .number(command.mode.rawValue)])
    case let command as LESetDefaultPHY:
        [
            "all_phys": .number(command.preferences.indifference.rawValue),
            "tx_phys": .number(command.preferences.transmitPHYs.rawValue),
            "rx_phys": .number(command.preferences.receivePHYs.rawValue),
        ]
    case let command as LEWriteSuggestedDefaultDataLength:
        [
            "suggested_max_tx_octets": .number(command.maximumTransmitOctets),
            "suggested_max_tx_time": .number(command.maximumTransmitTime),
        ]
    case let command as LESetHostFeature:
        ["bit_number": .number(command.bitNumber), "bit_value": .flag(command.isSupported)]
    case let command as LEEncrypt:
        ["key": .bytes(command.key.rawValue), "plaintext_data": .bytes(command.plaintext)]
    default: nil
    }
}

private func linkFields(of command: some HCICommand) -> [String: VectorField]? {
    switch command {
    case let command as Disconnect:
        handle(command.connectionHandle).with(["reason": .number(command.reason.rawValue)])
    case let command as ReadRemoteVersionInformation: handle(command.connectionHandle)
    case let command as ReadRSSI: handle(command.connectionHandle)
    case let command as ReadTransmitPowerLevel:
        handle(command.connectionHandle).with(["type": .number(command.kind.rawValue)])
    case let command as LEReadRemoteFeatures: handle(command.connectionHandle)
    case let command as LEReadChannelMap: handle(command.connectionHandle)
    case let command as LEReadPHY: handle(command.connectionHandle)
    case let command as LERequestPeerSCA: handle(command.connectionHandle)
    case let command as LECreateConnection:
        parameters(command.parameters).with(
            peer(command.peerAddress),
            [
                "le_scan_interval": .number(command.scanInterval.rawValue),
                "le_scan_window": .number(command.scanWindow.rawValue),
                "initiator_filter_policy": .number(command.filterPolicy.rawValue),
                "own_address_type": .number(command.ownAddressType.rawValue),
            ])
    case let command as LEExtendedCreateConnection:
        peer(command.peerAddress).with([
            "initiator_filter_policy": .number(command.filterPolicy.rawValue),
            "own_address_type": .number(command.ownAddressType.rawValue),
            "initiating_phys": .number(command.initiatingPHYs.rawValue),
            "scan_intervals": .numbers(command.parameters.map(\.scanInterval.rawValue)),
            "scan_windows": .numbers(command.parameters.map(\.scanWindow.rawValue)),
            "connection_interval_mins": .numbers(command.parameters.map(\.connection.minimumInterval.rawValue)),
            "connection_interval_maxs": .numbers(command.parameters.map(\.connection.maximumInterval.rawValue)),
            "max_latencies": .numbers(command.parameters.map(\.connection.latency)),
            "supervision_timeouts": .numbers(command.parameters.map(\.connection.supervisionTimeout.rawValue)),
            "min_ce_lengths": .numbers(command.parameters.map(\.connection.minimumEventLength)),
            "max_ce_lengths": .numbers(command.parameters.map(\.connection.maximumEventLength)),
        ])
    case let command as LEConnectionUpdate: parameters(command.parameters).with(handle(command.connectionHandle))
    case let command as LERemoteConnectionParameterRequestReply:
        parameters(command.parameters).with(handle(command.connectionHandle))
    case let command as LERemoteConnectionParameterRequestNegativeReply:
        handle(command.connectionHandle).with(["reason": .number(command.reason.rawValue)])
    case let command as LEEnableEncryption:
        handle(command.connectionHandle).with([
            "random_number": .bytes(command.randomNumber),
            "encrypted_diversifier": .number(command.encryptedDiversifier),
            "long_term_key": .bytes(command.longTermKey.rawValue),
        ])
    case let command as LELongTermKeyRequestReply:
        handle(command.connectionHandle).with(["long_term_key": .bytes(command.longTermKey.rawValue)])
    case let command as LELongTermKeyRequestNegativeReply: handle(command.connectionHandle)
    case let command as LESetDataLength:
        handle(command.connectionHandle).with([
            "tx_octets": .number(command.transmitOctets), "tx_time": .number(command.transmitTime),
        ])
    case let command as LESetPHY:
        handle(command.connectionHandle).with([
            "all_phys": .number(command.preferences.indifference.rawValue),
            "tx_phys": .number(command.preferences.transmitPHYs.rawValue),
            "rx_phys": .number(command.preferences.receivePHYs.rawValue),
            "phy_options": .number(command.options.rawValue),
        ])
    default: nil
    }
}

private func advertisingFields(of command: some HCICommand) -> [String: VectorField]? {
    switch command {
    case let command as LESetAdvertisingParameters:
        peer(command.peerAddress).with([
            "advertising_interval_min": .number(command.minimumInterval.rawValue),
            "advertising_interval_max": .number(command.maximumInterval.rawValue),
            "advertising_type": .number(command.type.rawValue),
            "own_address_type": .number(command.ownAddressType.rawValue),
            "advertising_channel_map": .number(command.channels.rawValue),
            "advertising_filter_policy": .number(command.filterPolicy.rawValue),
        ])
    case let command as LESetAdvertisingData: ["advertising_data": .text(hexadecimal(command.data))]
    case let command as LESetScanResponseData: ["scan_response_data": .text(hexadecimal(command.data))]
    case let command as LESetAdvertisingEnable: ["advertising_enable": .flag(command.isEnabled)]
    case let command as LESetAdvertisingSetRandomAddress:
        ["advertising_handle": .number(command.advertisingHandle), "random_address": .addressText(command.address)]
    case let command as LESetExtendedAdvertisingParameters:
        peer(command.peerAddress).with([
            "advertising_handle": .number(command.advertisingHandle),
            "advertising_event_properties": .number(command.properties.rawValue),
            "primary_advertising_interval_min": .number(command.minimumInterval.rawValue),
            "primary_advertising_interval_max": .number(command.maximumInterval.rawValue),
            "primary_advertising_channel_map": .number(command.channels.rawValue),
            "own_address_type": .number(command.ownAddressType.rawValue),
            "advertising_filter_policy": .number(command.filterPolicy.rawValue),
            // Bumble reads the power without its sign.
            "advertising_tx_power": .number(UInt8(bitPattern: command.transmitPower)),
            "primary_advertising_phy": .number(command.primaryPHY.rawValue),
            "secondary_advertising_max_skip": .number(command.secondaryMaximumSkip),
            "secondary_advertising_phy": .number(command.secondaryPHY.rawValue),
            "advertising_sid": .number(command.advertisingSetIdentifier),
            "scan_request_notification_enable": .flag(command.notifiesOfScanRequests),
        ])
    case let command as LESetExtendedAdvertisingData:
        [
            "advertising_handle": .number(command.advertisingHandle), "operation": .number(command.operation.rawValue),
            "fragment_preference": .number(command.fragmentPreference.rawValue),
            "advertising_data": .text(hexadecimal(command.data)),
        ]
    case let command as LESetExtendedScanResponseData:
        [
            "advertising_handle": .number(command.advertisingHandle), "operation": .number(command.operation.rawValue),
            "fragment_preference": .number(command.fragmentPreference.rawValue),
            "scan_response_data": .text(hexadecimal(command.data)),
        ]
    case let command as LESetExtendedAdvertisingEnable:
        [
            "enable": .flag(command.isEnabled),
            "advertising_handles": .numbers(command.sets.map(\.advertisingHandle)),
            "durations": .numbers(command.sets.map(\.duration)),
            "max_extended_advertising_events": .numbers(command.sets.map(\.maximumEvents)),
        ]
    case let command as LERemoveAdvertisingSet: ["advertising_handle": .number(command.advertisingHandle)]
    case let command as LESetPeriodicAdvertisingParameters:
        [
            "advertising_handle": .number(command.advertisingHandle),
            "periodic_advertising_interval_min": .number(command.minimumInterval.rawValue),
            "periodic_advertising_interval_max": .number(command.maximumInterval.rawValue),
            "periodic_advertising_properties": .number(command.properties.rawValue),
        ]
    case let command as LESetPeriodicAdvertisingData:
        [
            "advertising_handle": .number(command.advertisingHandle), "operation": .number(command.operation.rawValue),
            "advertising_data": .text(hexadecimal(command.data)),
        ]
    case let command as LESetPeriodicAdvertisingEnable:
        ["enable": .number(command.enable.rawValue), "advertising_handle": .number(command.advertisingHandle)]
    default: nil
    }
}

func vectorFields(of answer: some HCIReturnParameters) -> [String: VectorField] {
    switch answer {
    case let answer as ReadLocalVersionInformation.ReturnParameters:
        [
            "hci_version": .number(answer.hciVersion.rawValue), "hci_subversion": .number(answer.hciSubversion),
            "lmp_version": .number(answer.lmpVersion.rawValue),
            "company_identifier": .number(answer.manufacturer.rawValue),
            "lmp_subversion": .number(answer.lmpSubversion),
        ]
    case let answer as ReadLocalSupportedCommands.ReturnParameters:
        {
            var packet = PacketWriter()
            answer.commands.encode(into: &packet)
            return ["supported_commands": .text(hexadecimal(packet.bytes))]
        }()
    case let answer as ReadLocalSupportedFeatures.ReturnParameters: ["lmp_features": .bytes(answer.features)]
    case let answer as ReadBufferSize.ReturnParameters:
        [
            "hc_acl_data_packet_length": .number(answer.aclDataPacketLength),
            "hc_synchronous_data_packet_length": .number(answer.synchronousDataPacketLength),
            "hc_total_num_acl_data_packets": .number(answer.totalACLDataPackets),
            "hc_total_num_synchronous_data_packets": .number(answer.totalSynchronousDataPackets),
        ]
    case let answer as ReadBDADDR.ReturnParameters: ["bd_addr": .addressText(answer.address)]
    case let answer as ReadRSSI.ReturnParameters: handle(answer.connectionHandle).with(["rssi": .number(answer.rssi)])
    case let answer as LEReadBufferSize.ReturnParameters:
        [
            "le_acl_data_packet_length": .number(answer.aclDataPacketLength),
            "total_num_le_acl_data_packets": .number(answer.totalACLDataPackets),
        ]
    case let answer as LEReadBufferSizeV2.ReturnParameters:
        [
            "le_acl_data_packet_length": .number(answer.aclDataPacketLength),
            "total_num_le_acl_data_packets": .number(answer.totalACLDataPackets),
            "iso_data_packet_length": .number(answer.isoDataPacketLength),
            "total_num_iso_data_packets": .number(answer.totalISODataPackets),
        ]
    case let answer as LEReadLocalSupportedFeatures.ReturnParameters:
        ["le_features": .bytes(answer.features.rawValue)]
    case let answer as LEReadAdvertisingChannelTxPower.ReturnParameters:
        ["tx_power_level": .number(answer.transmitPower)]
    case let answer as LEReadFilterAcceptListSize.ReturnParameters: ["filter_accept_list_size": .number(answer.size)]
    case let answer as LEReadResolvingListSize.ReturnParameters: ["resolving_list_size": .number(answer.size)]
    case let answer as LERand.ReturnParameters: ["random_number": .bytes(answer.randomNumber)]
    case let answer as LEEncrypt.ReturnParameters: ["encrypted_data": .bytes(answer.ciphertext)]
    case let answer as LEReadSupportedStates.ReturnParameters: ["le_states": .bytes(answer.states)]
    case let answer as LESetDataLength.ReturnParameters: handle(answer.connectionHandle)
    case let answer as LELongTermKeyRequestReply.ReturnParameters: handle(answer.connectionHandle)
    case let answer as LELongTermKeyRequestNegativeReply.ReturnParameters: handle(answer.connectionHandle)
    case let answer as LEReadSuggestedDefaultDataLength.ReturnParameters:
        [
            "suggested_max_tx_octets": .number(answer.maximumTransmitOctets),
            "suggested_max_tx_time": .number(answer.maximumTransmitTime),
        ]
    case let answer as LEReadMaximumDataLength.ReturnParameters:
        [
            "supported_max_tx_octets": .number(answer.maximumTransmitOctets),
            "supported_max_tx_time": .number(answer.maximumTransmitTime),
            "supported_max_rx_octets": .number(answer.maximumReceiveOctets),
            "supported_max_rx_time": .number(answer.maximumReceiveTime),
        ]
    case let answer as LEReadPHY.ReturnParameters:
        handle(answer.connectionHandle).with([
            "tx_phy": .number(answer.transmitPHY.rawValue), "rx_phy": .number(answer.receivePHY.rawValue),
        ])
    case let answer as LESetExtendedAdvertisingParameters.ReturnParameters:
        ["selected_tx_power": .number(answer.selectedTransmitPower)]
    case let answer as LEReadMaximumAdvertisingDataLength.ReturnParameters:
        ["max_advertising_data_length": .number(answer.length)]
    case let answer as LEReadNumberOfSupportedAdvertisingSets.ReturnParameters:
        ["num_supported_advertising_sets": .number(answer.count)]
    case let answer as LEReadTransmitPower.ReturnParameters:
        ["min_tx_power": .number(answer.minimum), "max_tx_power": .number(answer.maximum)]
    default: [:]
    }
}

extension HCIEventPacket {
    /// Empty for what is kept as bytes.
    var vectorFields: [String: VectorField] {
        switch self {
        case .commandComplete(let event):
            [
                "num_hci_command_packets": .number(event.commandCredits),
                "command_opcode": .number(event.opcode.rawValue),
            ]
        case .commandStatus(let event):
            [
                "status": .number(event.status.rawValue), "num_hci_command_packets": .number(event.commandCredits),
                "command_opcode": .number(event.opcode.rawValue),
            ]
        case .disconnectionComplete(let event):
            handle(event.connectionHandle).with([
                "status": .number(event.status.rawValue), "reason": .number(event.reason.rawValue),
            ])
        case .encryptionChange(let event):
            handle(event.connectionHandle).with([
                "status": .number(event.status.rawValue), "encryption_enabled": .number(event.state.rawValue),
            ])
        case .encryptionChangeV2(let event):
            handle(event.connectionHandle).with([
                "status": .number(event.status.rawValue), "encryption_enabled": .number(event.state.rawValue),
                "encryption_key_size": .number(event.keySize),
            ])
        case .encryptionKeyRefreshComplete(let event):
            handle(event.connectionHandle).with(["status": .number(event.status.rawValue)])
        case .readRemoteVersionInformationComplete(let event):
            handle(event.connectionHandle).with([
                "status": .number(event.status.rawValue), "version": .number(event.version.rawValue),
                "manufacturer_name": .number(event.manufacturer.rawValue), "subversion": .number(event.subversion),
            ])
        case .hardwareError(let event): ["hardware_code": .number(event.hardwareCode)]
        case .numberOfCompletedPackets(let event):
            [
                "connection_handles": .numbers(event.links.map(\.connectionHandle.rawValue)),
                "num_completed_packets": .numbers(event.links.map(\.count)),
            ]
        case .other(let code, let bytes):
            code == .vendorSpecific ? ["data": .text(hexadecimal(bytes))] : [:]
        default: linkEventFields ?? advertisingEventFields ?? [:]
        }
    }

    private var linkEventFields: [String: VectorField]? {
        switch self {
        case .leConnectionComplete(let event):
            handle(event.connectionHandle).with(
                peer(event.peerAddress),
                [
                    "status": .number(event.status.rawValue), "role": .number(event.role.rawValue),
                    "connection_interval": .number(event.interval.rawValue),
                    "peripheral_latency": .number(event.latency),
                    "supervision_timeout": .number(event.supervisionTimeout.rawValue),
                    "central_clock_accuracy": .number(event.centralClockAccuracy.rawValue),
                ])
        case .leEnhancedConnectionComplete(let event):
            handle(event.connectionHandle).with(
                peer(event.peerAddress),
                [
                    "status": .number(event.status.rawValue), "role": .number(event.role.rawValue),
                    "local_resolvable_private_address": .addressText(event.localResolvableAddress),
                    "peer_resolvable_private_address": .addressText(event.peerResolvableAddress),
                    "connection_interval": .number(event.interval.rawValue),
                    "peripheral_latency": .number(event.latency),
                    "supervision_timeout": .number(event.supervisionTimeout.rawValue),
                    "central_clock_accuracy": .number(event.centralClockAccuracy.rawValue),
                ])
        case .leConnectionUpdateComplete(let event):
            handle(event.connectionHandle).with([
                "status": .number(event.status.rawValue), "connection_interval": .number(event.interval.rawValue),
                "peripheral_latency": .number(event.latency),
                "supervision_timeout": .number(event.supervisionTimeout.rawValue),
            ])
        case .leReadRemoteFeaturesComplete(let event):
            handle(event.connectionHandle).with([
                "status": .number(event.status.rawValue), "le_features": .bytes(event.features.rawValue),
            ])
        case .leLongTermKeyRequest(let event):
            handle(event.connectionHandle).with([
                "random_number": .bytes(event.randomNumber),
                "encryption_diversifier": .number(event.encryptedDiversifier),
            ])
        case .leRemoteConnectionParameterRequest(let event):
            handle(event.connectionHandle).with([
                "interval_min": .number(event.minimumInterval.rawValue),
                "interval_max": .number(event.maximumInterval.rawValue), "max_latency": .number(event.latency),
                "timeout": .number(event.supervisionTimeout.rawValue),
            ])
        case .leDataLengthChange(let event):
            handle(event.connectionHandle).with([
                "max_tx_octets": .number(event.maximumTransmitOctets),
                "max_tx_time": .number(event.maximumTransmitTime),
                "max_rx_octets": .number(event.maximumReceiveOctets),
                "max_rx_time": .number(event.maximumReceiveTime),
            ])
        case .lePHYUpdateComplete(let event):
            handle(event.connectionHandle).with([
                "status": .number(event.status.rawValue), "tx_phy": .number(event.transmitPHY.rawValue),
                "rx_phy": .number(event.receivePHY.rawValue),
            ])
        case .leChannelSelectionAlgorithm(let event):
            handle(event.connectionHandle).with(["channel_selection_algorithm": .number(event.algorithm.rawValue)])
        default: nil
        }
    }

    private var advertisingEventFields: [String: VectorField]? {
        switch self {
        case .leAdvertisingReport(let event):
            [
                "reports": .list(
                    event.reports.map { report in
                        .record([
                            "event_type": .number(report.eventType.rawValue),
                            "address_type": .number(report.address.kind.rawValue),
                            "address": .addressText(report.address), "data": .text(hexadecimal(report.data)),
                            "rssi": .number(report.rssi),
                        ])
                    })
            ]
        case .leExtendedAdvertisingReport(let event):
            [
                "reports": .list(
                    event.reports.map { report in
                        .record([
                            "event_type": .number(report.eventType.rawValue),
                            "address_type": .number(report.reportedAddress.kind.rawValue),
                            "address": .addressText(report.reportedAddress),
                            "primary_phy": .number(report.primaryPHY.rawValue),
                            "secondary_phy": .number(report.secondaryPHY?.rawValue ?? 0),
                            "advertising_sid": .number(report.advertisingSetIdentifier),
                            "tx_power": .number(report.transmitPower), "rssi": .number(report.rssi),
                            "periodic_advertising_interval": .number(report.periodicAdvertisingInterval.rawValue),
                            "direct_address_type": .number(report.directAddress.kind.rawValue),
                            "direct_address": .addressText(report.directAddress),
                            "data": .text(hexadecimal(report.data)),
                        ])
                    })
            ]
        case .leAdvertisingSetTerminated(let event):
            handle(event.connectionHandle).with([
                "status": .number(event.status.rawValue), "advertising_handle": .number(event.advertisingHandle),
                "num_completed_extended_advertising_events": .number(event.completedExtendedAdvertisingEvents),
            ])
        default: nil
        }
    }
}
