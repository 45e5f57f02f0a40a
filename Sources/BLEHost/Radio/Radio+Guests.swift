import BLEPackets

/// Directed and raw advertisements of users beside others, each in an advertising set (`Advertiser+Users`).
extension Radio {
    /// Whether anything is advertised for clients, apart from their own sets.
    var isAdvertising: Bool {
        advertisingMachine.isAdvertising || advertisingTurns.keepsAdvertising
            || Features.users && guests.contains { $0.machine.isAdvertising }
    }

    /// Tells the owner if advertising has begun or ended.
    func reportAdvertising(before wasAdvertising: Bool, into effects: inout Effects) {
        guard isAdvertising != wasAdvertising else { return }
        effects.events.append(.advertisingChanged(isAdvertising: isAdvertising))
    }

    /// Tells clients what of their advertisements finds no room.
    mutating func reportRoom(into effects: inout Effects) {
        guard Features.users, !advertiser.news.isEmpty else { return }
        for (operation, client, room) in advertiser.news {
            effects.events.append(.advertisingRoom(operation, client, room))
        }
        advertiser.news.removeAll()
    }

    // MARK: Convergence

    /// Before the shared advertisement, which guests leave.
    mutating func convergeGuests(into effects: inout Effects) {
        guard Features.users else { return }
        advertiser.findGuests()
        guard !advertiser.guests.isEmpty || !guests.isEmpty else { return }
        for user in advertiser.guests where !guests.contains(where: { $0.user == user }) {
            admit(user, into: &effects)
        }
        let handles = guests.map { $0.handle }
        for handle in handles { converge(handle, into: &effects) }
    }

    /// Gives a guest a set, if there is one.
    private mutating func admit(_ user: Advertiser.User, into effects: inout Effects) {
        guard Features.sets, advertisingCommands.isExtended else { return refuse(user, into: &effects) }
        askSetCapacity(into: &effects)
        guard let capacity = sets.capacity else { return }
        let isShared = !advertiser.shared.isEmpty || advertisingMachine.usesController
        let isKept = configuration.keepsSharedAdvertisement && capacity.sets > 1
        let taken = sets.entries.count + guests.count + (isShared || isKept ? 1 : 0)
        guard taken < capacity.sets, let handle = sets.freeHandle else {
            let isOneLeaving = sets.entries.contains { $0.isLeaving } || guests.contains { isLeaving($0) }
            return isOneLeaving ? () : refuse(user, into: &effects)
        }
        guests.append(AdvertisingGuest(user: user, handle: handle))
        sets.guestHandles.append(handle)
    }

    private mutating func refuse(_ user: Advertiser.User, into effects: inout Effects) {
        for operation in advertiser.refuse(user) { effects.complete(operation, .failure(.limitReached)) }
    }

    private func isLeaving(_ guest: AdvertisingGuest) -> Bool { !advertiser.guests.contains(guest.user) }

    private mutating func converge(_ handle: UInt8, into effects: inout Effects) {
        guard let index = index(ofGuest: handle) else { return }
        let wasAdvertising = isAdvertising
        let plan =
            isPaused || advertisingRests || isLeaving(guests[index])
            ? nil : guestPlan(of: guests[index].user, at: effects.now)
        perform(guests[index].machine.want(plan), onGuest: handle, into: &effects)
        reportAdvertising(before: wasAdvertising, into: &effects)
        removeIfGone(handle, into: &effects)
    }

    private mutating func guestPlan(of user: Advertiser.User, at now: Instant) -> AdvertisingMachine.Plan? {
        let plan = advertiser.plan(
            of: user, timing: configuration.timing, settings: configuration.advertising,
            ownAddressType: hostAddressType, at: now)
        return plan.map { adapted($0) }
    }

    private mutating func removeIfGone(_ handle: UInt8, into effects: inout Effects) {
        guard let index = index(ofGuest: handle), isLeaving(guests[index]), guests[index].machine.isIdle else { return }
        if guests[index].machine.usesController {
            effects.commands.append(LERemoveAdvertisingSet(advertisingHandle: handle), purpose: .unattended)
        }
        guests.remove(at: index)
        sets.guestHandles.removeAll { $0 == handle }
    }

    private func index(ofGuest handle: UInt8) -> Int? { guests.firstIndex { $0.handle == handle } }

    mutating func loseGuests() {
        guard Features.users else { return }
        guests.removeAll()
        sets.guestHandles.removeAll()
    }

    // MARK: Commands

