import BLEHost
import BLEPackets

/// Pairing, bonds and encryption.
///
///     var configuration = AdapterConfiguration()
///     configuration.toolbox = CryptoToolbox()
///     configuration.bondStore = FileBondStore(path: "/var/lib/gateway/bonds")
///     configuration.security.pairing.ioCapability = .displayYesNo
///     configuration.pairingAgent = MyAgent()
///     let adapter = try await Adapter.open("user:0", configuration: configuration)
///     let peripheral = try await adapter.connect(to: address)
///     let summary = try await peripheral.pair()
///
/// The link to a bonded device is encrypted automatically. If a device refuses a request because the link is not
/// secure, the stack pairs and repeats it (SPEC SEC-2), unless `SecuritySettings.pairsOnDemand` says otherwise.
extension Adapter {
    /// Forgets a device; a link to it ends. The device keeps its half; remove it there as well.
    /// - Parameter identity: `Bond.identity`.
    /// - Returns: whether there was such a bond.
    /// - Throws: `AdapterError.bondStore` when it could not be taken out of the store.
    @discardableResult
    public func removeBond(_ identity: DeviceAddress) async throws(AdapterError) -> Bool {
        clearStoreError()
        guard case .accepted(let wasThere) = try await result(of: .removeBond(identity)) else { return false }
        if let error = takeStoreError() { throw .bondStore(error) }
        return wasThere
    }

    /// Keeps with a bond what its user calls the device (`Bond.name`): who is looked for by that name is this device alone.
    /// - Parameter name: at most 248 octets of UTF-8.
    /// - Returns: whether there is such a bond.
    /// - Throws: `AdapterError.bondStore` when it could not be kept.
    @discardableResult
    public func nameBond(_ identity: DeviceAddress, _ name: String) async throws(AdapterError) -> Bool {
        clearStoreError()
        guard case .accepted(let isKnown) = try await result(of: .nameBond(identity, name)) else { return false }
        if let error = takeStoreError() { throw .bondStore(error) }
        return isKnown
    }

    /// Changes how links are made secure from now on. The key of this device's private addresses stays as it is.
    public func setSecurity(_ settings: SecuritySettings) async throws(AdapterError) {
        var settings = settings
        settings.identityResolvingKey = identityResolvingKey
        _ = try await result(of: .setSecurity(settings))
    }

    /// Lets a fixed passkey (`PairingOptions.passkey`) be used again that was locked after too many failures
    /// (`PairingEvent.passkeyLocked`), and ends the waits that failed pairings cost. For an operator alone: an app that
    /// does so after each failure gives its passkey away.
    public func unlockPasskey() async throws(AdapterError) { _ = try await result(of: .unlockPasskey) }

    /// Out-of-band data of this device, for one pairing with another device.
    /// - Throws: `AdapterError.host(.security(.notAvailable))` without a toolbox.
    public func makeOutOfBandData() async throws(AdapterError) -> LocalOutOfBandData {
        guard case .outOfBandData(let data) = try await result(of: .createOutOfBandData) else {
            throw .host(.security(.notAvailable))
        }
        return data
    }

    /// Sets the out-of-band data of a device for the next pairing. A successful pairing consumes it.
    /// - Parameter data: `nil`: nothing any more.
    public func setOutOfBandData(_ data: OutOfBandData?, for peer: DeviceAddress) async throws(AdapterError) {
        _ = try await result(of: .setOutOfBandData(peer, data))
    }

    /// Pairs on a link, in either role: as the peripheral it asks the central for it.
    /// - Throws: as `Peripheral.pair(_:)`.
    public func pair(
        _ link: LinkID, options: PairingOptions? = nil
    ) async throws(AdapterError) -> PairingSummary {
        clearStoreError()
        guard case .paired(let summary) = try await result(of: .pair(link, options)) else {
            throw .host(.notConnected)
        }
        if let error = takeStoreError() { throw .bondStore(error) }
        return summary
    }
}

extension Peripheral {
    /// Pairs with the device, also where there is a bond already, which may be renewed but not weakened.
    ///
    /// Returns when the link is encrypted with the new key and the bond is in the store.
    /// - Parameter options: `nil`: as `AdapterConfiguration.security` says.
    /// - Throws: `AdapterError.host(.security)` with the reason; `bondStore` when the devices are paired, but the bond
    ///   could not be kept.
    @discardableResult
    public func pair(_ options: PairingOptions? = nil) async throws(AdapterError) -> PairingSummary {
        try await adapter.pair(link, options: options)
    }

    /// Encrypts the link with the bond's key; has no effect if the link is encrypted already.
    /// - Throws: `AdapterError.host(.security)`: `noKey` without a bond, `keyMissingAtPeer` when the device has lost
    ///   its half: remove the bond and pair again.
    public func encrypt() async throws(AdapterError) { _ = try await adapter.result(of: .encrypt(link)) }

    /// What protects the link now; `nil` as long as nothing does.
    public var security: LinkSecurity? {
        get async { await adapter.security(of: link) }
    }
}
