import BLEHost
import BLEPackets

/// Pairing, bonds and encryption.
///
///     var configuration = AdapterConfiguration()
///     configuration.cryptoProvider = SwiftCryptoProvider()
///     configuration.bondStore = FileBondStore(path: "/var/lib/gateway/bonds")
///     configuration.security.pairing.ioCapability = .displayYesNo
///     configuration.pairingAgent = MyAgent()
///     let adapter = try await Adapter.open("user:0", configuration: configuration)
///     let peripheral = try await adapter.connect(to: address)
///     let summary = try await peripheral.pair()
///
/// The link to a bonded device is encrypted automatically. If a device refuses a request because the link is not
/// secure, the stack pairs and repeats it (SPEC SEC-2), unless `SecuritySettings.pairsOnDemand` is off.
extension Adapter {
    /// Removes the bond with a device and ends a link to it. The device keeps its half of the bond; remove it there as
    /// well.
    /// - Parameter identity: `Bond.identity`.
    /// - Returns: whether there was such a bond.
    /// - Throws: `BLEError.bondStore` if the store could not remove it.
    @discardableResult
    public func removeBond(_ identity: DeviceAddress) async throws -> Bool {
        clearStoreError()
        let wasThere = try await answer(to: .removeBond(identity))
        if let error = takeStoreError() { throw BLEError.bondStore(error) }
        return wasThere
    }

    /// Stores a name for the device with its bond (`Bond.name`). From then on this name means this device only.
    /// - Parameter name: at most 248 octets of UTF-8.
    /// - Returns: whether there is such a bond.
    /// - Throws: `BLEError.bondStore` if it could not be saved.
    @discardableResult
    public func nameBond(_ identity: DeviceAddress, _ name: String) async throws -> Bool {
        clearStoreError()
        let isKnown = try await answer(to: .nameBond(identity, name))
        if let error = takeStoreError() { throw BLEError.bondStore(error) }
        return isKnown
    }

    /// Changes how links are made secure from now on. The key of this device's private addresses does not change.
    public func setSecurity(_ settings: SecuritySettings) async throws {
        var settings = settings
        settings.identityResolvingKey = identityResolvingKey
        _ = try await result(of: .security(.setSecurity(settings)))
    }

    /// Unlocks a fixed passkey (`PairingOptions.passkey`) after too many failures (`PairingEvent.passkeyLocked`), and
    /// ends the waiting times after failed pairings. Only an operator should do this: an app that does so after each
    /// failure reveals its passkey.
    public func unlockPasskey() async throws { _ = try await result(of: .security(.unlockPasskey)) }

    /// Out-of-band data of this device, for one pairing with another device.
    /// - Throws: `BLEError.security(.notAvailable)` without a crypto provider.
    public func makeOutOfBandData() async throws -> LocalOutOfBandData {
        try await answer(to: .createOutOfBandData)
    }

    /// Sets the out-of-band data of a device for the next pairing. A successful pairing consumes it.
    /// - Parameter data: `nil` removes it.
    public func setOutOfBandData(_ data: OutOfBandData?, for peer: DeviceAddress) async throws {
        _ = try await result(of: .security(.setOutOfBandData(peer, data)))
    }

    /// Pairs on a link, in either role: a peripheral asks the central to pair.
    /// - Throws: the errors of `Peripheral.pair(_:)`.
    public func pair(
        _ link: LinkID, options: PairingOptions? = nil
    ) async throws -> PairingSummary {
        clearStoreError()
        let summary = try await answer(to: .pair(link, options))
        if let error = takeStoreError() { throw BLEError.bondStore(error) }
        return summary
    }
}

extension Peripheral {
    /// Pairs with the device. An existing bond can be renewed but not weakened.
    ///
    /// Returns when the link is encrypted with the new key and the bond is in the store.
    /// - Parameter options: `nil` uses `AdapterConfiguration.security`.
    /// - Throws: `BLEError.security` with the reason; `bondStore` if the devices are paired, but the bond
    ///   could not be saved.
    @discardableResult
    public func pair(_ options: PairingOptions? = nil) async throws -> PairingSummary {
        try await adapter.pair(link, options: options)
    }

    /// Encrypts the link with the bond's key; has no effect if the link is encrypted already.
    /// - Throws: `BLEError.security`: `noKey` without a bond, `keyMissingAtPeer` when the device has lost
    ///   its half: remove the bond and pair again.
    public func encrypt() async throws { _ = try await adapter.result(of: .security(.encrypt(link))) }

    /// The security of the link; `nil` while it is not encrypted.
    public var security: LinkSecurity? {
        get async { await adapter.security(of: link) }
    }
}
