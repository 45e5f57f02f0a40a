import BLEHost
import BLEPackets

/// Advertisements of clients (`LEAdvertisingManager1`).
extension BlueZService {
    /// Without advertising sets, one advertisement is on the air, and they take turns as with the kernel. Of controllers with
    /// sets, some have fewer than the advertisements that an adapter may have, and say so when there is no room.
    private func takesTurns(_ number: Int) -> Bool { adapters[number]?.information.usesExtendedCommands != true }

    func advertisingProperties(of adapter: AdapterRoom) -> [(name: String, value: BusValue)] {
        let capabilities: [(name: String, value: BusValue)] = [
            ("MaxAdvLen", .byte(31)), ("MaxScnRspLen", .byte(31)), ("MinTxPower", .int16(-34)),
            ("MaxTxPower", .int16(7)),
        ]
        return instances(at: adapter.number) + [
            ("SupportedIncludes", .strings(["tx-power", "appearance", "local-name"])),
            ("SupportedSecondaryChannels", .strings([])),
            ("SupportedCapabilities", .properties(capabilities)), ("SupportedFeatures", .strings([])),
        ]
    }

    private func instances(at number: Int) -> [(name: String, value: BusValue)] {
        let count = advertisements.filter { $0.number == number && $0.state == .active }.count
        return [
            ("ActiveInstances", .byte(UInt8(clamping: count))),
            ("SupportedInstances", .byte(UInt8(clamping: Advertisement.limits.all - count))),
        ]
    }

    private mutating func showInstances(at number: Int) {
        guard let adapter = adapters[number] else { return }
        tree.set(
            instances(at: number).map { ($0.name, $0.value) }, InterfaceName.advertisingManager, of: adapter.path)
    }

    mutating func receiveAdvertisingManager(_ call: BusCall) {
        guard let number = adapterNumber(call.path) else { return refuse(call, .unknownObject(call.path)) }
        guard call.member != Advertisement.method || adapters[number]?.isPowered == true else {
            return refuse(call, .notReady)
        }
        switch registration(call, in: \.advertisements, at: number) {
        case .new:
            let path = call.text(at: 0)
            // BlueZ's library looks for objects below the advertisement; what it finds is of no interest.
            tell("GetManagedObjects", [], call.sender, path, InterfaceName.objectManager)
            askForProperties(call.sender, path, .advertisement(path: path, number))
        case .end(let place):
            guard advertisements[place].state == .active else { return refuse(call, .doesNotExist) }
            endAdvertisement(place)
            endWish(of: call.sender)
            reply(to: call)
        case nil: break
        }
    }

    private mutating func askForProperties(_ client: String, _ path: String, _ purpose: OpenQuestion.Purpose) {
        ask(
            BusRequest(
                destination: client, path: path, interface: InterfaceName.properties, member: "GetAll",
                arguments: [.string(InterfaceName.advertisement)]), purpose)
    }

    /// The client says what it advertises.
    mutating func advertisementShown(
        _ client: String, _ path: String, _ number: Int, _ answer: Result<[BusValue], BusError>
    ) {
        guard let place = advertisements.place(client, path, number), advertisements[place].state == .loading else {
            return
        }
        do throws(BusError) {
            guard case .success(let values) = answer, let properties = values.first?.options else {
                throw AdvertisementContent.unusable
            }
            advertisements[place].content = try AdvertisementContent(properties)
            _ = try set(of: advertisements[place])
        } catch {
            return failAdvertisement(place, error)
        }
        advertisements[place].state = .starting
        startAdvertisements(at: number)
    }

    /// Puts those on the air that are not there and should be; where they take turns, one.
    private mutating func startAdvertisements(at number: Int) {
        guard adapters[number]?.isPowered == true else { return }
        for place in advertisements.indices where advertisements[place].number == number {
            let advertisement = advertisements[place]
            guard advertisement.state != .loading, advertisement.ticket == nil,
                !takesTurns(number) || onAir(at: number) == nil, let request = try? set(of: advertisement)
            else { continue }
            let ticket = submit(
                .radio(.advertiseSet(request)), to: number, .advertise(advertisement.client, advertisement.path))
            advertisements[place].ticket = ticket
            // A controller that advertises already, for others, says nothing when it goes on.
            if takesTurns(number) { adapters[number]?.turnEnd = now.advanced(by: .seconds(1)) }
        }
        beginWaiting(at: number)
    }

