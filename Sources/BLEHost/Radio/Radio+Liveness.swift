import BLEPackets

/// Controllers that stop doing what they were told: advertising that has ended by itself, and connecting in vain.
/// Scanning has its time limits in `ScanMachine`.
extension Radio {
    // MARK: Advertising

    /// A set of a client that is on and does not end by itself: to switch it on again changes nothing.
    private var steadySet: UInt8? {
        guard Features.sets else { return nil }
        return sets.entries.first {
            $0.machine.isRunning && !$0.isLeaving && $0.request.duration == nil && $0.request.maximumEvents == 0
        }?.handle
    }

    /// Whether the shared advertisement is on and does not end by itself.
    private var isSharedOn: Bool {
        advertisingMachine.isAdvertising && advertisingMachine.planInForce?.parameters.target == nil
    }

    mutating func followLiveness(at now: Instant) {
        guard Features.server, configuration.adaptsToController, configuration.ownership == .exclusive else { return }
        liveness.follow(canAsk: isSharedOn || steadySet != nil, at: now)
    }

    /// Asks whether the controller still advertises, if it is time.
    mutating func advanceLiveness(into effects: inout Effects) {
        guard Features.server, liveness.advance(to: effects.now, lastReport: reception.lastReport) else { return }
        // While it is being changed there is nothing to ask.
        let isShared = isSharedOn && advertisingMachine.isSteady
        if isShared, !usesAdvertisingSets, let parameters = advertisingMachine.planInForce?.parameters {
            effects.commands.append(LESetAdvertisingParameters(parameters), purpose: .advertisingProbe)
        } else {
            guard let handle = isShared ? RadioCommandSet.advertisingHandle : steadySet else {
                return liveness.postpone(at: effects.now)
            }
            effects.commands.append(
                LESetExtendedAdvertisingEnable(
                    isEnabled: true, sets: [.init(advertisingHandle: handle, duration: 0, maximumEvents: 0)]),
                purpose: .advertisingProbe)
        }
    }

    mutating func probeAnswered(_ status: HCIStatus, _ opcode: HCIOpcode, into effects: inout Effects) {
        guard Features.server else { return }
        let verdict =
            opcode == LESetAdvertisingParameters.opcode
            ? liveness.answeredParameters(status, isAdvertising: advertisingMachine.isAdvertising)
            : liveness.answered(status)
        switch verdict {
        case .alive: break
        case .restart:
            let wasAdvertising = isAdvertising
            perform(advertisingMachine.restart(), into: &effects)
            reportAdvertising(before: wasAdvertising, into: &effects)
        case .forgotten: effects.requestRecovery(from: .forgetsState)
        }
        followLiveness(at: effects.now)
    }

    // MARK: Turns with scanning

    /// Whether the controller neither advertises for clients nor is about to.
    private var isAdvertisingOff: Bool {
        advertisingMachine.isIdle && sets.isIdle && (!Features.users || guests.allSatisfy { $0.machine.isIdle })
    }

    /// Whether scanning waits, for a new link or for advertising.
    var scanRests: Bool {
        !setupQuiet.isEmpty || advertisingTurns.scanRests || advertisingTurns.advertisingRests && !isAdvertisingOff
    }

    /// Whether advertising waits for scanning.
    var advertisingRests: Bool {
        advertisingTurns.advertisingRests || advertisingTurns.scanRests && !scanMachine.isIdle
    }

    /// - Parameter isScanWanted: whether a client scans.
    mutating func updateTurns(isScanWanted: Bool, into effects: inout Effects) {
        guard Features.server, configuration.adaptsToController else { return }
        let areNeeded = effects.expects(.refusesAdvertisingWhileScanning)
        guard areNeeded || advertisingTurns.nextDeadline != nil else { return }
        let wasAdvertising = isAdvertising
        let isAdvertisingWanted = advertiser.isWanted || sets.entries.contains { !$0.isLeaving }
        advertisingTurns.update(
            areNeeded: areNeeded, areBothWanted: isScanWanted && isAdvertisingWanted, at: effects.now)
        reportAdvertising(before: wasAdvertising, into: &effects)
    }

    /// The controller answered a command that switches advertising on.
    /// - Parameter isRefused: whether it did not, and advertising waits.
    mutating func advertisingAnswered(_ status: HCIStatus, isRefused: Bool, isOn: Bool, into effects: inout Effects) {
        guard configuration.adaptsToController, configuration.ownership == .exclusive else { return }
        if isOn {
            guard advertisingTurns.began(at: effects.now) else { return }
            effects.learn(.refusesAdvertisingWhileScanning)
        } else if isRefused, status == .commandDisallowed || status == .rejectedLimitedResources {
            advertisingTurns.refused(isScanning: !scanMachine.isIdle, at: effects.now)
        }
    }

    // MARK: Links

    /// A link has just been made. Scanning is switched off before the link's first command, if the controller needs
    /// that.
    mutating func setupBegan(_ handle: ConnectionHandle, role: LinkRole, into effects: inout Effects) {
        if role == .central { connectionWatch.removeAll() }
        guard effects.expects(.crashesScanningDuringLinkSetup) else { return }
        let span = role == .central ? SetupQuiet.longest.central : SetupQuiet.longest.peripheral
        setupQuiet.begin(handle, until: effects.now.advanced(by: span))
        perform(scanMachine.want(nil, mustYield: true, at: effects.now), into: &effects)
    }

    /// The first procedure of a link is over, or the link is.
    mutating func setupEnded(_ handle: ConnectionHandle) {
        guard !setupQuiet.isEmpty else { return }
        setupQuiet.end(handle)
    }

    /// The controller begins to look for these devices.
    mutating func watchAttempt(_ plan: Initiator.Plan, at now: Instant) {
        connectionWatch.keep { connector.waits(for: $0) }
        switch plan {
        case .directed(let peer, _):
            connectionWatch.tried([connector.peer(onAir: peer.withoutIdentityMark)], at: now)
        case .acceptList(let peers, _): connectionWatch.tried(peers.map { $0.withoutIdentityMark }, at: now)
        }
    }

    /// A device that a client waits for was received, and accepts connections.
    mutating func watchSighting(_ peer: DeviceAddress, into effects: inout Effects) {
        connectionWatch.sighted(peer.withoutIdentityMark, at: effects.now)
        guard effects.adapts, configuration.ownership == .exclusive else { return }
        connectsInVain = connectionWatch.isInVain(
            isKnownToStop: effects.expects(.stopsConnecting), at: effects.now)
    }
}
