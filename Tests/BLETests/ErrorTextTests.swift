import BLE
import BLEPresentation
import Testing

/// The texts of errors and values, as people read them.
@Suite("Texts for people")
struct ErrorTextTests {
    private static let uuid = BluetoothUUID(UInt16(0x2A19))
    private static let handle = AttributeHandle(rawValue: 3)

    private static let transports: [TransportError] = [
        .invalidAddress("x"), .unknownPreset("x", nearest: "y", known: ["y"]),
        .invalidAddress("tcp:x:0", reason: "r"), .notOffered(.userChannel(adapter: 0)), .noBluetoothInKernel,
        .noSuchAdapter(index: 7, present: []), .noSuchAdapter(index: 7, present: ["hci0"]), .noAdapter,
        .permissionDenied(.userChannel(adapter: 0), capability: .netAdmin, program: "/p"),
        .adapterUp(index: 0, daemon: nil),
        .adapterUp(index: 0, daemon: HoldingProcess(identifier: 1, name: "bluetoothd")),
        .adapterBusy(index: 0, holders: []),
        .adapterBusy(index: 0, holders: [HoldingProcess(identifier: 1, name: "x")]),
        .adapterInSetup(index: 0), .adapterDown(index: 0), .adapterBlocked(index: 0), .adapterRemoved(index: 0),
        .hostNotFound("h", reason: "no such name"), .connectionRefused(.userChannel(adapter: 0)),
        .connectionTimedOut(.userChannel(adapter: 0)), .pathNotFound("/p"), .pathForbidden("/p"), .notASerialPort("/p"),
        .serialPortBusy("/p", holders: []), .serialPortBusy("/p", holders: [HoldingProcess(identifier: 1, name: "x")]),
        .unsupportedBaud("/p", requested: 5, nearest: 50), .unusableFile("f", reason: "it is empty"),
        .noDaemon(path: "/s"), .untrustedDaemon(path: "/s", user: 5), .daemonEnded(reason: "it stops"), .closedByPeer,
        .framingLost(packetType: 9), .noResetAnswer(byteCount: 12), .noThreeWirePeer,
        .sendQueueFull(byteCount: 5), .system(call: "read", code: 5),
    ]
    private static let securities: [SecurityFailure] = [
        .refusedByUs(.passkeyEntryFailed), .refusedByPeer(.pairingNotSupported), .timedOut, .keyMissingAtPeer,
        .wouldReplaceBond, .keyTooWeak, .encryptionFailed(.connectionTimeout), .noKey, .notAvailable, .alreadyPairing,
        .repeatedAttempts(retryAfter: .seconds(3)), .passkeyLocked, .tooManyBonds, .linkLost, .cancelled,
    ]
    private static let channels: [ChannelFailure] = [
        .refused(.spsmNotSupported), .refused(.insufficientAuthentication), .refused(.insufficientEncryption),
        .notReconfigurable(.unacceptableParameters), .invalidAnswer, .notOpen, .noResources, .unitTooLong, .invalidSPSM,
    ]
    private static let requests: [HostFailure.InvalidRequest] = [
        .advertisementTooLong, .train, .subevents, .channelMap, .pathLossZones, .connectionParameters,
        .parametersTooLong, .stopped, .notAvailableOnSharedController, .notPermitted, .advertisingSet(.subevents),
        .advertisingSet(.train), .advertisingSet(.tooMuchData), .advertisingSet(.misplacedData),
        .advertisingSet(.contradictoryProperties), .advertisingSet(.needsExtendedPDUs), .advertisingSet(.primaryPHY),
        .advertisingSet(.outOfRange), .advertisingSet(.address),
    ]
    private static let publishing: [GATTPublishError] = [
        .uuidNotAllowed(uuid), .propertyNotAllowed(uuid), .descriptorNotAllowed(uuid), .cachedValueNotReadOnly(uuid),
        .valueTooLong(uuid), .includedServiceUnknown(handle), .outOfHandles, .unknownService(handle),
        .isIncluded(handle, by: handle), .handlesOutOfOrder(handle),
    ]
    private static let stores: [BondStoreError] = [
        .system(path: "/p", cause: "No space left on device"), .refused(path: "/p", cause: "is a link: remove it"),
        .busy(path: "/p"), .unknownVersion(path: "/p"),
    ]
    private static let plain: [BLEError] = [
        .startupTimeout, .closed, .controllerLost, .controllerUnresponsive,
        .controllerRefused(.commandDisallowed, LESetScanEnable.opcode),
        .controllerRefused(.unsupportedFeatureOrParameterValue, LESetPeriodicAdvertisingParametersV2.opcode),
        .controllerRefused(.unsupportedFeatureOrParameterValue, LESetPeriodicSyncSubevent.opcode),
        .commandTimeout(LESetScanEnable.opcode), .procedureTimeout, .cancelled, .timedOut(.seconds(3)),
        .nameNotHeard("Lamp", within: .seconds(3), heard: []),
        .nameNotHeard("Lamp", within: .seconds(3), heard: ["Lump"]),
        .invalidParameters, .valueTooLong(limit: 512), .queueFull, .limitReached, .unexpectedResult(.done), .noAddress,
        .connectionFailed(.connectionTimeout), .notConnected, .linkLost(.releasedByClient),
        .linkLost(.controller(.connectionTimeout)), .linkLost(.controllerLost), .bearerClosed, .parametersRejected,
        .notFound(uuid), .notSubscribable(uuid), .notSubscribed, .att(.readNotPermitted, handle: handle),
        .transactionTimeout, .reliableWriteMismatch(handle), .discoveryTooLong, .malformedValue(uuid, [1]),
        .unknownValue(uuid),
    ]

