import BLEPackets

/// Advertising sets and periodic trains: what they mean for links.
extension Host {
    /// The controller ended an advertising set (Core 5.4, Vol 4, Part E, 7.7.65.18).
    @inline(never)
    mutating func received(_ event: LEAdvertisingSetTerminated) {
        guard Features.server else { return }
        // Success means that a connection ended it; Connection Complete reports that, too.
        let byConnection = event.status.isSuccess
        let link = byConnection ? rooms.links[event.connectionHandle] : nil
        let isOpen = byConnection && radio.sets.removeOpenEnd(by: event.connectionHandle)
        guard event.advertisingHandle != RadioCommandSet.advertisingHandle else {
            guard !byConnection || isOpen || radio.knowsEndedSet && link == nil else { return }
            return radio.advertisingEnded(byConnection: byConnection, into: &effects)
        }
        guard Features.sets else { return }
        guard byConnection else {
            radio.setEnded(event.advertisingHandle, byConnection: false, link: nil, into: &effects)
            return
        }
        guard let link else {
            // Its peer's address may still have to be resolved.
            return radio.sets.recordEarlyEnd(of: event.advertisingHandle, by: event.connectionHandle)
        }
        setEnded(event.advertisingHandle, by: link)
    }

    /// A central connected by a set, whose address is this side's address on the link.
    mutating func setEnded(_ handle: UInt8, by link: Link) {
        let address = radio.setEnded(handle, byConnection: true, link: link.id, into: &effects)
        if let address { link.security.connected(at: address) }
    }
}
