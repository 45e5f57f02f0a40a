import BLEPackets

/// Resolution of private addresses by the host, for all that the controller does not resolve.
extension Host {
    /// The identity behind an address on the air.
    mutating func identity(behind address: DeviceAddress) -> IdentityResolver.Answer {
        rooms.pairings.bonds.identity(behind: address, into: &effects).choosing { radio.connector.waits(for: $0) }
    }

    /// The hash of an address with one bond's key.
    mutating func hashMade(_ result: CryptoResult, pass: UInt32, identity: DeviceAddress) {
        guard let done = rooms.pairings.bonds.hashMade(result, pass: pass, identity: identity, into: &effects) else {
            return
        }
        var found: DeviceAddress?
        if case .identity(let identity) = done.answer.choosing({ radio.connector.waits(for: $0) }) {
            found = identity
        }
        if let found, radio.connector.waits(for: done.address) { identityFound(found, behind: done.address) }
        for new in done.connections {
            var new = new
            new.privateAddresses.peer = done.address
            linkMade(found.map { new.with($0, behind: done.address) } ?? new)
        }
        for (report, data) in done.reports {
            var report = report
            if let found {
                radio.recordOwnResolution(found, revision: report.listRevision)
                report.address = found.asIdentity
            }
            radio.received(
                report, data: data.span.bytes, resolving: rooms.pairings.bonds.table.resolving, into: &effects)
        }
    }

    /// Tries to resolve the private addresses that clients wait for, if bonds or addresses are new.
    mutating func resolvePendingConnections() {
        let revision = rooms.pairings.bonds.table.resolvingRevision
        guard Features.pairing, radio.connector.hasPrivatePeers(toResolveAt: revision) else { return }
        for address in radio.connector.privatePeers(toResolveAt: revision) {
            // If the answer is not known yet, `hashMade` continues.
            if case .identity(let identity) = identity(behind: address) { identityFound(identity, behind: address) }
        }
    }

    /// A private address was resolved. Operations that wait for it now wait for the device, and get its link at once if
    /// there is one. From now on, the address either does not appear again or is replaced by the identity.
    mutating func identityFound(_ identity: DeviceAddress, behind address: DeviceAddress) {
        let identity = identity.withoutIdentityMark
        let address = address.withoutIdentityMark
        guard address != identity, address.isResolvablePrivate else { return }
        effects.events.append(.identityFound(identity, behind: address))
        adoptWaiting(for: address, by: identity)
    }

    /// Operations that wait for a private address now wait for the device behind it, and get its link at once if there
    /// is one.
    mutating func adoptWaiting(for address: DeviceAddress, by identity: DeviceAddress) {
        radio.connector.rename(address, to: identity)
        guard let link = rooms.links.link(to: identity) else { return }
        for index in link.waiting.indices where link.waiting[index].request.peer == address {
            link.waiting[index].request.peer = identity
        }
        link.join(radio.connector.removePending(identity), &rooms.pairings.bonds, into: &effects)
    }

    /// Puts the identity into a report if it is known.
    /// - Returns: `false` if the report has to wait for the resolution.
    mutating func nameIdentity(in report: inout Scanner.Report, data: RawSpan) -> Bool {
        guard Features.pairing, let address = report.address, address.isResolvablePrivate,
            !rooms.pairings.bonds.table.resolving.isEmpty
        else {
            return true
        }
        switch identity(behind: address) {
        case .identity(let identity):
            radio.recordOwnResolution(identity, revision: report.listRevision)
            report.address = identity.asIdentity
        case .stranger, .several: break
        case .pending(let pass):
            rooms.pairings.bonds.resolver.wait(report, data: data, for: pass)
            return false
        }
        return true
    }

    // MARK: Addresses of this device

    mutating func ownAddressRandomDrawn(_ result: CryptoResult) {
        let key = rooms.pairings.settings.identityResolvingKey
        if !radio.addressRandomDrawn(result, key: key, into: &effects) { proceedWithoutAddress() }
    }

    mutating func ownAddressMade(_ result: CryptoResult, random: [UInt8]) {
        guard radio.privateAddress.isBeingMade else { return }
        guard let address = radio.address(from: result, random: random) else {
            radio.extendAddress(at: effects.now)
            return proceedWithoutAddress()
        }
        switch phase {
        case .starting:
            // The startup sequence sets it later.
            radio.ownAddress = address
            session.information.ownAddress = address
            radio.extendAddress(at: effects.now)
            if effects.commands.isIdle { continueStartup() }
        case .ready:
            radio.privateAddress.state = .waiting(address)
        case .closed, .awaitingTransport, .stopping, .stopped, .failed: radio.privateAddress.state = .none
        }
    }

    /// The crypto provider failed: a start that waited for the address continues without it.
    private mutating func proceedWithoutAddress() {
        if session.isStarting, effects.commands.isIdle { continueStartup() }
    }
}
