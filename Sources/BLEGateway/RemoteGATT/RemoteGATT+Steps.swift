import BLEHost
import BLEJSON
import BLEPackets
import BLEScripts

/// The steps of a request, one after the other.
extension RemoteGATT {
    /// Goes on with the step that is next, or ends the request behind its last one.
    mutating func work(_ id: SessionID, _ now: Instant) {
        guard let session = sessions[id], let job = session.job else { return }
        guard job.index < job.request.steps.count else { return endJob(id, isOk: true, now) }
        switch job.request.steps[job.index] {
        case .disconnect where session.attMTU == nil: succeed(id, ["event": "disconnected"], now)
        case .disconnect:
            sessions[id]?.job?.stage = .end
            actions.append(.ask(id, .disconnect(session.peer.value)))
        case .connect, .script:
            guard let mtu = session.attMTU else {
                sessions[id]?.job?.stage = .link
                return actions.append(.ask(id, .connect(session.peer, timeout: remaining(session, now))))
            }
            switch job.request.steps[job.index] {
            case .connect: succeed(id, ["event": "connected", "mtu": .integer(mtu)], now)
            case .script(let step): begin(step, id, now)
            case .disconnect: break
            }
        }
    }

    /// The step has done its work.
    func answer(_ job: GATTSession.Job, _ value: JSONValue) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init(key: "id", value: .string(job.request.id)), .init(key: "step", value: .integer(job.index)),
        ]
        if case .object(let more) = value { members += more }
        return .object(members)
    }

    mutating func succeed(_ id: SessionID, _ value: JSONValue, _ now: Instant) {
        guard let job = sessions[id]?.job else { return }
        var members: [JSONValue.Member] = [.init(key: "ok", value: true)]
        if case .object(let more) = value { members += more }
        actions.append(.answer(job.door, id: job.request.id, answer(job, .object(members)), isLast: false))
        sessions[id]?.job?.index += 1
        sessions[id]?.job?.stage = .beginning
        work(id, now)
    }

    /// As in a script, the first step that fails is the last one.
    mutating func fail(_ id: SessionID, _ failure: GATTFailure, _ now: Instant) {
        guard let job = sessions[id]?.job else { return }
        let value = answer(job, ["error": failure.json])
        actions.append(.answer(job.door, id: job.request.id, value, isLast: false))
        endJob(id, isOk: false, now)
    }

    private mutating func perform(_ operation: LinkOperation, _ id: SessionID, _ stage: GATTSession.Stage) {
        guard var session = sessions[id] else { return }
        session.tag += 1
        session.job?.stage = stage
        sessions[id] = session
        actions.append(.ask(id, .perform(operation, on: session.peer.value, tag: session.tag)))
    }

    private mutating func begin(_ step: GATTStep, _ id: SessionID, _ now: Instant) {
        guard let session = sessions[id] else { return }
        // A handle can be read without knowing more; what its value means is known with the services alone.
        if case .wait(let count, let duration, let form) = step {
            return beginWait(id, count: count, duration: duration, form, now)
        }
        if session.needsServices { return perform(.discoverServices, id, .services) }
        let target: AttributeTarget
        switch step {
        case .discover(let uuid):
            let found = (session.services ?? []).filter { uuid == nil || $0.service.uuid == uuid }
            if let uuid, found.isEmpty { return fail(id, .notFound(uuid), now) }
            return succeed(id, DatabaseOutput(found, mtu: session.attMTU ?? 23).json, now)
        case .read(let read, _, _): target = read
        case .write(let written, _, _): target = written
        case .subscribe(let subscribed): target = subscribed
        case .wait, .readTogether, .writeReliably:
            return fail(id, GATTFailure("unsupported", "this step cannot be carried out by a gateway"), now)
        }
        guard let place = session.place(of: target) else {
            guard case .uuid(let uuid, _) = target else { return }
            return fail(id, .notFound(uuid), now)
        }
        switch step {
        case .read: perform(.read(place.handle), id, .operation)
        case .write(_, let value, let procedure):
            guard procedure != .signed else {
                return fail(id, GATTFailure("unsupported", "signed writes need a bond of their own"), now)
            }
            // A characteristic with write commands only would refuse a request.
            let properties = place.contents?.characteristic.properties
            let takesCommandsOnly = properties.map { $0.contains(.writeWithoutResponse) && !$0.contains(.write) }
            let isConfirmed = procedure == .confirmed && takesCommandsOnly != true
            perform(.write(place.handle, value, withResponse: isConfirmed), id, .operation)
        case .subscribe:
            guard place.contents?.characteristic.properties.subscriptionMode != nil else {
                return fail(
                    id, GATTFailure("notSubscribable", "the characteristic neither notifies nor indicates"), now)
            }
            perform(.receive(place.handle), id, .operation)
        case .discover, .wait, .readTogether, .writeReliably: break
        }
    }

    // MARK: What links report

    mutating func connected(_ id: SessionID, _ mtu: Int, _ now: Instant) {
        guard sessions[id]?.job?.stage == .link else { return }
        sessions[id]?.attMTU = mtu
        sessions[id]?.job?.stage = .beginning
        work(id, now)
    }

    mutating func disconnected(_ id: SessionID, _ reason: UInt8, _ now: Instant) {
        guard let session = sessions[id] else { return }
        sessions[id]?.attMTU = nil
        sessions[id]?.services = nil
        sessions[id]?.subscriptions = []
        guard let job = session.job else {
            let event: JSONValue = ["event": "disconnected", "reason": .integer(Int(reason)), "done": true]
            actions.append(.notify(session.door, id: session.lastID, device: session.peer.value, event))
            return finish(id)
        }
        if job.stage == .end { return succeed(id, ["event": "disconnected"], now) }
        fail(id, GATTFailure(.linkLost(reason)), now)
    }

    mutating func ended(_ id: SessionID, _ result: Result<LinkAnswer, LinkFailure>, _ now: Instant) {
        guard let session = sessions[id], let job = session.job, job.index < job.request.steps.count,
            case .script(let step) = job.request.steps[job.index]
        else { return }
        // The end of the link follows, with its reason.
        if case .failure(.linkLost) = result { return }
        switch (job.stage, result) {
        case (.services, .success(.services(let services))):
            sessions[id]?.services = services
            work(id, now)
        case (.operation, .success(let answer)): performed(step, answer, id, now)
        case (.configuration, .success): subscribed(step, isConfigured: true, id, now)
        case (.configuration, .failure(.att(let code)))
        where [.invalidHandle, .writeNotPermitted, .requestNotSupported, .attributeNotFound].contains(
            ATTError(rawValue: code)):
            // Some devices have nothing that could be written, and send unasked.
            subscribed(step, isConfigured: false, id, now)
        case (.services, .failure(let failure)), (.operation, .failure(let failure)),
            (.configuration, .failure(let failure)):
            fail(id, GATTFailure(failure), now)
        default: break
        }
    }

    private mutating func performed(_ step: GATTStep, _ answer: LinkAnswer, _ id: SessionID, _ now: Instant) {
        guard let session = sessions[id] else { return }
        switch (step, answer) {
        case (.read(let target, let form, _), .value(let value)):
            guard let place = session.place(of: target) else { return }
            let meaning = ValueMeaning(value, uuid: place.uuid, form: form)
            succeed(id, AttributeEvent.json("value", place.handle, place.uuid, meaning: meaning), now)
        case (.write(let target, _, _), _):
            guard let place = session.place(of: target) else { return }
            succeed(id, AttributeEvent.json("written", place.handle, place.uuid), now)
        case (.subscribe(let target), _):
            guard let place = session.place(of: target), let contents = place.contents else { return }
            sessions[id]?.subscriptions.insert(place.handle)
            let configuration = contents.descriptors.first { $0.uuid == BluetoothUUID(UInt16(0x2902)) }
            guard let configuration else { return subscribed(step, isConfigured: false, id, now) }
            let isIndicated = contents.characteristic.properties.subscriptionMode == .indications
            let value: [UInt8] = [isIndicated ? 2 : 1, 0]
            perform(.write(configuration.handle, value, withResponse: true), id, .configuration)
        default: fail(id, GATTFailure("failed", "the device gave another answer"), now)
        }
    }

    private mutating func subscribed(_ step: GATTStep, isConfigured: Bool, _ id: SessionID, _ now: Instant) {
        guard case .subscribe(let target) = step, let place = sessions[id]?.place(of: target) else { return }
        let event = AttributeEvent.json("subscribed", place.handle, place.uuid)
        succeed(id, isConfigured ? event : event.adding("configured", false), now)
    }

    // MARK: Values

    private mutating func beginWait(
        _ id: SessionID, count: Int?, duration: Duration?, _ form: ValueForm?, _ now: Instant
    ) {
        guard let session = sessions[id] else { return }
        guard duration != nil || !session.subscriptions.isEmpty else {
            return fail(id, GATTFailure("usage", "‘wait’ has no subscription to wait for"), now)
        }
        let until = duration.map {
            now.advanced(
                by: .microseconds($0.components.seconds * 1_000_000 + $0.components.attoseconds / 1_000_000_000_000))
        }
        sessions[id]?.job?.stage = .values(count: count, until: until, taken: 0, form: form)
        let arrivals = session.arrivals
        sessions[id]?.arrivals = []
        for arrival in arrivals { take(arrival, id, now) }
    }

    mutating func notified(_ id: SessionID, _ handle: AttributeHandle, _ value: [UInt8], _ now: Instant) {
        guard let session = sessions[id], session.subscriptions.contains(handle) else { return }
        let contents = session.place(of: .handle(handle))?.contents
        let isIndication = contents?.characteristic.properties.subscriptionMode == .indications
        take(GATTSession.Arrival(handle: handle, value: value, isIndication: isIndication), id, now)
    }

    private mutating func take(_ arrival: GATTSession.Arrival, _ id: SessionID, _ now: Instant) {
        guard let session = sessions[id] else { return }
        guard let job = session.job else {
            let event = session.event(arrival, form: nil)
            return actions.append(.notify(session.door, id: session.lastID, device: session.peer.value, event))
        }
        guard case .values(let count, let until, let taken, let form) = job.stage, taken < count ?? .max else {
            // The oldest go.
            if session.arrivals.count >= limits.arrivals { sessions[id]?.arrivals.removeFirst() }
            sessions[id]?.arrivals.append(arrival)
            return
        }
        let event = session.event(arrival, form: form)
        switch job.door {
        case .broker: actions.append(.notify(.broker, id: job.request.id, device: session.peer.value, event))
        case .http: actions.append(.answer(job.door, id: job.request.id, answer(job, event), isLast: false))
        }
        sessions[id]?.job?.stage = .values(count: count, until: until, taken: taken + 1, form: form)
        if taken + 1 == count { endWait(id, count: count, taken: taken + 1, now) }
    }

    /// There are as many values as were wanted, or the time is over.
    mutating func endWait(_ id: SessionID, count: Int?, taken: Int, _ now: Instant) {
        guard let count, taken < count else {
            return succeed(id, ["event": "waited", "count": .integer(taken)], now)
        }
        fail(id, GATTFailure("timeout", "\(taken) of \(count) values arrived in time"), now)
    }
}
