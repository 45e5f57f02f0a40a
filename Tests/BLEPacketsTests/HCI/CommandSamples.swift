@testable import BLEPackets

/// One sample at least of every command, its parameters written from the specification.
let commandSamples: [CodecSample] = [
    .command(Disconnect(connectionHandle: .sample), "4100 13"),
    .command(ReadRemoteVersionInformation(connectionHandle: .sample), "4100"),
    .command(Reset(), ""),
    .command(SetEventMask(mask: .afterReset.union(.leMeta)), "ffffffffff1f0020"),
    .command(SetEventMaskPage2(mask: [.authenticatedPayloadTimeoutExpired, .encryptionChangeV2]), "0000800200000000"),
    .command(ReadTransmitPowerLevel(connectionHandle: .sample, kind: .maximum), "4100 01"),
    .command(SetControllerToHostFlowControl(mode: .aclOnly), "01"),
    .command(
        HostBufferSize(
            aclDataPacketLength: 1691, synchronousDataPacketLength: 255, totalACLDataPackets: 20,
            totalSynchronousDataPackets: 10), "9b06 ff 1400 0a00"),
    .command(
        HostNumberOfCompletedPackets(links: [
            CompletedPackets(connectionHandle: .sample, count: 2),
            CompletedPackets(connectionHandle: ConnectionHandle(rawValue: 0x0EFF), count: 0x0102),
        ]), "02 4100 0200 ff0e 0201"),
    .command(ReadLEHostSupport(), ""),
    .command(WriteLEHostSupport(isSupported: true), "01 00"),
    .command(ReadAuthenticatedPayloadTimeout(connectionHandle: .sample), "4100"),
    .command(WriteAuthenticatedPayloadTimeout(connectionHandle: .sample, timeout: 3000), "4100 b80b"),
    .command(ReadLocalVersionInformation(), ""),
    .command(ReadLocalSupportedCommands(), ""),
    .command(ReadLocalSupportedFeatures(), ""),
    .command(ReadBufferSize(), ""),
    .command(ReadBDADDR(), ""),
    .command(ReadRSSI(connectionHandle: .sample), "4100"),
    .command(
        LESetEventMask(mask: [.connectionComplete, .advertisingReport, .extendedAdvertisingReport]),
        "0310000000000000"),
    .command(LEReadBufferSize(), ""),
    .command(LEReadBufferSizeV2(), ""),
    .command(LEReadLocalSupportedFeatures(), ""),
    .command(LESetRandomAddress(address: .sampleRandom), "1122334455c6"),
    .command(
        LESetAdvertisingParameters(
            minimumInterval: .milliseconds(100), maximumInterval: .milliseconds(152.5), type: .scannableUndirected,
            ownAddressType: .random, peerAddress: .samplePublic, channels: [.channel37, .channel39],
            filterPolicy: .scanRequestsFromAcceptList), "a000 f400 02 01 00 112233445566 05 01"),
    .command(LEReadAdvertisingChannelTxPower(), ""),
    .command(
        LESetAdvertisingData(data: [0x02, 0x01, 0x06]),
        "03 020106" + "00000000000000000000000000000000000000000000000000000000"),
    .command(
        LESetScanResponseData(data: [0x03, 0x09, 0x41, 0x42]),
        "04 03094142" + "000000000000000000000000000000000000000000000000000000"),
    .command(LESetAdvertisingEnable(isEnabled: true), "01"),
    .command(
        LESetScanParameters(
            type: .active, interval: .milliseconds(60), window: .milliseconds(30), ownAddressType: .resolvableOrRandom,
            filterPolicy: .acceptListOnly), "01 6000 3000 03 01"),
    .command(LESetScanEnable(isEnabled: true, filtersDuplicates: false), "01 00"),
    .command(
        LECreateConnection(
            scanInterval: .milliseconds(60), scanWindow: .milliseconds(30), filterPolicy: .acceptList,
            peerAddress: .sampleRandom, ownAddressType: .random, parameters: .sample),
        "6000 3000 01 01 1122334455c6 01 1800 2800 0100 f401 0200 0300"),
    .command(LECreateConnectionCancel(), ""),
    .command(LEReadFilterAcceptListSize(), ""),
    .command(LEClearFilterAcceptList(), ""),
    .command(LEAddDeviceToFilterAcceptList(address: DeviceAddress.sampleRandom), "01 1122334455c6"),
    .command(LEAddDeviceToFilterAcceptList(address: ReportedAddress.anonymous), "ff 000000000000"),
    .command(LERemoveDeviceFromFilterAcceptList(address: DeviceAddress.samplePublic), "00 112233445566"),
    .command(
        LEConnectionUpdate(connectionHandle: .sample, parameters: .sample), "4100 1800 2800 0100 f401 0200 0300"),
    .command(LESetHostChannelClassification(channelMap: .all), "ffffffff1f"),
    .command(LEReadChannelMap(connectionHandle: .sample), "4100"),
    .command(LEReadRemoteFeatures(connectionHandle: .sample), "4100"),
    .command(
        LEEncrypt(key: .sample, plaintext: 0x1F1E_1D1C_1B1A_1918_1716_1514_1312_1110),
        Key128.sampleHex + "101112131415161718191a1b1c1d1e1f"),
    .command(LERand(), ""),
    .command(
        LEEnableEncryption(
            connectionHandle: .sample, randomNumber: 0x8877_6655_4433_2211, encryptedDiversifier: 0xAA99,
            longTermKey: .sample), "4100 1122334455667788 99aa" + Key128.sampleHex),
    .command(
        LELongTermKeyRequestReply(connectionHandle: .sample, longTermKey: .sample), "4100" + Key128.sampleHex),
    .command(LELongTermKeyRequestNegativeReply(connectionHandle: .sample), "4100"),
    .command(LEReadSupportedStates(), ""),
    .command(LEReceiverTest(channel: 39), "27"),
    .command(LEReceiverTestV2(channel: 1, phy: .leCoded, modulationIndex: 1), "01 03 01"),
    .command(LETransmitterTest(channel: 2, dataLength: 37, packetPayload: 7), "02 25 07"),
    .command(LETransmitterTestV2(channel: 2, dataLength: 37, packetPayload: 0, phy: 4), "02 25 00 04"),
    .command(LETestEnd(), ""),
    .command(
        LERemoteConnectionParameterRequestReply(connectionHandle: .sample, parameters: .sample),
        "4100 1800 2800 0100 f401 0200 0300"),
    .command(LERemoteConnectionParameterRequestNegativeReply(connectionHandle: .sample), "4100 3b"),
    .command(LESetDataLength(connectionHandle: .sample, transmitOctets: 251, transmitTime: 2120), "4100 fb00 4808"),
    .command(LEReadSuggestedDefaultDataLength(), ""),
    .command(
        LEWriteSuggestedDefaultDataLength(maximumTransmitOctets: 27, maximumTransmitTime: 328), "1b00 4801"),
    .command(LEReadLocalP256PublicKey(), ""),
    .command(
        LEGenerateDHKey(publicKey: P256PublicKey(octets: sampleOctets64) ?? .zero), hexadecimal(sampleOctets64)),
    .command(
        LEGenerateDHKeyV2(publicKey: P256PublicKey(octets: sampleOctets64) ?? .zero, usesDebugKey: true),
        hexadecimal(sampleOctets64) + "01"),
    .command(
        LEAddDeviceToResolvingList(
            peerIdentityAddress: .sampleRandom, peerIdentityResolvingKey: .sample, localIdentityResolvingKey: .zero),
        "01 1122334455c6" + Key128.sampleHex + "00000000000000000000000000000000"),
    .command(LERemoveDeviceFromResolvingList(peerIdentityAddress: .samplePublic), "00 112233445566"),
    .command(LEClearResolvingList(), ""),
    .command(LEReadResolvingListSize(), ""),
    .command(LEReadPeerResolvableAddress(peerIdentityAddress: .samplePublic), "00 112233445566"),
    .command(LEReadLocalResolvableAddress(peerIdentityAddress: .sampleRandom), "01 1122334455c6"),
    .command(LESetAddressResolutionEnable(isEnabled: true), "01"),
    .command(LESetResolvablePrivateAddressTimeout(timeout: 900), "8403"),
    .command(LEReadMaximumDataLength(), ""),
    .command(LEReadPHY(connectionHandle: .sample), "4100"),
    .command(LESetDefaultPHY(preferences: PHYPreferences(transmit: nil, receive: [.le1M, .le2M])), "01 00 03"),
    .command(
        LESetPHY(
            connectionHandle: .sample, preferences: PHYPreferences(transmit: .leCoded, receive: .le1M),
            options: .preferS8), "4100 00 04 01 0200"),
    .command(LESetAdvertisingSetRandomAddress(advertisingHandle: 3, address: .sampleRandom), "03 1122334455c6"),
    .command(
        LESetExtendedAdvertisingParameters(
            advertisingHandle: 1, properties: .legacyConnectableUndirected, minimumInterval: .milliseconds(250),
            maximumInterval: ExtendedAdvertisingInterval(rawValue: 0x010203), ownAddressType: .random,
            peerAddress: .samplePublic, filterPolicy: .acceptListOnly, transmitPower: -7, primaryPHY: .leCoded,
            secondaryMaximumSkip: 2, secondaryPHY: .le2M, advertisingSetIdentifier: 9, notifiesOfScanRequests: true),
        "01 1300 900100 030201 07 01 00 112233445566 03 f9 03 02 02 09 01"),
    .command(
        LESetExtendedAdvertisingParametersV2(
            advertisingHandle: 1, properties: [.connectable], primaryPHYOptions: 1, secondaryPHYOptions: 4),
        "01 0100 000800 000800 07 00 00 000000000000 00 7f 01 00 01 00 00 01 04"),
    .command(
        LESetExtendedAdvertisingData(advertisingHandle: 1, operation: .first, data: [1, 2, 3]), "01 01 01 03 010203"),
    .command(
        LESetExtendedScanResponseData(
            advertisingHandle: 1, operation: .complete, fragmentPreference: .mayFragment, data: []), "01 03 00 00"),
    .command(
        LESetExtendedAdvertisingEnable(
            isEnabled: true,
            sets: [
                LESetExtendedAdvertisingEnable.AdvertisingSet(advertisingHandle: 0),
                LESetExtendedAdvertisingEnable.AdvertisingSet(
                    advertisingHandle: 1, duration: 0x0102, maximumEvents: 3),
            ]), "01 02 00 0000 00 01 0201 03"),
    .command(LESetExtendedAdvertisingEnable(isEnabled: false), "00 00"),
    .command(LEReadMaximumAdvertisingDataLength(), ""),
    .command(LEReadNumberOfSupportedAdvertisingSets(), ""),
    .command(LERemoveAdvertisingSet(advertisingHandle: 1), "01"),
    .command(LEClearAdvertisingSets(), ""),
    .command(
        LESetPeriodicAdvertisingParameters(
            advertisingHandle: 1, minimumInterval: .milliseconds(100), maximumInterval: .milliseconds(200),
            properties: .includesTransmitPower), "01 5000 a000 4000"),
    .command(LESetPeriodicAdvertisingData(advertisingHandle: 1, data: [9, 8]), "01 03 02 0908"),
    .command(
        LESetPeriodicAdvertisingEnable(
            enable: [.enabled, .includesAdvertisingDataInformation], advertisingHandle: 1), "03 01"),
    .command(
        LESetExtendedScanParameters(
            ownAddressType: .random,
            le1M: LESetExtendedScanParameters.Parameters(
                type: .active, interval: .milliseconds(60), window: .milliseconds(30)),
            leCoded: LESetExtendedScanParameters.Parameters(
                interval: ScanInterval(rawValue: 0x0102), window: ScanInterval(rawValue: 0x0101))),
        "01 00 05 01 6000 3000 00 0201 0101"),
    .command(
        LESetExtendedScanParameters(
            filterPolicy: .acceptListOnly, scanningPHYs: PHYSet(rawValue: 0x15),
            parameters: (1...3).map { number in
                LESetExtendedScanParameters.Parameters(
                    interval: ScanInterval(rawValue: number), window: ScanInterval(rawValue: number))
            }), "00 01 15 00 0100 0100 00 0200 0200 00 0300 0300"),
    .command(
        LESetExtendedScanEnable(isEnabled: true, duplicateFilter: .resetEachPeriod, duration: 0x0102, period: 3),
        "01 02 0201 0300"),
    .command(
        LEExtendedCreateConnection(
            ownAddressType: .random, peerAddress: .sampleRandom,
            le1M: LEExtendedCreateConnection.Parameters(connection: .sample),
            le2M: LEExtendedCreateConnection.Parameters(
                scanInterval: ScanInterval(rawValue: 0), scanWindow: ScanInterval(rawValue: 0), connection: .sample)),
        "00 01 01 1122334455c6 03" + "6000 3000 1800 2800 0100 f401 0200 0300"
            + "0000 0000 1800 2800 0100 f401 0200 0300"),
    .command(
        LEPeriodicAdvertisingCreateSync(
            options: .filtersDuplicates, advertisingSetIdentifier: 5, advertiserAddress: .sampleRandom, skip: 2,
            synchronizationTimeout: .milliseconds(1000)), "04 05 01 1122334455c6 0200 6400 00"),
    .command(LEPeriodicAdvertisingCreateSyncCancel(), ""),
    .command(LEPeriodicAdvertisingTerminateSync(synchronizationHandle: .sample), "0700"),
    .command(
        LEAddDeviceToPeriodicAdvertiserList(advertiserAddress: .samplePublic, advertisingSetIdentifier: 4),
        "00 112233445566 04"),
    .command(
        LERemoveDeviceFromPeriodicAdvertiserList(advertiserAddress: .sampleRandom, advertisingSetIdentifier: 4),
        "01 1122334455c6 04"),
    .command(LEClearPeriodicAdvertiserList(), ""),
    .command(LEReadPeriodicAdvertiserListSize(), ""),
    .command(LEReadTransmitPower(), ""),
    .command(LEReadRFPathCompensation(), ""),
    .command(LEWriteRFPathCompensation(transmit: -1, receive: 256), "ffff 0001"),
    .command(LESetPrivacyMode(peerIdentityAddress: .samplePublic, mode: .device), "00 112233445566 01"),
    .command(
        LESetPeriodicAdvertisingReceiveEnable(synchronizationHandle: .sample, enable: .reports), "0700 01"),
    .command(
        LEPeriodicAdvertisingSyncTransfer(
            connectionHandle: .sample, serviceData: 0x0102, synchronizationHandle: .sample), "4100 0201 0700"),
    .command(
        LEPeriodicAdvertisingSetInfoTransfer(connectionHandle: .sample, serviceData: 0x0102, advertisingHandle: 3),
        "4100 0201 03"),
    .command(
        LESetPeriodicAdvertisingSyncTransferParameters(
            connectionHandle: .sample, mode: .followWithReports, skip: 1,
            synchronizationTimeout: .milliseconds(100)), "4100 02 0100 0a00 00"),
    .command(
        LESetDefaultPeriodicAdvertisingSyncTransferParameters(
            mode: .ignore, synchronizationTimeout: .milliseconds(100), cteType: 3), "00 0000 0a00 03"),
    .command(LEModifySleepClockAccuracy(action: 1), "01"),
    .command(LERequestPeerSCA(connectionHandle: .sample), "4100"),
    .command(LESetHostFeature(bitNumber: 38, isSupported: true), "26 01"),
    .command(LEEnhancedReadTransmitPowerLevel(connectionHandle: .sample, phy: 1), "4100 01"),
    .command(LEReadRemoteTransmitPowerLevel(connectionHandle: .sample, phy: 4), "4100 04"),
    .command(
        LESetPathLossReportingParameters(
            connectionHandle: .sample, highThreshold: 80, highHysteresis: 2, lowThreshold: 40, lowHysteresis: 3,
            minimumTimeSpent: 0x0102), "4100 50 02 28 03 0201"),
    .command(LESetPathLossReportingEnable(connectionHandle: .sample, isEnabled: true), "4100 01"),
    .command(
        LESetTransmitPowerReportingEnable(connectionHandle: .sample, reportsLocal: true, reportsRemote: false),
        "4100 01 00"),
    .command(
        LESetDataRelatedAddressChanges(advertisingHandle: 1, reasons: [.advertisingData, .scanResponseData]), "01 03"),
    .command(
        LESetDefaultSubrate(
            parameters: SubrateParameters(
                minimumFactor: 1, maximumFactor: 4, maximumLatency: 2, continuationNumber: 3,
                supervisionTimeout: .milliseconds(5000))), "0100 0400 0200 0300 f401"),
    .command(
        LESubrateRequest(
            connectionHandle: .sample,
            parameters: SubrateParameters(
                minimumFactor: 1, maximumFactor: 4, supervisionTimeout: .milliseconds(5000))),
        "4100 0100 0400 0000 0000 f401"),
    .command(LEReadAntennaInformation(), ""),
    .command(LEReceiverTestV3(channel: 12), "0c 01 00 00 00 01 00"),
    .command(
        LEReceiverTestV3(
            channel: 39, phy: .le2M, modulationIndex: 1, expectedCTELength: 20, expectedCTEType: 2, slotDurations: 2,
            antennas: [0, 1, 2]), "27 02 01 14 02 02 03 000102"),
    .command(
        LESetPeriodicAdvertisingSubeventData(
            advertisingHandle: 1,
            subevents: [
                .init(number: 0, firstResponseSlot: 2, responseSlotCount: 3, data: [0x03, 0xFF, 0x0F, 0x00]),
                .init(number: 127, firstResponseSlot: 0, responseSlotCount: 0, data: []),
            ]), "01 02" + "00 02 03 04 03ff0f00" + "7f 00 00 00"),
    .command(LESetPeriodicAdvertisingSubeventData(advertisingHandle: 0xEF, subevents: []), "ef 00"),
    .command(
        LESetPeriodicAdvertisingResponseData(
            synchronizationHandle: .sample, requestEvent: 0x0102, requestSubevent: 3, responseSubevent: 4,
            responseSlot: 5, data: [0x02, 0x0A, 0x08]), "0700 0201 03 04 05 03 020a08"),
    .command(
        LESetPeriodicSyncSubevent(
            synchronizationHandle: .sample, properties: .includesTransmitPower, subevents: [0, 9]),
        "0700 4000 02 0009"),
    .command(
        LESetPeriodicAdvertisingParametersV2(
            advertisingHandle: 1, minimumInterval: .milliseconds(500), maximumInterval: .milliseconds(600),
            properties: .includesTransmitPower, subeventCount: 5, subeventInterval: 48, responseSlotDelay: 5,
            responseSlotSpacing: 10, responseSlotCount: 20), "01 9001 e001 4000 05 30 05 0a 14"),
]