    private static var all: [BLEError] {
        plain + transports.map { .transport($0) } + securities.map { .security($0) } + channels.map { .channel($0) }
            + requests.map { .invalidRequest($0) } + publishing.map { .publishing($0) } + stores.map { .bondStore($0) }
    }

    @Test("cause and remedy of every error read as sentences, and make up its description")
    func sentences() {
        for error in Self.all {
            let parts = [error.cause] + (error.remedy.map { [$0] } ?? [])
            #expect(error.description == parts.joined(separator: "; "))
            for part in parts {
                #expect(part.split(separator: " ").count >= 2, "\(part)")
                #expect(part.first?.isUppercase == false && part.first?.isWhitespace == false, "\(part)")
                #expect(!part.hasSuffix(".") && !part.hasSuffix(" ") && !part.hasSuffix(":"), "\(part)")
                #expect(!part.contains("  ") && !part.contains(";;"), "\(part)")
            }
            // What to do stands in the remedy.
            #expect(!error.cause.contains("; "), "\(error.cause)")
        }
    }

    @Test("values are described in words, without type names")
    func values() {
        let peer = DeviceAddress(value: 0xC011_2233_4455, kind: .random)
        let octets: [UInt8] = [1, 2]
        let texts: [(any CustomStringConvertible, String)] = [
            (
                ScanRequest(serviceUUIDs: [BluetoothUUID(UInt16(0x180D))], minimumRSSI: -70),
                "active scan for 180D, at least -70 dBm"
            ),
            (ConnectRequest(peer: peer), "connection to C0:11:22:33:44:55/random"),
            (
                ConnectionParameterRequest(
                    interval: .milliseconds(15)...ConnectionInterval.milliseconds(30), peripheralLatency: 0,
                    supervisionTimeout: .milliseconds(2000)),
                "interval 15.0 ms to 30.0 ms, latency 0, timeout 2000.0 ms"
            ),
            (
                AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: [])), "connectable advertising as ‘Lamp’"
            ),
            (AdvertisingSetRequest(data: octets), "advertising set, interval 100.0 ms on LE 1M, 2 octets"),
            (AttributePermissions([.readable, .writeEncryption]), "readable, encrypted to write"),
            (SubscriptionModes([.indications]), "indications"),
            (AdvertisingSetEvent.started(transmitPower: 4), "advertising has started with 4 dBm"),
            (
                AdvertisingSetEvent.response(SlotResponse(subevent: 2, slot: 3, data: octets, rssi: -60)),
                "subevent 2, slot 3: 2 octets at -60 dBm"
            ),
            (PeriodicSyncEvent.lost(advertiser: peer, identifier: 1), "train 1 of C0:11:22:33:44:55/random is lost"),
            (
                PeriodicSyncReport(
                    advertiser: peer, identifier: 1, data: octets, isTruncated: true, rssi: -60, txPower: nil, event: 7,
                    time: .zero), "train 1 of C0:11:22:33:44:55/random, event 7: 2 octets (cut short) at -60 dBm"
            ),
            (
                AdapterActivity.ended(.connect, after: .milliseconds(500), error: .notConnected),
                "connect failed after 0.5 seconds: there is no link to the device; connect first"
            ),
            (GATTPublishError.outOfHandles, "no attribute handles are left"),
        ]
        for (value, text) in texts { #expect("\(value)" == text) }
    }
}
