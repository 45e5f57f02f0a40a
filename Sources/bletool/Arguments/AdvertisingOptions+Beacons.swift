import BLE
import BLESensors

extension AdvertisingOptions {
    /// Opens the adapter and is a beacon until ^C.
    ///
    /// Without services nobody has a reason to connect, so that such a beacon does not accept connections.
    func runBeacon(
        _ services: [BluetoothUUID], interval: AdvertisingInterval?, duration: Duration?, profile: ServedProfile?,
        pairing: PairingArguments?, acceptsBearers: Bool, reportsAddressResolution: Bool, in session: Session
    ) async throws {
        let isConnectable = profile != nil || !services.isEmpty
        let key = try beaconKey.octets()
        let (name, extended, sets, transfersTrains) = (name, extended, set, transferTrains)
        func pack(_ seal: ((BTHomeFrame) async throws -> BeaconData)?) async throws -> PackedAdvertisement {
            try BeaconAdvertisement(
                name: name, services: services, beacons: try await beacons.data(sealedBy: seal), isExtended: extended
            ).packed
        }
        // What does not fit is refused before an adapter is opened.
        let plain = try await pack(key == nil ? nil : { Self.filled($0.data) })
        let adjust = try adjustment(
            pairing: pairing, isDirected: false, acceptsBearers: acceptsBearers,
            reportsAddressResolution: reportsAddressResolution, in: session)
        try await session.withAdapter(adjusting: adjust) { adapter in
            var packed = plain
            if let key {
                let information = await adapter.information
                let counters = BeaconCounters(state: session.state)
                packed = try await pack { try await Self.seal($0, key, information, counters, session.console) }
            }
            var request: AdvertiseRequest?
            var allSets = sets
            if extended {
                var own = AdvertisingSetRequest(data: packed.advertisement, isConnectable: isConnectable)
                if let interval { own.interval = ExtendedAdvertisingInterval(rawValue: UInt32(interval.rawValue)) }
                allSets.insert(own, at: 0)
            } else {
                request = AdvertiseRequest(
                    .raw(advertisement: packed.advertisement, scanResponse: packed.scanResponse),
                    isConnectable: isConnectable, interval: interval)
            }
            try await PeripheralRunner(
                adapter, console: session.console, request: request, packed: packed, sets: allSets,
                transfersTrains: transfersTrains, duration: duration
            ).run(profile)
        }
    }

    /// As long as the sealed data are.
    private static func filled(_ data: BeaconData) -> BeaconData {
        var data = data
        data.octets += [UInt8](repeating: 0, count: BTHomeFrame.sealByteCount)
        return data
    }

    /// - Throws: `Failure` when this device has no lasting address, or the counter cannot be kept.
    private static func seal(
        _ frame: BTHomeFrame, _ key: [UInt8], _ information: ControllerInformation, _ counters: BeaconCounters,
        _ console: Console
    ) async throws -> BeaconData {
        guard let address = information.ownAddress, address == information.identityAddress,
            !address.isRandom || address.randomKind == .static
        else {
            throw Failure(
                "--key encrypts for one address, and a private address changes; use --own-address public or static")
        }
        let counter = try await counters.next(for: key)
        guard
            let data = frame.sealed(
                key: key, address: address, counter: counter, encrypt: BeaconCounters.blockCipher)
        else { throw Failure("the measurements cannot be encrypted; leave some out") }
        console.note(
            "encrypted for \(address.addressText) with the counter \(counter): receivers need the key and this address")
        return data
    }
}