    private func set(of advertisement: Advertisement) throws(BusError) -> AdvertisingSetRequest {
        let adapter = adapters[advertisement.number]
        return try advertisement.content.set(
            name: adapter?.alias ?? settings.hostName, isDiscoverable: adapter?.isDiscoverable ?? false)
    }

    private mutating func failAdvertisement(_ place: Int, _ error: BusError) {
        let advertisement = advertisements[place]
        endAdvertisement(place)
        failed(advertisement, error)
    }

    /// What happens to an advertising set.
    mutating func receive(_ event: AdvertisingSetEvent, of ticket: Ticket) {
        guard let place = advertisements.firstIndex(where: { $0.ticket == ticket }),
            advertisements[place].state == .starting, case .started = event
        else { return }
        begin(place)
        beginWaiting(at: advertisements[place].number)
    }

    private mutating func begin(_ place: Int) {
        advertisements[place].state = .active
        let advertisement = advertisements[place]
        if advertisement.content.timeout > 0 {
            advertisements[place].end = now.advanced(by: .seconds(Int32(advertisement.content.timeout)))
        }
        showInstances(at: advertisement.number)
        registered(place, in: \.advertisements)
    }

    // MARK: Turns

    private func onAir(at number: Int) -> Int? {
        advertisements.firstIndex { $0.number == number && $0.ticket != nil }
    }

    /// The controller has begun to advertise, where that is all that it says.
    mutating func advertisingBegan(at number: Int) {
        guard takesTurns(number), let current = onAir(at: number), advertisements[current].state == .starting else {
            return
        }
        adapters[number]?.turnEnd = nil
        begin(current)
        beginWaiting(at: number)
    }

    /// Those that wait for their turn begin as soon as one of them is on the air.
    private mutating func beginWaiting(at number: Int) {
        guard takesTurns(number) else { return }
        guard let current = onAir(at: number) else {
            adapters[number]?.turnEnd = nil
            return
        }
        guard advertisements[current].state == .active else { return }
        for place in advertisements.indices
        where advertisements[place].number == number && advertisements[place].state == .starting {
            begin(place)
        }
        let isAlone = advertisements.count { $0.number == number && $0.state == .active } == 1
        if isAlone {
            adapters[number]?.turnEnd = nil
        } else if adapters[number]?.turnEnd == nil {
            adapters[number]?.turnEnd = now.advanced(by: advertisements[current].content.turn)
        }
    }

    mutating func endTurnsOfAdvertisements() {
        for number in adapters.keys.sorted() {
            guard let end = adapters[number]?.turnEnd, end <= now else { continue }
            adapters[number]?.turnEnd = nil
            guard let current = onAir(at: number) else { continue }
            guard advertisements[current].state == .active else {
                advertisingBegan(at: number)
                continue
            }
            passSet(from: current)
            beginWaiting(at: number)
        }
    }

    /// The next advertisement has the set of this one.
    /// - Returns: whether there is a next one.
    @discardableResult
    private mutating func passSet(from place: Int) -> Bool {
        let advertisement = advertisements[place]
        let others = Array(advertisements.indices[(place + 1)...]) + Array(advertisements.indices[..<place])
        let found = others.first {
            advertisements[$0].number == advertisement.number && advertisements[$0].state == .active
        }
        guard let ticket = advertisement.ticket, let next = found, let request = try? set(of: advertisements[next])
        else { return false }
        advertisements[place].ticket = nil
        advertisements[next].ticket = ticket
        works[ticket] = .advertise(advertisements[next].client, advertisements[next].path)
        emit(.changeSet(advertisement.number, ticket, request))
        return true
    }

    /// An advertising set has ended by itself, or could not begin.
    mutating func advertisingEnded(
        _ client: String, _ path: String, at number: Int, _ result: Result<HostResult, HostFailure>
    ) {
        guard let place = advertisements.place(client, path, number) else { return }
        advertisements[place].ticket = nil
        guard advertisements[place].state == .active else {
            let isFull = result == .failure(.limitReached)
            return failAdvertisement(place, isFull ? Advertisement.isFull : .failed("Failed to register advertisement"))
        }
        release(place)
    }

