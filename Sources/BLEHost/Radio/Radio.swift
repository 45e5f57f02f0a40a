import BLEPackets

/// What the controller does with its radio for all clients together: scanning, initiating, advertising, its own address
/// and its resolving list.
///
///     clients' wishes ──▶ Scanner, Connector, Advertiser ──▶ plans
///                                                              │ converge
///                                                              ▼
///     controller ◀── commands ── ScanMachine, Initiator, AdvertisingMachine
///
/// Each machine makes the controller follow a plan. A new private address and a change of the resolving list need an
/// idle radio: while one of them waits, every plan is empty (`isPaused`), and the wishes stay.
///
/// A plan that may have to change is noticed by itself: what plans depend on is observed (`isUnsettled`), the facts of
/// other rooms are compared (`Facts`), and a plan is valid until a time (`validUntil`). What each report changes stands
/// apart, so that a report costs no convergence.
///
/// The radio does not know links, bonds or identities; each call passes what it needs of them.
struct Radio {
    private let shared: SharedConfiguration
    @inline(__always)
    var configuration: HostConfiguration { shared.value }
    /// The commands of the current controller, for each use.
    private(set) var scanCommands = RadioCommandSet.legacy
    private(set) var connectionCommands = RadioCommandSet.legacy
    private(set) var advertisingCommands = RadioCommandSet.legacy
    /// Whether the controller says that it knows the extended commands.
    private(set) var knowsExtendedCommands = false
    // Which commands the controller has accepted since its reset.
    var hasAcceptedLegacy = false
    var hasAcceptedExtended = false
    /// Whether the other family was tried on a controller that another stack uses, too.
    var hasTriedOther = false
    /// With which address the controller scans after it refused the random one.
    enum ScanAddress { case asChosen, setAgain, `public` }
    var scanAddress = ScanAddress.asChosen
    /// How often an attempt to connect was refused.
    var connectionRefusals = 0
    /// Whether there was a link when an attempt was refused.
    var hasOtherLinks = false
    /// The command that was refused last.
    var refusedOpcode = LESetScanEnable.opcode
    private var canInitiateWhileScanning = true
    private var filterAcceptListSize = 0
    var canScanOnCodedPHY = false
    /// The PHYs on which a link can begin.
    private(set) var availablePHYs = PHYSet.le1M
    private var canScanUnrestricted = false
    /// The shortest interval of advertising that is not connectable.
    private var leastBeaconInterval = AdvertisingInterval.least
    /// Whether the controller knows periodic trains with responses, as the advertiser and as the receiver.
    private(set) var canSendSubevents = false
    private(set) var canReceiveSubevents = false

    /// Whether something has changed since the last convergence that a plan depends on.
    private(set) var isUnsettled = true
    /// When the plans change by themselves.
    private(set) var validUntil: Instant?

    /// Not observed, as each report changes it: its scans have a revision.
    var scanner: Scanner
    /// Not observed either: what it leads to is done when a deadline comes, or observed itself.
    var reception = ReceptionWatch()
    var ownReports = OwnAddressReports()
    var codedTrial = CodedScanTrial() { didSet { isUnsettled = true } }
    /// Until when the controller is spared reports.
    var reliefEnd: Instant? { didSet { isUnsettled = true } }
    var hasLinks = false
    /// The controller's public address, also if many controllers have it; `nil` if it has none.
    var reportedAddress: DeviceAddress?
    var scanMachine: ScanMachine { didSet { isUnsettled = true } }
    var connector = Connector() { didSet { isUnsettled = true } }
    var initiator: Initiator { didSet { isUnsettled = true } }
    var advertiser = Advertiser() { didSet { isUnsettled = true } }
    var advertisingMachine = AdvertisingMachine() { didSet { isUnsettled = true } }
    var guests: [AdvertisingGuest] = [] { didSet { isUnsettled = true } }
    var sets = AdvertisingSets() { didSet { isUnsettled = true } }
    var trains = TrainTable() { didSet { isUnsettled = true } }
    /// The channels that links and trains may use; `nil`: all.
    private var channelMap: ChannelMap?
    /// The controller does not know them yet.
    private var isChannelMapNew = false { didSet { isUnsettled = true } }
    /// Who ends when the controller knows them.
    private var channelOperation: OperationID?
    /// The LE events that the controller reports from its start on.
    private(set) var eventMask = LEEventMask.afterReset

