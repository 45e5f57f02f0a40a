import BLEPackets

/// Who is behind private addresses: resolved here, whatever the controller does of it.
extension Host {
    /// Who is behind an address of the air.
    mutating func identity(behind address: DeviceAddress) -> IdentityResolver.Answer {
        guard configuration.hasToolbox, address.isResolvablePrivate, !bonds.resolving.isEmpty else { return .stranger }
        if let known = resolver.answer(for: address, revision: bonds.resolvingRevision) { return known }
        let pass = resolver.begin(address, keys: bonds.resolving.count)
        let random = address.resolvableParts.random
        for entry in bonds.resolving {
            let key = [UInt8](entry.key.octets.reversed())
            desk.ask(
                SecurityFunction.ah(key: key, random: random).request,
                for: .resolution(pass: pass, identity: entry.identity))
        }
        return .pending(pass: pass)
    }

    /// The hash of an address with one bond's key.
    mutating func hashMade(_ result: ToolboxResult, pass: UInt32, identity: DeviceAddress, at now: Instant) {
        var hash: [UInt8] = []
        if case .octets(let octets) = result, octets.count == 16 { hash = [UInt8](octets.suffix(3)) }
        guard let address = resolver.address(of: pass) else { return }
        let isMatch = hash == address.resolvableParts.hash
        guard let done = resolver.tried(identity, matches: isMatch, in: pass) else { return }
        if done.matches.count > 1 { events.append(.ambiguousIdentity(done.address, done.matches)) }
        for connection in done.connections {
            linkMade(
                connection.handle, peer: done.matches.count == 1 ? done.matches[0].asIdentity : connection.peer,
                privateAddresses: (connection.privateAddresses.local, done.address), role: connection.role,
                parameters: connection.parameters, at: now)
        }
        for (report, data) in done.reports {
            var report = report
            if done.matches.count == 1 {
                noteOwnResolution(done.matches[0], revision: report.listRevision)
                report.address = done.matches[0].asIdentity
            }
            received(report, data: data.span.bytes, at: now)
        }
    }

    /// Names the identity in a report where it is known.
    /// - Returns: `false` when the report waits until it is.
    mutating func nameIdentity(in report: inout Scanner.Report, data: RawSpan) -> Bool {
        guard let address = report.address, address.isResolvablePrivate, !bonds.resolving.isEmpty else { return true }
        switch identity(behind: address) {
        case .identity(let identity):
            noteOwnResolution(identity, revision: report.listRevision)
            report.address = identity.asIdentity
        case .stranger: break
        case .pending(let pass):
            resolver.wait(report, data: data, for: pass)
            return false
        }
        return true
    }

    /// Whether a device can only be connected to under the address under which it was heard: it has private ones.
    func usesPrivateAddresses(_ peer: DeviceAddress) -> Bool {
        guard configuration.hasToolbox, configuration.ownership == .exclusive else { return false }
        let peer = peer.withoutIdentityMark
        return bonds.resolving.contains { $0.identity == peer } && !resolvingList.finds(peer)
    }
}
