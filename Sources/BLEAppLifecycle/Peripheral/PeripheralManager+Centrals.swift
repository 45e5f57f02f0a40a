import BLEHost
import BLEPackets

/// Requests of centrals to the services, and the updates that they receive.
extension PeripheralManager {
    // MARK: Requests of centrals

    mutating func read(_ request: GATTReadRequest, by central: CentralDescription, into effects: inout ManagerEffects) {
        guard let characteristic = characteristic(with: request.handle) else { return refuse(request.id, &effects) }
        questions.append(Question(id: request.id, isRead: true))
        effects.deliver(
            .readRequest(
                CentralReadRequest(
                    id: ATTRequestID(rawValue: request.id.rawValue), central: central, characteristic: characteristic,
                    offset: request.offset)), to: client)
    }

    mutating func written(
        _ request: GATTWriteRequest, by central: CentralDescription, into effects: inout ManagerEffects
    ) {
        let writes = request.writes.compactMap { write in
            characteristic(with: write.handle).map {
                CentralWriteRequests.Write(characteristic: $0, offset: write.offset, value: write.value)
            }
        }
        guard writes.count == request.writes.count, !writes.isEmpty else { return refuse(request.id, &effects) }
        questions.append(Question(id: request.id, isRead: false, needsAnswer: request.needsAnswer))
        if questions.count > Self.questionLimit { questions.removeFirst() }
        effects.deliver(
            .writeRequests(
                CentralWriteRequests(
                    id: ATTRequestID(rawValue: request.id.rawValue), central: central, writes: writes)), to: client)
    }

    private func refuse(_ id: GATTRequestID, _ effects: inout ManagerEffects) {
        effects.submit(.server(.respond(id, .failure(.unlikelyError))), from: .system)
    }

    mutating func respond(_ id: ATTRequestID, _ code: UInt8, _ value: [UInt8], _ effects: inout ManagerEffects) {
        guard let place = questions.firstIndex(where: { $0.id.rawValue == id.rawValue }) else {
            return effects.log(.requestAlreadyAnswered, of: app)
        }
        let question = questions.remove(at: place)
        let answer: GATTAnswer =
            code != 0 ? .failure(ATTError(rawValue: code)) : question.isRead ? .value(value) : .success
        effects.submit(.server(.respond(question.id, answer)), from: client, for: .respond(client))
    }

    /// The engine has responded itself, because the app took too long.
    /// - Returns: whether the request was the app's.
    mutating func expired(_ id: GATTRequestID, into effects: inout ManagerEffects) -> Bool {
        guard let place = questions.firstIndex(where: { $0.id == id }) else { return false }
        questions.remove(at: place)
        effects.log(.requestNotAnswered, of: app)
        return true
    }

    /// Whether centrals wait for answers of the app.
    var owesAnswers: Bool { questions.contains { $0.needsAnswer } }

    /// The app is suspended: requests that it has received end.
    /// - Returns: these requests, for which there is no answer from the app any more.
    mutating func suspended(isWaiting: (GATTRequestID) -> Bool) -> [GATTRequestID] {
        let ended = questions.filter { $0.needsAnswer && !isWaiting($0.id) }.map(\.id)
        questions.removeAll { ended.contains($0.id) }
        return ended
    }

    /// The process has ended: requests that the next process does not receive are rejected.
    mutating func processEnded(isWaiting: (GATTRequestID) -> Bool, into effects: inout ManagerEffects) {
        for question in questions where !isWaiting(question.id) {
            effects.submit(.server(.respond(question.id, .failure(.unlikelyError))), from: client)
        }
        questions.removeAll { !isWaiting($0.id) }
    }

    // MARK: Subscriptions

    /// Whether a subscription is new and to a characteristic of this manager. A different mode does not make it new.
    func isNew(_ subscription: GATTSubscription) -> Bool {
        guard let characteristic = characteristic(with: subscription.handle) else { return false }
        return !subscriptions.contains { $0.link == subscription.link && $0.characteristic == characteristic }
    }

    mutating func subscribed(
        _ subscription: GATTSubscription, by central: PeerIdentifier, at address: DeviceAddress,
        into effects: inout ManagerEffects
    ) {
        guard let characteristic = characteristic(with: subscription.handle) else { return }
        let added = Subscription(
            link: subscription.link, address: address, central: central, characteristic: characteristic,
            maximumUpdateLength: subscription.maximumUpdateLength)
        subscriptions.append(added)
        effects.deliver(.subscribed(added.description(of: central), characteristic: characteristic), to: client)
    }

    /// The stored subscription; `nil` if it is unknown.
    func known(_ subscription: GATTSubscription) -> Subscription? {
        guard let characteristic = characteristic(with: subscription.handle) else { return nil }
        return subscriptions.first { $0.link == subscription.link && $0.characteristic == characteristic }
    }

    mutating func unsubscribed(
        _ subscription: Subscription, by central: PeerIdentifier, into effects: inout ManagerEffects
    ) {
        guard let place = subscriptions.firstIndex(of: subscription) else { return }
        subscriptions.remove(at: place)
        effects.deliver(
            .unsubscribed(subscription.description(of: central), characteristic: subscription.characteristic),
            to: client)
    }

    /// Removes the subscriptions of a central that has disconnected.
    mutating func centralGone(_ link: LinkID) { subscriptions.removeAll { $0.link == link } }

    /// The identity of a private address is now known.
    mutating func rename(_ address: DeviceAddress, to identity: DeviceAddress) {
        for place in subscriptions.indices where subscriptions[place].address == address {
            subscriptions[place].address = identity
        }
    }

    // MARK: Updates

    func update(
        _ characteristic: LocalAttributeID, _ value: [UInt8], _ links: [LinkID]?, _ query: QueryID,
        _ effects: inout ManagerEffects
    ) {
        guard let handle = valueHandle(of: characteristic) else {
            effects.log(.unknownAttribute, of: app)
            return effects.deliver(.updateQueued(query, false), to: client)
        }
        effects.submit(
            .server(.updateValue(handle, value: value, links: links)), from: client, for: .update(client, query))
    }

    /// The engine has accepted a value, or has no room for it.
    mutating func updated(
        _ query: QueryID, _ result: Result<Bool, HostFailure>, into effects: inout ManagerEffects
    ) {
        let isTaken = result == .success(true)
        if !isTaken { owesReadiness = true }
        effects.deliver(.updateQueued(query, isTaken), to: client)
    }

    /// The engine has room for values again.
    mutating func readyToUpdate(into effects: inout ManagerEffects) {
        guard owesReadiness else { return }
        owesReadiness = false
        effects.deliver(.readyToUpdateSubscribers, to: client)
    }
}