    /// The address of this device, unless the controller generates one.
    var ownAddress: DeviceAddress? { didSet { isUnsettled = true } }
    var privateAddress = PrivateAddress() { didSet { isUnsettled = true } }
    var resolvingList = ControllerResolvingList() { didSet { isUnsettled = true } }
    /// The revision of the bonds and the key from which the list was last made.
    var resolvingListBasis: (revision: UInt64, localKey: Key128)?

    /// When the pace of advertising changes by itself, or changes that waited are free.
    private var paceDeadline: Instant?
    private var advertisingLimit = ChangeLimit()
    /// When high duty cycle directed advertising, which lasts 1.28 s, must have ended.
    var directedDeadline: Instant? { didSet { isUnsettled = true } }
    /// The controller refused to initiate while it scanned. From now on it only does one at a time.
    var mustNotInitiateWhileScanning = false { didSet { isUnsettled = true } }
    /// The length of filter accept list that the controller really accepts, if that is less than it reports.
    var acceptListLimit = Int.max { didSet { isUnsettled = true } }

    /// The links for whose beginning scanning rests.
    var setupQuiet = SetupQuiet() { didSet { isUnsettled = true } }
    var advertisingTurns = AdvertisingTurns() { didSet { isUnsettled = true } }
    var liveness = AdvertisingLiveness() { didSet { isUnsettled = true } }
    /// Whether the controller connects to anybody.
    var connectionWatch = ConnectionWatch()
    var connectsInVain = false

    /// What plans depend on outside of the radio, and which scans there are.
    struct Facts: Equatable {
        /// The revision of the bonds' keys.
        var bonds: UInt64 = 0
        var links: UInt64 = 0
        var scans: UInt64 = 0
        var traits: ControllerTraits = []
        var identityResolvingKey: Key128?
    }

    /// Always inlined into the caller, so that the radio is built in place: a call would return it by way of the stack.
    @inline(__always)
    init(configuration: SharedConfiguration) {
        shared = configuration
        let isExclusive = configuration.value.ownership == .exclusive
        scanner = Scanner(limits: configuration.value.limits)
        scanMachine = ScanMachine(
            isExclusive: isExclusive, pausesAfterRefusals: configuration.value.adaptsToController)
        initiator = Initiator(isExclusive: isExclusive)
    }

    /// Whether the controller neither scans, initiates nor advertises, and is not about to.
    var isIdle: Bool {
        scanMachine.isIdle && initiator.isIdle && advertisingMachine.isIdle && sets.isIdle && trains.isIdle
            && (!Features.users || guests.allSatisfy { $0.machine.isIdle })
    }

    /// Whether the radio has to pause: the controller accepts a new address or a change of the resolving list only
    /// while it is idle.
    var isPaused: Bool { Features.pairing && (privateAddress.isChanging || resolvingList.needsRadio) }

    /// Whether advertising uses the extended commands.
    var usesAdvertisingSets: Bool { advertisingCommands.isExtended }

    /// Whether the receiver can only scan or initiate.
    var doesOneAtATime: Bool { mustNotInitiateWhileScanning || !canInitiateWhileScanning }

    // MARK: The controller

