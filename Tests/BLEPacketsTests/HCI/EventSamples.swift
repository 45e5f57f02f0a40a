@testable import BLEPackets

/// A sample at least of every event, its parameters written from the specification.
let eventSamples: [CodecSample] = [
    .event(DisconnectionComplete(connectionHandle: .sample, reason: .connectionTimeout), "00 4100 08"),
    .event(EncryptionChange(connectionHandle: .sample, state: .on), "00 4100 01"),
    .event(EncryptionChangeV2(connectionHandle: .sample, state: .on, keySize: 16), "00 4100 01 10"),
    .event(EncryptionKeyRefreshComplete(status: .pinOrKeyMissing, connectionHandle: .sample), "06 4100"),
    .event(
        ReadRemoteVersionInformationComplete(
            connectionHandle: .sample, version: .core52, manufacturer: CompanyIdentifier(rawValue: 76),
            subversion: 0x0102), "00 4100 0b 4c00 0201"),
    .event(
        CommandComplete(commandCredits: 3, opcode: Reset.opcode, returnParameters: [0]), "03 030c 00",
        prefixesFail: false),
    .event(CommandStatus(status: .commandDisallowed, opcode: LECreateConnection.opcode), "0c 01 0d20"),
    .event(HardwareError(hardwareCode: 7), "07"),
    .event(
        NumberOfCompletedPackets(links: [
            CompletedPackets(connectionHandle: .sample, count: 2),
            CompletedPackets(connectionHandle: ConnectionHandle(rawValue: 0x0042), count: 1),
        ]), "02 4100 0200 4200 0100"),
    .event(NumberOfCompletedPackets(links: []), "00"),
    .event(DataBufferOverflow(linkType: 1), "01"),
    .event(AuthenticatedPayloadTimeoutExpired(connectionHandle: .sample), "4100"),
    .event(
        LEConnectionComplete(
            connectionHandle: .sample, role: .peripheral, peerAddress: .sampleRandom,
            interval: .milliseconds(30), latency: 2, supervisionTimeout: .milliseconds(5000),
            centralClockAccuracy: ClockAccuracy(rawValue: 5)), "00 4100 01 01 1122334455c6 1800 0200 f401 05"),
    .event(
        LEConnectionUpdateComplete(
            connectionHandle: .sample, interval: .milliseconds(30), latency: 2,
            supervisionTimeout: .milliseconds(5000)), "00 4100 1800 0200 f401"),
    .event(
        LEReadRemoteFeaturesComplete(connectionHandle: .sample, features: [.encryption, .ping]),
        "00 4100 1100000000000000"),
    .event(
        LELongTermKeyRequest(
            connectionHandle: .sample, randomNumber: 0x8877_6655_4433_2211, encryptedDiversifier: 0xAA99),
        "4100 1122334455667788 99aa"),
    .event(
        LERemoteConnectionParameterRequest(
            connectionHandle: .sample, minimumInterval: .milliseconds(30), maximumInterval: .milliseconds(50),
            latency: 1, supervisionTimeout: .milliseconds(5000)), "4100 1800 2800 0100 f401"),
    .event(
        LEDataLengthChange(
            connectionHandle: .sample, maximumTransmitOctets: 251, maximumTransmitTime: 2120,
            maximumReceiveOctets: 27, maximumReceiveTime: 328), "4100 fb00 4808 1b00 4801"),
    .event(
        LEReadLocalP256PublicKeyComplete(publicKey: P256PublicKey(octets: sampleOctets64) ?? .zero),
        "00" + hexadecimal(sampleOctets64)),
    .event(
        LEGenerateDHKeyComplete(key: DHKey(octets: Array(sampleOctets64.prefix(32))) ?? .zero),
        "00" + hexadecimal(sampleOctets64.prefix(32))),
    .event(
        LEEnhancedConnectionComplete(
            connectionHandle: .sample, role: .central,
            peerAddress: DeviceAddress(value: 0x6655_4433_2211, kind: .publicIdentity),
            peerResolvableAddress: DeviceAddress(value: 0x4655_4433_2211, kind: .random),
            interval: .milliseconds(30), latency: 2, supervisionTimeout: .milliseconds(5000)),
        "00 4100 00 02 112233445566 000000000000 112233445546 1800 0200 f401 00"),
    .event(
        LEEnhancedConnectionCompleteV2(
            connectionHandle: .sample, role: .peripheral, peerAddress: .samplePublic,
            localResolvableAddress: DeviceAddress(value: 0x4655_4433_2211, kind: .random),
            interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000), advertisingHandle: 2),
        "00 4100 01 00 112233445566 112233445546 000000000000 1800 0000 f401 00 02 ffff"),
    .event(
        LEDirectedAdvertisingReport(reports: [
            LEDirectedAdvertisingReport.Report(
                address: .sampleRandom, directAddress: ReportedAddress(kind: .unresolved, value: 0x4655_4433_2211),
                rssi: -50)
        ]), "01 01 01 1122334455c6 fe 112233445546 ce"),
    .event(LEPHYUpdateComplete(connectionHandle: .sample, transmitPHY: .le2M, receivePHY: .le1M), "00 4100 02 01"),
    .event(
        LEAdvertisingReport(reports: [
            LEAdvertisingReport.Report(
                eventType: .connectableUndirected, address: .samplePublic, data: [2, 1, 6], rssi: -55),
            LEAdvertisingReport.Report(eventType: .scanResponse, address: .sampleRandom, data: [], rssi: 127),
        ]), "02 00 00 112233445566 03 020106 c9 04 01 1122334455c6 00 7f"),
    .event(
        LEExtendedAdvertisingReport(reports: [
            LEExtendedAdvertisingReport.Report(
                eventType: [.connectable, .scannable, .legacy], address: .sampleRandom, rssi: -55, data: [2, 1, 6]),
            LEExtendedAdvertisingReport.Report(
                eventType: .incompleteMoreToCome, address: nil, primaryPHY: .leCoded, secondaryPHY: .le2M,
                advertisingSetIdentifier: 5, transmitPower: -7, rssi: -90,
                periodicAdvertisingInterval: .milliseconds(100),
                directAddress: ReportedAddress(kind: .unresolved, value: 0x4655_4433_2211), data: [9]),
        ]),
        "02 1300 01 1122334455c6 01 00 ff 7f c9 0000 00 000000000000 03 020106"
            + "2000 ff 000000000000 03 02 05 f9 a6 5000 fe 112233445546 01 09"),
    .event(
        LEPeriodicAdvertisingSyncEstablished(
            synchronizationHandle: .sample, advertisingSetIdentifier: 5, advertiserAddress: .sampleRandom,
            advertiserPHY: .leCoded, interval: .milliseconds(100), advertiserClockAccuracy: ClockAccuracy(rawValue: 1)),
        "00 0700 05 01 1122334455c6 03 5000 01"),
    .event(
        LEPeriodicAdvertisingReport(
            synchronizationHandle: .sample, transmitPower: -4, rssi: -60, dataStatus: .incompleteMoreToCome,
            data: [1, 2]), "0700 fc c4 ff 01 02 0102"),
    .event(LEPeriodicAdvertisingSyncLost(synchronizationHandle: .sample), "0700"),
    .event(LEScanTimeout(), ""),
    .event(
        LEAdvertisingSetTerminated(
            status: .advertisingTimeout, advertisingHandle: 1, connectionHandle: ConnectionHandle(rawValue: 0),
            completedExtendedAdvertisingEvents: 9), "3c 01 0000 09"),
    .event(LEScanRequestReceived(advertisingHandle: 1, scannerAddress: .sampleRandom), "01 01 1122334455c6"),
    .event(LEChannelSelectionAlgorithm(connectionHandle: .sample, algorithm: .algorithm2), "4100 01"),
    .event(
        LEPeriodicAdvertisingSyncTransferReceived(
            connectionHandle: .sample, serviceData: 0x0102, synchronizationHandle: .sample,
            advertisingSetIdentifier: 5, advertiserAddress: .sampleRandom, advertiserPHY: .le1M,
            interval: .milliseconds(100), advertiserClockAccuracy: ClockAccuracy(rawValue: 7)),
        "00 4100 0201 0700 05 01 1122334455c6 01 5000 07"),
    .event(
        LERequestPeerSCAComplete(connectionHandle: .sample, peerClockAccuracy: ClockAccuracy(rawValue: 5)),
        "00 4100 05"),
    .event(LEPathLossThreshold(connectionHandle: .sample, currentPathLoss: 60, zoneEntered: 2), "4100 3c 02"),
    .event(
        LETransmitPowerReporting(
            connectionHandle: .sample, reason: 1, phy: 2, transmitPower: -4, limits: 1, delta: -2),
        "00 4100 01 02 fc 01 fe"),
    .event(
        LESubrateChange(
            connectionHandle: .sample, subrateFactor: 4, latency: 1, continuationNumber: 2,
            supervisionTimeout: .milliseconds(5000)), "00 4100 0400 0100 0200 f401"),
    .event(
        LEPeriodicAdvertisingSyncEstablishedV2(
            status: .success, synchronizationHandle: .sample, advertisingSetIdentifier: 5,
            advertiserAddress: .sampleRandom,
            advertiserPHY: .le2M, interval: .milliseconds(100), advertiserClockAccuracy: ClockAccuracy(rawValue: 1),
            subeventCount: 5, subeventInterval: 16, responseSlotDelay: 8, responseSlotSpacing: 10),
        "00 0700 05 01 1122334455c6 02 5000 01 05 10 08 0a"),
    .event(
        LEPeriodicAdvertisingReportV2(
            synchronizationHandle: .sample, transmitPower: -4, rssi: -60, eventCounter: 0x0102, subeventNumber: 3,
            data: [1, 2]), "0700 fc c4 ff 0201 03 00 02 0102"),
    .event(
        LEPeriodicAdvertisingSyncTransferReceivedV2(
            status: .success, connectionHandle: .sample, serviceData: 0x0102, synchronizationHandle: .sample,
            advertisingSetIdentifier: 5, advertiserAddress: .sampleRandom, advertiserPHY: .le1M,
            interval: .milliseconds(100), advertiserClockAccuracy: ClockAccuracy(rawValue: 7), subeventCount: 128,
            subeventInterval: 6, responseSlotDelay: 1, responseSlotSpacing: 2),
        "00 4100 0201 0700 05 01 1122334455c6 01 5000 07 80 06 01 02"),
    .event(
        LEPeriodicAdvertisingSubeventDataRequest(advertisingHandle: 1, firstSubevent: 127, subeventCount: 2),
        "01 7f 02"),
    .event(
        LEPeriodicAdvertisingResponseReport(
            advertisingHandle: 1, subeventNumber: 3, transmitStatus: 0,
            responses: [
                .init(transmitPower: 4, rssi: -50, slot: 0, data: [3, 0xFF, 0x0F, 0]),
                .init(slot: 1, dataStatus: AdvertisingDataStatus(rawValue: 0xFF), data: []),
            ]), "01 03 00 02" + "04 ce ff 00 00 04 03ff0f00" + "7f 7f ff 01 ff 00"),
]