    /// The service ends an advertisement, and calls `Release` of its client.
    private mutating func release(_ place: Int) {
        let advertisement = advertisements[place]
        endAdvertisement(place)
        tellRelease(advertisement)
        endWish(of: advertisement.client)
    }

    private mutating func tellRelease(_ advertisement: Advertisement) {
        tell("Release", [], advertisement.client, advertisement.path, InterfaceName.advertisement)
    }

    private mutating func endAdvertisement(_ place: Int) {
        let number = advertisements[place].number
        if takesTurns(number), advertisements[place].state == .active { passSet(from: place) }
        let advertisement = advertisements.remove(at: place)
        stopSet(of: advertisement)
        if advertisement.state == .active { showInstances(at: number) }
        if takesTurns(number) { startAdvertisements(at: number) }
    }

    private mutating func stopSet(of advertisement: Advertisement) {
        guard let ticket = advertisement.ticket else { return }
        works[ticket] = .nothing
        emit(.cancel(advertisement.number, ticket))
    }

    mutating func endAdvertisementsInTime() {
        while let place = advertisements.firstIndex(where: { $0.end.map { $0 <= now } ?? false }) { release(place) }
    }

    // MARK: Changes

    /// Whether the adapter can be found, or its name, has changed.
    mutating func advertisementsChanged(at number: Int) {
        for place in advertisements.indices where advertisements[place].number == number { changeSet(place) }
    }

    /// A client has changed a property of its advertisement.
    mutating func advertisementChanged(_ client: String, _ path: String, _ changes: [(name: String, value: BusValue)]) {
        guard let place = advertisements.firstIndex(where: { $0.client == client && $0.path == path }),
            advertisements[place].state == .active
        else { return }
        guard !advertisements[place].isBeingRead else {
            advertisements[place].hasChangedAgain = true
            return
        }
        advertisements[place].isBeingRead = true
        askForProperties(client, path, .changedAdvertisement(path: path, advertisements[place].number))
    }

    mutating func changedAdvertisementShown(
        _ client: String, _ path: String, _ number: Int, _ answer: Result<[BusValue], BusError>
    ) {
        guard let place = advertisements.place(client, path, number), advertisements[place].state == .active else {
            return
        }
        if case .success(let values) = answer, let properties = values.first?.options,
            let content = try? AdvertisementContent(properties)
        {
            advertisements[place].content = content
            changeSet(place)
        }
        advertisements[place].isBeingRead = false
        if advertisements[place].hasChangedAgain {
            advertisements[place].hasChangedAgain = false
            advertisementChanged(client, path, [])
        }
    }

    private mutating func changeSet(_ place: Int) {
        guard advertisements[place].state == .active, let ticket = advertisements[place].ticket,
            let request = try? set(of: advertisements[place])
        else { return }
        emit(.changeSet(advertisements[place].number, ticket, request))
    }

    // MARK: The end

    /// The adapter is off: what is registered begins again when it is on.
    mutating func suspendAdvertisements(at number: Int) {
        for place in advertisements.indices where advertisements[place].number == number {
            stopSet(of: advertisements[place])
            advertisements[place].ticket = nil
        }
        adapters[number]?.turnEnd = nil
    }

    mutating func resumeAdvertisements(at number: Int) { startAdvertisements(at: number) }

    /// A client has left the bus.
    mutating func endAdvertisements(of client: String) {
        while let place = advertisements.firstIndex(where: { $0.client == client }) {
            let call = advertisements[place].call
            endAdvertisement(place)
            if let call { refuse(call, .doesNotExist) }
        }
    }

    /// The daemon is gone.
    mutating func endAdvertisements(at number: Int) {
        while let place = advertisements.firstIndex(where: { $0.number == number }) {
            let advertisement = advertisements.remove(at: place)
            if let call = advertisement.call { refuse(call, .notReady) } else { tellRelease(advertisement) }
            endWish(of: advertisement.client)
        }
    }
}
