import BLEHost
import BLEPackets

/// Centrals that connect: each is a device, too, with its services.
extension BlueZService {
    mutating func centralConnected(_ link: LinkInformation, at number: Int) {
        let known = device(at: link.peer, number) ?? addDevice(link.peer, at: number, nil) { _ in }
        guard let path = known, let device = devices[path] else { return }
        // It may be waited for as a peripheral at the same time: the link is what both wanted.
        guard !device.isConnected else { return }
        var isAwaited = false
        if case .connecting(_, isCancelled: false) = device.connection { isAwaited = true }
        if !isAwaited {
            submit(.radio(.connect(ConnectRequest(peer: link.peer))), to: number, .joinCentral(path, link.id))
            devices[path]?.connection = .connected(link.id)
        }
        adapters[number]?.links[link.id] = path
        devices[path]?.isCentral = true
        devices[path]?.attMTU = link.attMTU
        devices[path]?.lastSeen = now
        setConnected(true, path)
    }

    /// This side may use the services of a central, or not.
    mutating func joinedCentral(_ path: String, _ link: LinkID, _ result: Result<HostResult, HostFailure>) {
        guard devices[path]?.link == link, case .success = result else { return }
        startResolving(path)
    }

    /// The adapter is switched off, and on again.
    mutating func suspendServing(at number: Int) { suspendAdvertisements(at: number) }
    mutating func resumeServing(at number: Int) { resumeAdvertisements(at: number) }
}