    /// The controller is ready and still idle.
    mutating func begin(with information: ControllerInformation, traits: ControllerTraits) {
        knowsExtendedCommands = information.features.contains(.extendedAdvertising)
        (hasAcceptedLegacy, hasAcceptedExtended, hasTriedOther) = (false, false, false)
        scanAddress = .asChosen
        connectionRefusals = 0
        chooseCommands(traits)
        advertisingMachine = AdvertisingMachine(setsRandomAddress: advertisingCommands.isExtended)
        eventMask = EventMasks.le(for: information.features, configuration)
        canInitiateWhileScanning =
            information.canInitiateWhileScanning && !traits.contains(.refusesInitiatingWhileScanning)
            || traits.contains(.reportsWrongStates)
        filterAcceptListSize = Int(information.filterAcceptListSize)
        canScanOnCodedPHY =
            scanCommands.isExtended && information.features.contains(.leCodedPHY)
            && !traits.contains(.cannotScanOnCodedPHY)
        availablePHYs = .le1M
        if information.features.contains(.le2MPHY) { availablePHYs.insert(.le2M) }
        if information.features.contains(.leCodedPHY) { availablePHYs.insert(.leCoded) }
        // Controllers before 5.0 refuse less than 100 ms (Core 4.2, Vol 2, Part E, 7.8.5).
        let isOld = information.hciVersion < HCIVersion.core50.rawValue
        leastBeaconInterval = isOld ? AdvertisingInterval(rawValue: 0x00A0) : .least
        canScanUnrestricted = information.features.contains(.extendedScanningFilterPolicies)
        canSendSubevents = information.features.contains(.periodicAdvertisingWithResponsesAdvertiser)
        canReceiveSubevents = information.features.contains(.periodicAdvertisingWithResponsesScanner)
        let usesList = configuration.usesControllerResolution && configuration.ownership == .exclusive
        resolvingList = ControllerResolvingList(capacity: usesList ? information.resolvingListSize : 0)
        resolvingListBasis = nil
    }

    /// Chooses the commands for each use.
    mutating func chooseCommands(_ traits: ControllerTraits) {
        // Reports of the extended commands would be masked.
        let canUseExtended = knowsExtendedCommands && !traits.contains(.knowsOldEventMaskOnly)
        func choose(_ legacy: ControllerTraits) -> RadioCommandSet {
            canUseExtended && !traits.contains(legacy) ? .extended : .legacy
        }
        scanCommands = choose(.scansWithLegacyCommands)
        connectionCommands = choose(.initiatesWithLegacyCommands)
        let wasExtended = advertisingCommands.isExtended
        advertisingCommands = choose(.advertisesWithLegacyCommands)
        guard advertisingCommands.isExtended != wasExtended else { return }
        advertisingMachine = AdvertisingMachine(setsRandomAddress: advertisingCommands.isExtended)
    }

    /// The controller was reset or is gone: all its activities have ended, the wishes stay.
    mutating func controllerLost(into effects: inout Effects) {
        privateAddress = PrivateAddress()
        resolvingList = ControllerResolvingList()
        spareControllerThatFailed(effects.controller.traits, at: effects.now)
        scanMachine.controllerReset()
        reception.controllerReset()
        initiator.controllerReset()
        acceptListLimit = .max
        advertisingMachine.controllerReset()
        sets.controllerReset()
        loseGuests()
        loseTrains(into: &effects)
        isChannelMapNew = true
        directedDeadline = nil
        setupQuiet = SetupQuiet()
        advertisingTurns = AdvertisingTurns()
        liveness = AdvertisingLiveness()
        connectionWatch = ConnectionWatch()
        connectsInVain = false
    }

    // MARK: Wishes

