import BLEHost
import BLEPackets

/// What the daemon's engine reports.
extension BlueZService {
    mutating func receive(_ event: HostEvent, from number: Int) {
        guard adapters[number] != nil else { return }
        switch event {
        case .discovered(let discovery): found(discovery, at: number)
        case .connected(let link, _): adapters[number]?.newLinks[link.id] = link
        case .disconnected(let link, _, let reason):
            // This side no longer uses the services of a central, which stays.
            if reason == .releasedByClient, let path = adapters[number]?.links[link],
                devices[path]?.isCentral == true
            {
                break
            }
            linkEnded(link, at: number, because: reason)
        case .centralConnected(let link): centralConnected(link, at: number)
        case .centralDisconnected(let link, let reason): linkEnded(link, at: number, because: reason)
        case .gatt(let link, .notification(let notification)): received(notification, on: link, at: number)
        case .gatt(let link, .mtuChanged(let mtu)):
            if let path = adapters[number]?.links[link] { mtuChanged(path, Int(mtu)) }
        case .encryptionChanged(let link, let security):
            guard security.isEncrypted, security.isBonded, let path = adapters[number]?.links[link] else { break }
            setBonded(true, path, identity: security.identity)
            let summary = PairingSummary(
                identity: security.identity, isSecureConnections: security.isSecureConnections,
                isAuthenticated: security.isAuthenticated, keySize: security.keySize, isBonded: true)
            followed(path, .success(.paired(summary)))
        case .bondChanged(let bond):
            if let path = device(at: bond.identity, number) { setBonded(true, path) }
        case .bondRemoved(let identity):
            guard let path = device(at: identity, number), devices[path]?.removeCalls.isEmpty == true else { break }
            setBonded(false, path)
        case .pairing(let link, let event):
            if let path = adapters[number]?.links[link] { receive(event, of: path) }
        case .ready(let information): adapters[number]?.information = information
        case .advertisingChanged(isAdvertising: true): advertisingBegan(at: number)
        case .server(let event): receive(event, at: number)
        default: break
        }
    }

    // MARK: Ends of commands

    mutating func completed(_ ticket: Ticket, _ result: Result<HostResult, HostFailure>, at number: Int) {
        guard let work = works.removeValue(forKey: ticket) else { return }
        adapters[number]?.openCommands -= 1
        adapters[number]?.requests.leave(ticket)
        adapters[number]?.socketWrites.leave(ticket)
        ended(work, result, at: number)
        sendWhatWaits(at: number)
    }

    mutating func ended(_ work: Work, _ result: Result<HostResult, HostFailure>, at number: Int) {
        switch work {
        case .nothing: break
        case .scan(let number): scanEnded(at: number)
        case .connect(let path): connected(path, result)
        case .disconnect(let path, let link): disconnected(path, link, result)
        case .pair(let path): paired(path, result)
        case .discovery(let path, let round, let step): discovered(path, round: round, step, result)
        case .ownRead(let path, let handle, let purpose): hasRead(path, handle, purpose, result)
        case .read(let use, let call, let offset): hasRead(use, call, offset: offset, result)
        case .write(let use, let call): hasWritten(use, call, result)
        case .subscribe(let use): subscriptionEnded(use, result)
        case .socketWrite(let socket, let link, _): socketWriteEnded(socket, link, at: number)
        case .publish(let client, let path, let service): published(client, path, service, at: number, result)
        case .update(let client, let path, let characteristic):
            updated(client, path, characteristic, at: number, result)
        case .advertise(let client, let path): advertisingEnded(client, path, at: number, result)
        case .joinCentral(let path, let link): joinedCentral(path, link, result)
        case .removeBond(let path): bondRemoved(path, result)
        }
    }

    /// The adapter that a command is for.
    func adapterOf(_ work: Work) -> Int? {
        switch work {
        case .nothing, .publish, .update, .advertise: nil
        case .scan(let number), .socketWrite(_, _, let number): number
        case .connect(let path), .disconnect(let path, _), .pair(let path), .discovery(let path, _, _),
            .ownRead(let path, _, _), .removeBond(let path), .joinCentral(let path, _):
            Self.adapter(in: path)
        case .read(let use, _, _), .write(let use, _), .subscribe(let use): Self.adapter(in: use.device)
        }
    }

    /// The N of a path that begins with `/org/bluez/hciN`.
    private static func adapter(in path: String) -> Int? {
        let prefix = ObjectPaths.root + "/hci"
        guard path.hasPrefix(prefix) else { return nil }
        return path.dropFirst(prefix.count).first?.wholeNumberValue
    }
}