    private mutating func perform(
        _ action: AdvertisingMachine.Action, onGuest handle: UInt8, into effects: inout Effects
    ) {
        let purpose = CommandPurpose.advertisingSet(handle)
        switch action {
        case .none: break
        case .setParameters(let parameters):
            effects.commands.append(LESetExtendedAdvertisingParameters(parameters, handle: handle), purpose: purpose)
        case .removeSet:
            effects.commands.append(LERemoveAdvertisingSet(advertisingHandle: handle), purpose: purpose)
        case .setRandomAddress:
            guard let ownAddress else { return }
            effects.commands.append(
                LESetAdvertisingSetRandomAddress(advertisingHandle: handle, address: ownAddress), purpose: purpose)
        case .setAdvertisement(let data):
            effects.commands.append(
                LESetExtendedAdvertisingData(advertisingHandle: handle, data: data), purpose: purpose)
        case .setScanResponse(let data):
            effects.commands.append(
                LESetExtendedScanResponseData(advertisingHandle: handle, data: data), purpose: purpose)
        case .setEnabled(let isEnabled):
            let isHighDuty = isEnabled && call(ofGuest: handle)?.form == .highDutyCycle
            effects.commands.append(
                LESetExtendedAdvertisingEnable(
                    isEnabled: isEnabled,
                    sets: [
                        .init(
                            advertisingHandle: handle, duration: isHighDuty ? Self.highDutyDuration : 0,
                            maximumEvents: 0)
                    ]), purpose: purpose)
        case .fail(let status):
            guard let index = index(ofGuest: handle) else { return }
            let failure = HostFailure.controller(status, LESetExtendedAdvertisingEnable.opcode)
            for operation in advertiser.refuse(guests[index].user) { effects.complete(operation, .failure(failure)) }
        }
    }

    private func call(ofGuest handle: UInt8) -> AdvertisingTarget? {
        index(ofGuest: handle).flatMap { guests[$0].machine.planInForce?.parameters.target }
    }

    /// The controller answered a command about a guest's set, or did not answer it.
    /// - Returns: whether the set is a guest's.
    mutating func guestAnswered(_ handle: UInt8, _ status: HCIStatus, into effects: inout Effects) -> Bool {
        guard Features.users, let index = index(ofGuest: handle) else { return false }
        let wasAdvertising = isAdvertising
        perform(guests[index].machine.completed(status, at: effects.now), onGuest: handle, into: &effects)
        reportAdvertising(before: wasAdvertising, into: &effects)
        if let index = self.index(ofGuest: handle) {
            let isCalling = guests[index].machine.isAdvertising && call(ofGuest: handle)?.form == .highDutyCycle
            guests[index].directedDeadline =
                isCalling ? guests[index].directedDeadline ?? effects.now.advanced(by: Self.directedTimeout) : nil
        }
        removeIfGone(handle, into: &effects)
        return true
    }

    /// The controller ended a guest's set: a central connected, or its time is over.
    /// - Returns: whether the set is a guest's.
    mutating func guestEnded(_ handle: UInt8, byConnection: Bool, into effects: inout Effects) -> Bool {
        guard Features.users, let index = index(ofGuest: handle) else { return false }
        let (wasAdvertising, user) = (isAdvertising, guests[index].user)
        let call = call(ofGuest: handle)
        guests[index].directedDeadline = nil
        perform(guests[index].machine.ended(), onGuest: handle, into: &effects)
        reportAdvertising(before: wasAdvertising, into: &effects)
        if let call, byConnection || call.form == .highDutyCycle {
            endDirected(call, of: user, byConnection: byConnection, into: &effects)
        }
        if byConnection {
            for operation in advertiser.centralConnected(to: user, at: effects.now) {
                effects.complete(operation, .success(.done))
            }
        }
        return true
    }

    private mutating func endDirected(
        _ call: AdvertisingTarget, of user: Advertiser.User, byConnection: Bool, into effects: inout Effects
    ) {
        let result: Result<HostResult, HostFailure> =
            byConnection ? .success(.done) : .failure(.connectionFailed(.advertisingTimeout))
        for operation in advertiser.directedEnded(call, of: user, hasCome: byConnection) {
            effects.complete(operation, result)
        }
    }

    /// Whether a guest's directed advertising at the high duty cycle is on, and no other.
    var isGuestDirected: Bool {
        guard Features.users, advertisingMachine.planInForce?.parameters.target?.form != .highDutyCycle else {
            return false
        }
        return guests.contains { $0.machine.planInForce?.parameters.target?.form == .highDutyCycle }
    }

    // MARK: Time

    /// A central's link has ended: it may be possible to advertise again.
    mutating func proceedWithGuests(into effects: inout Effects) {
        guard Features.users else { return }
        let handles = guests.map { $0.handle }
        for handle in handles {
            guard let index = index(ofGuest: handle) else { continue }
            perform(guests[index].machine.proceed(), onGuest: handle, into: &effects)
        }
    }

    var guestDeadline: Instant? {
        Features.users
            ? guests.reduce(nil) { earliest(earliest($0, $1.machine.nextDeadline), $1.directedDeadline) } : nil
    }

    mutating func advanceGuests(into effects: inout Effects) {
        guard Features.users, let deadline = guestDeadline, deadline <= effects.now else { return }
        let handles = guests.map { $0.handle }
        for handle in handles {
            guard let index = index(ofGuest: handle) else { continue }
            perform(guests[index].machine.advance(to: effects.now), onGuest: handle, into: &effects)
            guard let index = self.index(ofGuest: handle), let deadline = guests[index].directedDeadline,
                deadline <= effects.now
            else { continue }
            guests[index].directedDeadline = nil
            if let call = call(ofGuest: handle) {
                endDirected(call, of: guests[index].user, byConnection: false, into: &effects)
            }
        }
    }
}