    /// Takes a client's command.
    /// - Parameter isPresent: whether the target of directed advertising is already connected.
    mutating func perform(
        _ command: RadioCommand, operation: OperationID, client: ClientID, isPresent: Bool, into effects: inout Effects
    ) {
        switch command {
        case .scan(let request):
            scanner.add(request, operation: operation, client: client)
        case .changeScan(let scan, let request):
            Self.changed(scanner.change(scan, to: request), operation, into: &effects)
        case .changeAdvertising(let wish, let request):
            Self.changed(advertiser.change(wish, to: request, at: effects.now), operation, into: &effects)
        case .advertise(let request):
            advertise(request, operation: operation, client: client, isPresent: isPresent, into: &effects)
        case .connect(let request): connect(request, operation: operation, client: client, into: &effects)
        case .advertiseSet(let request):
            advertiseSet(request, operation: operation, client: client, into: &effects)
        case .changeAdvertisingSet(let set, let request):
            changeSet(set, to: request, operation, into: &effects)
        case .followPeriodicAdvertising(let request):
            follow(request, operation: operation, client: client, into: &effects)
        case .sendSubevents(let subevents, let set):
            sendSubevents(subevents, of: set, operation, client: client, into: &effects)
        case .respondInPeriodicAdvertising(let response, let train):
            respond(response, in: train, operation, client: client, into: &effects)
        case .classifyChannels(let map): classifyChannels(map, operation, into: &effects)
        // The host, which knows the links, carries these out.
        case .receivePeriodicSyncs, .transferPeriodicSync: effects.complete(operation, .failure(.notConnected))
        }
    }

    private static func changed(_ isThere: Bool, _ operation: OperationID, into effects: inout Effects) {
        guard isThere else { return effects.complete(operation, .failure(.cancelled)) }
        effects.complete(operation, .success(.done))
    }

    private mutating func connect(
        _ request: ConnectRequest, operation: OperationID, client: ClientID, into effects: inout Effects
    ) {
        let user = (Features.users ? request.user : nil) ?? effects.commands.users[client] ?? .common
        guard connector.hasRoom(for: client, user, limit: configuration.limits.pendingConnections) else {
            return effects.complete(operation, .failure(.limitReached))
        }
        connector.add(request, operation: operation, client: client, user: user)
    }

    /// Ends a scan, an advertisement or a pending connection.
    /// - Returns: whether the operation was one.
    mutating func cancel(_ operation: OperationID, into effects: inout Effects) -> Bool {
        if channelOperation == operation {
            channelOperation = nil
            effects.complete(operation, .failure(.cancelled))
            return true
        }
        guard
            scanner.remove(operation) || Features.server && advertiser.remove(operation)
                || Features.links && connector.remove(operation) != nil
                || removeSet(operation) || removeTrain(operation, into: &effects)
        else { return false }
        effects.complete(operation, .failure(.cancelled))
        return true
    }

    /// Ends every scan, every advertisement and every pending connection.
    mutating func endRequests(with failure: HostFailure, into effects: inout Effects) {
        for operation in scanner.removeAll() { effects.complete(operation, .failure(failure)) }
        scanMachine.endLimit()
        forgetReception()
        if Features.server {
            for operation in advertiser.removeAll() { effects.complete(operation, .failure(failure)) }
        }
        if Features.links {
            for pending in connector.removeAll() { effects.complete(pending.operation, .failure(failure)) }
        }
        if let channelOperation { effects.complete(channelOperation, .failure(failure)) }
        channelOperation = nil
        for operation in removeAllSets() { effects.complete(operation, .failure(failure)) }
        for operation in removeAllTrains(into: &effects) { effects.complete(operation, .failure(failure)) }
    }

