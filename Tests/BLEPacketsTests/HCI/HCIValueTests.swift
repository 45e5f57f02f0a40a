import Testing

@testable import BLEPackets

@Suite("HCI values")
struct HCIValueTests {
    @Test("units convert from and to milliseconds")
    func units() {
        #expect(ConnectionInterval.milliseconds(7.5) == .least)
        #expect(ConnectionInterval.milliseconds(4000) == .greatest)
        #expect(ConnectionInterval(rawValue: 24).milliseconds == 30)
        #expect(ConnectionInterval(rawValue: 24).microseconds == 30_000)
        #expect(SupervisionTimeout.milliseconds(100) == .least)
        #expect(SupervisionTimeout(rawValue: 72).milliseconds == 720)
        #expect(ScanInterval.milliseconds(2.5).rawValue == 4)
        #expect(AdvertisingInterval.milliseconds(20) == .least)
        #expect(AdvertisingInterval.milliseconds(10_240) == .greatest)
        #expect(AdvertisingInterval.milliseconds(152.5).rawValue == 244)
        #expect(ExtendedAdvertisingInterval(.least).milliseconds == 20)
        #expect(PeriodicAdvertisingInterval.milliseconds(100).rawValue == 80)
        #expect(ConnectionInterval.least < .greatest)
    }

    @Test(
        "a time out of range becomes the nearest limit and never traps",
        arguments: [-1, -Double.infinity, .nan, .infinity, 1e300, -1e300, .leastNonzeroMagnitude])
    func unitsOutside(milliseconds: Double) {
        let expected: UInt16 = milliseconds > 1 ? 65535 : 0
        #expect(ConnectionInterval.milliseconds(milliseconds).rawValue == expected)
        #expect(SupervisionTimeout.milliseconds(milliseconds).rawValue == expected)
        #expect(
            ExtendedAdvertisingInterval.milliseconds(milliseconds).rawValue == (milliseconds > 1 ? 0xFF_FFFF : 0))
    }

    @Test("a command's bit is where the specification puts it")
    func supportedCommands() {
        let places: [(HCIOpcode, Int, Int)] = [
            (Disconnect.opcode, 0, 5), (ReadRemoteVersionInformation.opcode, 2, 7), (SetEventMask.opcode, 5, 6),
            (Reset.opcode, 5, 7), (ReadBDADDR.opcode, 15, 1), (ReadRSSI.opcode, 15, 5),
            (SetEventMaskPage2.opcode, 22, 2), (WriteLEHostSupport.opcode, 24, 6), (LESetEventMask.opcode, 25, 0),
            (LESetRandomAddress.opcode, 25, 4), (LESetScanEnable.opcode, 26, 3), (LECreateConnection.opcode, 26, 4),
            (LEConnectionUpdate.opcode, 27, 2), (LEEnableEncryption.opcode, 28, 0), (LETestEnd.opcode, 28, 6),
            (ReadAuthenticatedPayloadTimeout.opcode, 32, 4),
            (LERemoteConnectionParameterRequestReply.opcode, 33, 4), (LESetDataLength.opcode, 33, 6),
            (LEReadLocalP256PublicKey.opcode, 34, 1), (LEAddDeviceToResolvingList.opcode, 34, 3),
            (LEReadMaximumDataLength.opcode, 35, 3), (LESetPHY.opcode, 35, 6),
            (LESetExtendedAdvertisingParameters.opcode, 36, 2), (LESetExtendedScanParameters.opcode, 37, 5),
            (LEExtendedCreateConnection.opcode, 37, 7), (LEReadTransmitPower.opcode, 38, 7),
            (LESetPrivacyMode.opcode, 39, 2), (LEReadBufferSizeV2.opcode, 41, 5), (LERequestPeerSCA.opcode, 43, 2),
            (LESetHostFeature.opcode, 44, 1), (LESetDataRelatedAddressChanges.opcode, 45, 7),
            (LESubrateRequest.opcode, 46, 1), (LESetExtendedAdvertisingParametersV2.opcode, 46, 2),
            (LEReadAntennaInformation.opcode, 40, 4), (LESetPeriodicAdvertisingSubeventData.opcode, 46, 5),
            (LESetPeriodicSyncSubevent.opcode, 46, 7),
        ]
        for (opcode, octet, bit) in places {
            var commands = SupportedCommands()
            #expect(!commands.contains(opcode))
            commands.insert(octet: octet, bit: bit)
            #expect(commands.contains(opcode), "0x\(String(opcode.rawValue, radix: 16))")
        }
    }

    @Test("a bit outside the 64 octets is not set and does no harm")
    func supportedCommandsOutside() {
        var commands = SupportedCommands()
        commands.insert(octet: 64, bit: 0)
        commands.insert(octet: -1, bit: 0)
        commands.insert(octet: 0, bit: 8)
        commands.insert(HCIOpcode(rawValue: 0xFFFF))
        #expect(commands == SupportedCommands())
        #expect(!commands.contains(octet: 64, bit: 0))
        #expect(!commands.contains(octet: 0, bit: -1))
        #expect(!commands.contains(HCIOpcode(rawValue: 0xFFFF)))
    }

    @Test("a filter accept list is given addresses without identity marks (pain 10)")
    func identityMarks() {
        let identity = DeviceAddress(value: 0x1234, kind: .randomIdentity)
        #expect(LEAddDeviceToFilterAcceptList(address: identity).address.kind == .random)
        #expect(LERemoveDeviceFromFilterAcceptList(address: identity).address.kind == .random)
    }

    @Test("a version has the name that people know")
    func version() {
        #expect(HCIVersion.core54.name == "5.4")
        #expect(HCIVersion.core42 > .core41)
        #expect(HCIVersion(rawValue: 0xFE).name == nil)
    }

    @Test("a status says what it means, and its number in any case")
    func status() {
        #expect("\(HCIStatus.connectionTimeout)" == "connection timeout (0x08)")
        #expect("\(HCIStatus.connectionFailedToBeEstablished)" == "connection failed to be established (0x3E)")
        #expect("\(HCIStatus(rawValue: 0xFF))" == "0xFF")
    }
}
