import BLEHost
import BLEMessages
import BLEPackets

/// Tools in the peripheral role, and on channels: each command is checked to be about what is the client's own.
extension ToolSession {
    /// How the pairings are done that the client makes necessary.
    mutating func servePairing(_ options: PairingOptions, _ number: OperationID) {
        var options = options
        if !isOperator { options.replacesBond = false }
        // What an ordinary user requires does not keep bonds of other users' pairings from its values: it cannot rely on
        // it as a server.
        let demands = !isOperator && !options.isPlain
        guard !demands || !serving.hasBegun else { return refuse(number) }
        requiresOfOwnPairings = demands
        outputs.append(.pairing(options))
        complete(number, .success(.done))
    }

    mutating func capture(_ isOn: Bool, _ number: OperationID) {
        guard isOperator else { return refuse(number) }
        outputs.append(.capture(isOn))
        complete(number, .success(.done))
    }

    private mutating func refuse(_ number: OperationID) {
        complete(number, .failure(.invalidRequest(.notPermitted)))
    }

    /// Whether it may offer anything to centrals; otherwise the request fails.
    private mutating func mayServe(_ number: OperationID) -> Bool {
        guard requiresOfOwnPairings else { return true }
        refuse(number)
        return false
    }

    mutating func advertise(_ command: HostCommand, _ number: OperationID) {
        guard mayServe(number) else { return }
        guard serving.advertisements.count < limits.advertisements else {
            return complete(number, .failure(.limitReached))
        }
        beginServing()
        serving.advertises(number)
        submit(command, number)
        outputs.append(.advertises)
    }

    mutating func receive(_ command: ServerCommand, _ number: OperationID) {
        switch command {
        case .publish(let service):
            guard mayServe(number) else { return }
            guard serving.serviceCount < limits.services,
                serving.attributeCount + service.attributeCount <= limits.attributes
            else { return complete(number, .failure(.limitReached)) }
            if let stranger = service.includedServices.first(where: { !serving.isService($0) }) {
                return complete(number, .failure(.publishing(.includedServiceUnknown(stranger))))
            }
            beginServing()
            serving.publishes(service, number)
        case .removeService(let handle):
            guard serving.isService(handle) else {
                return complete(number, .failure(.publishing(.unknownService(handle))))
            }
            serving.removes(handle, number)
        case .setDeviceName(let name):
            guard isOperator else { return complete(number, .failure(.invalidRequest(.notPermitted))) }
            outputs.append(.deviceName(name))
        case .respond(let question, _):
            guard serving.answers(question) else { return complete(number, .success(.accepted(false))) }
        case .updateValue(let handle, _, _):
            guard serving.owns(handle) else {
                return complete(number, .failure(.publishing(.unknownService(handle))))
            }
        case .disableServices:
            return complete(number, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
        submit(.server(command), number)
    }

    mutating func receive(_ command: ChannelCommand, _ number: OperationID) {
        switch command {
        case .listen:
            guard mayServe(number) else { return }
            guard serving.channelCount < limits.channels else { return complete(number, .failure(.limitReached)) }
            beginServing()
            serving.opens(number)
        case .stopListening(let spsm):
            guard serving.listeners.contains(spsm) else {
                return complete(number, .failure(.channel(.invalidSPSM)))
            }
            serving.stopsListening(spsm)
        case .open(let link, _, _):
            guard holds(link) else { return complete(number, .failure(.notConnected)) }
            guard serving.channelCount < limits.channels else { return complete(number, .failure(.limitReached)) }
            serving.opens(number)
        case .openEnhanced(let link, _, _, let count):
            guard holds(link) else { return complete(number, .failure(.notConnected)) }
            guard serving.channelCount + count <= limits.channels else {
                return complete(number, .failure(.limitReached))
            }
            serving.opens(number, count: count)
        case .reconfigure(let channels, _, _):
            guard channels.allSatisfy({ serving.channels.contains($0) }) else {
                return complete(number, .failure(.channel(.notOpen)))
            }
        case .send(let channel, _), .consume(let channel, _), .close(let channel):
            guard serving.channels.contains(channel) else { return complete(number, .failure(.channel(.notOpen))) }
        }
        submit(.channel(command), number)
    }

    mutating func beginServing() {
        guard !serving.hasBegun else { return }
        serving.hasBegun = true
        outputs.append(.serves)
    }

    // MARK: From the daemon

    /// The centrals that are connected when the client begins to serve.
    package mutating func serves(among centrals: [LinkInformation]) {
        for central in centrals where serving.connected(central.id) { pass(.centralConnected(central)) }
    }

    /// Whether the controller advertises; told to a client that wants it to, when it changes for this client.
    package mutating func controllerAdvertises(_ isAdvertising: Bool) {
        guard !serving.advertisements.isEmpty, serving.toldAdvertising != isAdvertising else { return }
        serving.toldAdvertising = isAdvertising
        pass(.advertisingChanged(isAdvertising: isAdvertising))
    }

    /// What of an advertisement of this client finds no room beside those of other users.
    mutating func hear(_ room: AdvertisingRoom, of operation: OperationID) {
        guard let number = number(of: operation) else { return }
        send(.advertisingRoom(number, room))
    }

    /// Something happens in a pairing that is this client's, or about which it is asked.
    mutating func takesPartInPairing(_ event: PairingEvent, on link: LinkID) {
        questions.hear(event, on: link)
        pass(.pairing(link, event))
    }
}