    /// Tells the controller which channels links and trains may use; again after each reset.
    private mutating func classifyChannels(_ map: ChannelMap, _ operation: OperationID, into effects: inout Effects) {
        guard Features.links, configuration.ownership == .exclusive else {
            return effects.complete(operation, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
        guard map.rawValue & ~ChannelMap.all.rawValue == 0, map.rawValue.nonzeroBitCount >= 2 else {
            return effects.complete(operation, .failure(.invalidRequest(.channelMap)))
        }
        if let channelOperation { effects.complete(channelOperation, .failure(.cancelled)) }
        (channelMap, channelOperation) = (map, operation)
        isChannelMapNew = true
    }

    private mutating func convergeChannelMap(into effects: inout Effects) {
        guard let channelMap, isChannelMapNew else { return }
        let purpose = channelOperation.map { CommandPurpose.plain($0) } ?? .unattended
        (isChannelMapNew, channelOperation) = (false, nil)
        effects.commands.append(LESetHostChannelClassification(channelMap: channelMap), purpose: purpose)
    }

    // MARK: Convergence

    /// Brings the controller closer to what the clients want.
    /// - Parameters:
    ///   - resolving: the bonds whose peers may show private addresses.
    ///   - present: the targets of directed advertising that are connected.
    mutating func converge(resolving: [ResolvingKey], present: [DeviceAddress], into effects: inout Effects) {
        if Features.links { convergeChannelMap(into: &effects) }
        let (wasIdle, guestHandles, eventCount) = (isIdle, sets.guestHandles, effects.events.count)
        convergeTrains(into: &effects)
        advanceReception(into: &effects)
        convergeReceiver(resolving: resolving, into: &effects)
        reception.follow(receptionTerms)
        // Sets go first: a set that becomes free can carry the shared advertisement.
        convergeSets(into: &effects)
        convergeAdvertising(present: present, into: &effects)
        followLiveness(at: effects.now)
        validUntil = isPaused ? nil : earliest(earliest(scanMachine.postponedUntil, paceDeadline), receiverDeadline)
        validUntil = earliest(validUntil, earliest(setupQuiet.nextDeadline, advertisingTurns.nextDeadline))
        // What has ended or left may make room, and what needs an idle radio can begin.
        isUnsettled =
            isIdle && !wasIdle || sets.guestHandles != guestHandles || effects.events.count != eventCount
    }

    private var receiverDeadline: Instant? {
        let deadline = earliest(Features.links ? connector.nextDeadline : nil, receptionDeadline)
        return Features.trains ? earliest(deadline, trains.nextDeadline) : deadline
    }

    private mutating func convergeReceiver(resolving: [ResolvingKey], into effects: inout Effects) {
        guard !isPaused else {
            wantScan(nil, mustYield: true, into: &effects)
            guard Features.links else { return }
            return want(nil, into: &effects)
        }
        guard Features.links else {
            var wantsScan = scanner.parameters(timing: configuration.timing)
            adapt(&wantsScan, to: effects.controller.traits)
            updateTurns(isScanWanted: wantsScan != nil, into: &effects)
            return wantScan(scanRests ? nil : wantsScan, mustYield: scanRests, into: &effects)
        }
        let foundByHost = peersFoundByHost(resolving)
        var wantsScan = wantedScan(foundByHost)
        adapt(&wantsScan, to: effects.controller.traits)
        if !setupQuiet.isEmpty { setupQuiet.advance(to: effects.now) }
        updateTurns(isScanWanted: wantsScan != nil, into: &effects)
        let plan = wantedConnection(foundByHost, isScanWanted: wantsScan != nil, at: effects.now)
        // If the controller can only do one of them, scanning stops for a connection attempt, and the attempt waits
        // until scanning is off.
        let isInitiatorNeeded = plan != nil || initiator.isBusy
        let mustYield = scanRests || isInitiatorNeeded && (doesOneAtATime || scanMachine.scansAcceptList)
        let mayScan = !scanRests && !(doesOneAtATime && isInitiatorNeeded)
        wantScan(mayScan ? wantsScan : nil, mustYield: mustYield, into: &effects)
        let mayInitiate = (!doesOneAtATime || scanMachine.isIdle) && !scanMachine.scansAcceptList
        want(mayInitiate ? plan : nil, into: &effects)
    }

    // Separate functions, never inlined, so that their temporaries do not share one stack frame.

    @inline(never)
    private mutating func wantScan(_ scan: ScanParameters?, mustYield: Bool, into effects: inout Effects) {
        perform(scanMachine.want(scan, mustYield: mustYield, at: effects.now), into: &effects)
    }

    @inline(never)
    private mutating func want(_ plan: Initiator.Plan?, into effects: inout Effects) {
        perform(initiator.want(plan, isAwaited: plan == nil && isAttemptAwaited, at: effects.now), into: &effects)
    }

    /// Whether clients wait for a device that the controller tries to connect to. An attempt may have to make way for
    /// a scan, but not as often as a client begins and ends one.
    private var isAttemptAwaited: Bool {
        guard !isPaused, !connector.isEmpty, let plan = initiator.attempt else { return false }
        return connector.pending.contains { plan.includes($0.request.peer) }
    }

    /// How to scan for the clients, for devices that the host has to find itself, and for trains; `nil`: not at all.
    @inline(never)
    private mutating func wantedScan(_ foundByHost: [DeviceAddress]) -> ScanParameters? {
        var wantsScan = scanner.parameters(timing: configuration.timing)
        if wantsScan == nil, connector.needsScan(for: foundByHost) || Features.trains && trains.needsScan {
            wantsScan = ScanParameters(isActive: false, duty: configuration.timing.foregroundScan)
        }
        if Features.trains, trains.needsScan, trains.scansCodedPHY { wantsScan?.isOnCodedPHY = true }
        if !canScanOnCodedPHY { wantsScan?.isOnCodedPHY = false }
        if !canScanUnrestricted { wantsScan?.isUnrestricted = false }
        if let listed = wantsScan?.acceptList, !listed.isEmpty, !canFilterScan(for: listed, except: foundByHost) {
            wantsScan?.acceptList = []
        }
        return wantsScan
    }

    /// The attempts to connect that are due.
    @inline(never)
    private mutating func wantedConnection(
        _ foundByHost: [DeviceAddress], isScanWanted: Bool, at now: Instant
    ) -> Initiator.Plan? {
        connector.plan(
            timing: configuration.timing, policy: configuration.pendingConnections,
            acceptListSize: min(filterAcceptListSize, acceptListLimit), onSight: doesOneAtATime && isScanWanted,
            resolving: configuration.ownership == .exclusive ? foundByHost : [], at: now)
    }

    /// Whether the filter accept list can be the scan's: connection attempts have it first, and the controller must
    /// know each device by the address that is in the list.
    private func canFilterScan(for listed: [DeviceAddress], except foundByHost: [DeviceAddress]) -> Bool {
        guard configuration.ownership == .exclusive, listed.count <= min(filterAcceptListSize, acceptListLimit),
            connector.isEmpty, initiator.isIdle, !trains.needsScan
        else { return false }
        return !listed.contains { $0.isResolvablePrivate || foundByHost.contains($0) }
    }

    private mutating func convergeAdvertising(present: [DeviceAddress], into effects: inout Effects) {
        guard Features.server else { return }
        paceDeadline = nil
        advertiser.pause(present)
        convergeGuests(into: &effects)
        guard !isPaused, !advertisingRests else { return perform(advertisingMachine.want(nil), into: &effects) }
        endImpossibleDirected(into: &effects)
        let plan = advertisingPlan(at: effects.now)
        reportRoom(into: &effects)
        paceDeadline = advertiser.nextDeadline(timing: configuration.timing, after: effects.now)
        let limited = plan.map { limitedByUsers($0, effects.commands.users, at: effects.now) }
        perform(advertisingMachine.want(limited), into: &effects)
    }

    @inline(never)
    private mutating func advertisingPlan(at now: Instant) -> AdvertisingMachine.Plan? {
        advertiser.plan(
            timing: configuration.timing, settings: configuration.advertising, ownAddressType: hostAddressType, at: now
        ).map { adapted($0) }
    }

    /// Directed advertisements that this controller cannot send.
    @inline(never)
    private mutating func endImpossibleDirected(into effects: inout Effects) {
        while let target = advertiser.target, target.form == .extended, !advertisingCommands.isExtended {
            let opcode = LESetExtendedAdvertisingParameters.opcode
            endDirected(target, .failure(.controller(.unsupportedFeatureOrParameterValue, opcode)), into: &effects)
        }
    }

    /// Advertising ends, and begins again, for other parameters. Where users share it, they wait while changes are
    /// limited: what is on the air goes on with the new data.
    private mutating func limitedByUsers(
        _ plan: AdvertisingMachine.Plan, _ users: ClientUsers, at now: Instant
    ) -> AdvertisingMachine.Plan {
        guard Features.users, !users.isEmpty, let current = advertisingMachine.planInForce?.parameters,
            current != plan.parameters, current.target == nil, plan.parameters.target == nil,
            current.isScannable || !plan.parameters.isScannable
        else { return plan }
        var plan = plan
        if let opening = advertisingLimit.opens(after: now) {
            plan.parameters = current
            paceDeadline = earliest(paceDeadline, opening)
        } else if advertisingMachine.wanted?.parameters != plan.parameters {
            advertisingLimit.spend(at: now)
        }
        return plan
    }

    /// What this controller can do of a plan, with the address that its target expects.
    func adapted(_ plan: AdvertisingMachine.Plan) -> AdvertisingMachine.Plan {
        var plan = plan
        if let target = plan.parameters.target {
            plan.parameters.ownAddressType = ownAddressType(towards: target.peer)
        }
        if !plan.parameters.isConnectable {
            plan.parameters.interval = max(plan.parameters.interval, leastBeaconInterval)
        }
        return plan
    }

    // MARK: Time

    /// Mutating, so that the caller does not copy the radio to read it.
    /// - Parameter isReady: whether the controller accepts commands; most timers stand still while it does not.
    mutating func nextDeadline(isReady: Bool) -> Instant? {
        var deadline = Features.links ? initiator.nextDeadline : nil
        guard isReady else { return deadline }
        deadline = earliest(deadline, validUntil)
        if Features.server {
            deadline = earliest(deadline, advertisingMachine.nextDeadline)
            deadline = earliest(deadline, directedDeadline)
            deadline = earliest(deadline, guestDeadline)
        }
        if Features.server { deadline = earliest(deadline, liveness.deadline) }
        if Features.sets { deadline = earliest(deadline, sets.nextDeadline) }
        return Features.pairing ? earliest(deadline, privateAddress.nextDeadline) : deadline
    }

    /// When a scan has to go on, or a discovery must not wait any longer: each report moves it.
    var scanDeadline: Instant? {
        mutating get { earliest(earliest(silenceDeadline, scanMachine.pausedUntil), scanner.nextDeadline) }
    }

    mutating func advance(isReady: Bool, identityResolvingKey: Key128?, into effects: inout Effects) {
        if Features.pairing, isReady, let deadline = privateAddress.nextDeadline, deadline <= effects.now {
            makePrivateAddress(with: identityResolvingKey, into: &effects)
        }
        if let until = scanMachine.pausedUntil, until <= effects.now {
            perform(scanMachine.resume(at: effects.now), into: &effects)
        }
        if let deadline = silenceDeadline, deadline <= effects.now { silenceLasted(into: &effects) }
        scanner.advance(to: effects.now, into: &effects.events)
        if Features.links, let deadline = initiator.nextDeadline, deadline <= effects.now {
            perform(initiator.advance(to: effects.now), into: &effects)
        }
        guard Features.server else { return }
        if let deadline = advertisingMachine.nextDeadline, deadline <= effects.now {
            perform(advertisingMachine.advance(to: effects.now), into: &effects)
        }
        // Asked for the deadline first: what changes the machine, even into itself, makes the plans be made again.
        if isReady, let deadline = liveness.deadline, deadline <= effects.now { advanceLiveness(into: &effects) }
        advanceDirected(into: &effects)
        advanceGuests(into: &effects)
        advanceSets(into: &effects)
    }
}
