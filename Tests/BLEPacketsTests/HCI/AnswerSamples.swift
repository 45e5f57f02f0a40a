@testable import BLEPackets

private func commands(_ positions: [(octet: Int, bit: Int)]) -> SupportedCommands {
    var commands = SupportedCommands()
    for position in positions { commands.insert(octet: position.octet, bit: position.bit) }
    return commands
}

/// A sample of the return parameters of every command that has more than a status.
let answerSamples: [CodecSample] = [
    .answer(CommandStatusOnly(status: .commandDisallowed), "0c"),
    .answer(
        ReadLocalVersionInformation.ReturnParameters(
            hciVersion: .core54, hciSubversion: 0x0102, lmpVersion: .core53,
            manufacturer: CompanyIdentifier(rawValue: 0x000F), lmpSubversion: 0x0304), "00 0d 0201 0c 0f00 0403"),
    .answer(
        ReadLocalSupportedCommands.ReturnParameters(commands: commands([(0, 5), (63, 7), (8, 0)])),
        "00 20 00000000000000 01" + String(repeating: "00", count: 54) + "80"),
    .answer(ReadLocalSupportedFeatures.ReturnParameters(features: 0x60_0000_0000), "00 0000000060000000"),
    .answer(
        ReadBufferSize.ReturnParameters(
            aclDataPacketLength: 1021, synchronousDataPacketLength: 64, totalACLDataPackets: 8,
            totalSynchronousDataPackets: 1), "00 fd03 40 0800 0100"),
    .answer(ReadBDADDR.ReturnParameters(address: .samplePublic), "00 112233445566"),
    .answer(ReadRSSI.ReturnParameters(connectionHandle: .sample, rssi: -69), "00 4100 bb"),
    .answer(ReadTransmitPowerLevel.ReturnParameters(connectionHandle: .sample, transmitPower: -4), "00 4100 fc"),
    .answer(ReadLEHostSupport.ReturnParameters(isSupported: true), "00 01 00"),
    .answer(
        ReadAuthenticatedPayloadTimeout.ReturnParameters(connectionHandle: .sample, timeout: 3000), "00 4100 b80b"),
    .answer(WriteAuthenticatedPayloadTimeout.ReturnParameters(connectionHandle: .sample), "00 4100"),
    .answer(
        LEReadBufferSize.ReturnParameters(aclDataPacketLength: 1234, totalACLDataPackets: 56), "00 d204 38"),
    .answer(
        LEReadBufferSizeV2.ReturnParameters(
            aclDataPacketLength: 251, totalACLDataPackets: 15, isoDataPacketLength: 960, totalISODataPackets: 24),
        "00 fb00 0f c003 18"),
    .answer(
        LEReadLocalSupportedFeatures.ReturnParameters(
            features: [.encryption, .dataPacketLengthExtension, .le2MPHY, .extendedAdvertising]),
        "00 2111000000000000"),
    .answer(LEReadAdvertisingChannelTxPower.ReturnParameters(transmitPower: -20), "00 ec"),
    .answer(LEReadFilterAcceptListSize.ReturnParameters(size: 25), "00 19"),
    .answer(LEReadChannelMap.ReturnParameters(connectionHandle: .sample, channelMap: .all), "00 4100 ffffffff1f"),
    .answer(
        LEEncrypt.ReturnParameters(ciphertext: 0x1F1E_1D1C_1B1A_1918_1716_1514_1312_1110),
        "00 101112131415161718191a1b1c1d1e1f"),
    .answer(LERand.ReturnParameters(randomNumber: 0x8877_6655_4433_2211), "00 1122334455667788"),
    .answer(LELongTermKeyRequestReply.ReturnParameters(connectionHandle: .sample), "00 4100"),
    .answer(LELongTermKeyRequestNegativeReply.ReturnParameters(connectionHandle: .sample), "00 4100"),
    .answer(LEReadSupportedStates.ReturnParameters(states: 0x03FF_FFFF_FFFF), "00 ffffffffff030000"),
    .answer(LETestEnd.ReturnParameters(receivedPackets: 1500), "00 dc05"),
    .answer(LERemoteConnectionParameterRequestReply.ReturnParameters(connectionHandle: .sample), "00 4100"),
    .answer(
        LERemoteConnectionParameterRequestNegativeReply.ReturnParameters(connectionHandle: .sample), "00 4100"),
    .answer(LESetDataLength.ReturnParameters(connectionHandle: .sample), "00 4100"),
    .answer(
        LEReadSuggestedDefaultDataLength.ReturnParameters(maximumTransmitOctets: 27, maximumTransmitTime: 328),
        "00 1b00 4801"),
    .answer(
        LEReadMaximumDataLength.ReturnParameters(
            maximumTransmitOctets: 251, maximumTransmitTime: 17040, maximumReceiveOctets: 27,
            maximumReceiveTime: 328), "00 fb00 9042 1b00 4801"),
    .answer(LEReadResolvingListSize.ReturnParameters(size: 128), "00 80"),
    .answer(LEReadPeerResolvableAddress.ReturnParameters(address: .sampleRandom), "00 1122334455c6"),
    .answer(LEReadLocalResolvableAddress.ReturnParameters(address: .sampleRandom), "00 1122334455c6"),
    .answer(
        LEReadPHY.ReturnParameters(connectionHandle: .sample, transmitPHY: .le2M, receivePHY: .leCoded),
        "00 4100 02 03"),
    .answer(LESetExtendedAdvertisingParameters.ReturnParameters(selectedTransmitPower: -7), "00 f9"),
    .answer(LESetExtendedAdvertisingParametersV2.ReturnParameters(selectedTransmitPower: 8), "00 08"),
    .answer(LEReadMaximumAdvertisingDataLength.ReturnParameters(length: 1650), "00 7206"),
    .answer(LEReadNumberOfSupportedAdvertisingSets.ReturnParameters(count: 16), "00 10"),
    .answer(LEReadPeriodicAdvertiserListSize.ReturnParameters(size: 6), "00 06"),
    .answer(LEReadTransmitPower.ReturnParameters(minimum: -20, maximum: 20), "00 ec 14"),
    .answer(LEReadRFPathCompensation.ReturnParameters(transmit: -2, receive: 3), "00 feff 0300"),
    .answer(LEPeriodicAdvertisingSyncTransfer.ReturnParameters(connectionHandle: .sample), "00 4100"),
    .answer(LEPeriodicAdvertisingSetInfoTransfer.ReturnParameters(connectionHandle: .sample), "00 4100"),
    .answer(LESetPeriodicAdvertisingSyncTransferParameters.ReturnParameters(connectionHandle: .sample), "00 4100"),
    .answer(
        LEEnhancedReadTransmitPowerLevel.ReturnParameters(
            connectionHandle: .sample, phy: 1, current: -4, maximum: 8), "00 4100 01 fc 08"),
    .answer(LESetPathLossReportingParameters.ReturnParameters(connectionHandle: .sample), "00 4100"),
    .answer(LESetPathLossReportingEnable.ReturnParameters(connectionHandle: .sample), "00 4100"),
    .answer(LESetTransmitPowerReportingEnable.ReturnParameters(connectionHandle: .sample), "00 4100"),
    .answer(
        LEReadAntennaInformation.ReturnParameters(
            rates: 0x07, antennaCount: 4, maximumPatternLength: 75, maximumCTELength: 20), "00 07 04 4b 14"),
    .answer(LESetPeriodicAdvertisingSubeventData.ReturnParameters(advertisingHandle: 1), "00 01"),
    .answer(LESetPeriodicAdvertisingResponseData.ReturnParameters(synchronizationHandle: .sample), "00 0700"),
    .answer(LESetPeriodicSyncSubevent.ReturnParameters(synchronizationHandle: .sample), "00 0700"),
    .answer(LESetPeriodicAdvertisingParametersV2.ReturnParameters(advertisingHandle: 1), "00 01"),
]
