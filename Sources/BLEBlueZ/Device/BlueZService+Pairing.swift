import BLEHost
import BLEPackets

/// Pairing: who asked for it, and how it ends.
extension BlueZService {
    mutating func pair(_ call: BusCall) {
        guard let device = devices[call.path] else { return refuse(call, .unknownObject(call.path)) }
        guard !device.isBonded else { return refuse(call, .alreadyExists) }
        guard device.pairing == nil else { return refuse(call, .inProgress("In Progress")) }
        switch device.connection {
        case .disconnecting: return refuse(call, .inProgress("In Progress"))
        case .connecting(_, isCancelled: true): return refuse(call, .inProgress("In Progress"))
        case .connecting(_, isCancelled: false): devices[call.path]?.pairing = DevicePairing(call: call)
        case .connected:
            devices[call.path]?.pairing = DevicePairing(call: call)
            startPairing(call.path)
        case .none:
            guard mayConnect(call, at: device.adapter) else { return }
            devices[call.path]?.pairing = DevicePairing(call: call)
            startConnecting(call.path, for: call.user)
        }
    }

    /// There is a link: the pairing begins.
    mutating func startPairing(_ path: String) {
        guard let device = devices[path], let link = device.link, let pairing = device.pairing else { return }
        var options = PairingOptions()
        options.ioCapability = agents.agent(for: pairing.call)?.capability ?? .noInputNoOutput
        options.prefersAuthentication = options.ioCapability != .noInputNoOutput
        let ticket = submit(.security(.pair(link, options)), to: device.adapter, .pair(path))
        devices[path]?.pairing?.ticket = ticket
    }

    mutating func cancelPairing(_ call: BusCall) {
        guard let device = devices[call.path], let pairing = device.pairing else {
            return refuse(call, .doesNotExist)
        }
        devices[call.path]?.pairing?.isCancelled = true
        if let ticket = pairing.ticket {
            emit(.cancel(device.adapter, ticket))
        } else if pairing.isFollowing {
            endPairing(ofLinkOf: call.path)
        } else {
            cancelConnecting(call.path, .authenticationCanceled)
        }
        reply(to: call)
    }

    /// The command that pairs has ended.
    mutating func paired(_ path: String, _ result: Result<HostResult, HostFailure>) {
        guard let device = devices[path], let pairing = device.pairing else { return }
        adapters[device.adapter]?.follows[path] = nil
        switch result {
        case .failure(.security(.alreadyPairing)) where device.link != nil && !pairing.isCancelled:
            devices[path]?.pairing?.ticket = nil
            devices[path]?.pairing?.isFollowing = true
            adapters[device.adapter]?.follows[path] = now.advanced(by: Self.followPause)
        case .success(.paired(let summary)):
            if summary.isBonded || summary.wasBonded { setBonded(true, path, identity: summary.identity) }
            devices[path]?.pairing = nil
            // Programs use the services right after it.
            let isResolving = device.isConnected && !device.areServicesResolved && device.discovery != nil
            guard isResolving else { return reply(to: pairing.call) }
            devices[path]?.pairCalls.append(pairing.call)
        case .failure(.linkLost), .failure(.notConnected), .failure(.security(.linkLost)):
            // The end of the link is reported first.
            if device.isConnected {
                devices[path]?.pairing?.failure = .authenticationCanceled
            } else {
                devices[path]?.pairing = nil
                refuse(pairing.call, .authenticationCanceled)
            }
        default:
            devices[path]?.pairing = nil
            if case .failure(.security(let failure)) = result { note(failure, of: device) }
            refuse(pairing.call, pairing.isCancelled ? .authenticationCanceled : BusError(pairing: result))
        }
    }

    /// A pairing that others began has ended.
    mutating func followed(_ path: String, _ result: Result<HostResult, HostFailure>) {
        guard devices[path]?.pairing?.isFollowing == true else { return }
        paired(path, result)
    }

    /// The end of a pairing that belongs to no client is not reported: whether it has ended is tried. It does end, since
    /// a device may only take 30 s for each step (Core 5.4, Vol 3, Part H, 3.4).
    mutating func tryAgainToPair() {
        for number in adapters.keys.sorted() {
            let due = adapters[number]?.follows.filter { $0.value <= now }.keys.sorted() ?? []
            for path in due {
                adapters[number]?.follows[path] = nil
                devices[path]?.pairing?.isFollowing = false
                startPairing(path)
            }
        }
    }

    private static let followPause = Microseconds.milliseconds(200)

    /// A device has been paired, and its services are known, or never will be.
    mutating func answerPairCalls(_ path: String) {
        guard let device = devices[path] else { return }
        devices[path]?.pairCalls = []
        for call in device.pairCalls { reply(to: call) }
    }

    /// The link on which a device was being paired has ended.
    mutating func endPairing(ofLinkOf path: String) {
        cancelPrompts(of: path)
        guard let device = devices[path], let pairing = device.pairing else { return }
        adapters[device.adapter]?.follows[path] = nil
        devices[path]?.pairing = nil
        refuse(pairing.call, .authenticationCanceled)
    }
}

extension BusError {
    /// Why a pairing failed.
    init(pairing result: Result<HostResult, HostFailure>) {
        guard case .failure(.security(let failure)) = result else {
            self = .authenticationFailed
            return
        }
        switch failure {
        case .refusedByUs(.numericComparisonFailed), .refusedByUs(.passkeyEntryFailed): self = .authenticationRejected
        case .timedOut: self = .authenticationTimeout
        case .cancelled: self = .authenticationCanceled
        default: self = .authenticationFailed
        }
    }
}
