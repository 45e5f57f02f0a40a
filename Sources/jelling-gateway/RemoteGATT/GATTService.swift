import BLE
import BLEGateway
import BLEJSON
import Dispatch
import Logging
import Synchronization

/// Carries out requests for GATT that come from the broker and over HTTP, on its own thread, with its clock and its timer.
final class GATTService: Sendable {
    /// Gets the answers to requests over HTTP, on any thread.
    typealias Reply = @Sendable (HTTPConnections.ID, [UInt8], _ isLast: Bool) -> Void

    private struct State {
        var machine: RemoteGATT
        var armed: Instant?
        var requesters: [RemoteGATT.SessionID: LinkRequester] = [:]
        var reply: Reply?
        var counters = Counters()
    }

    /// Since the start.
    struct Counters {
        var requests: UInt64 = 0
        /// With a mistake.
        var malformed: UInt64 = 0
        /// Seen before.
        var repeated: UInt64 = 0
        /// Too many at once.
        var refused: UInt64 = 0
    }

    private let state: Mutex<State>
    private let thread = DispatchQueue(label: "gatt")
    private let links: GatewayLinks
    private let core: GatewayCore
    private let hub: EventHub
    /// Adds a message for the broker.
    private let publish: @Sendable (_ topic: String, _ payload: [UInt8]) -> Void

    init(
        sessions: Int, links: GatewayLinks, core: GatewayCore, hub: EventHub,
        publish: @escaping @Sendable (_ topic: String, _ payload: [UInt8]) -> Void
    ) {
        var limits = GATTLimits()
        limits.sessions = sessions
        state = Mutex(State(machine: RemoteGATT(limits)))
        self.links = links
        self.core = core
        self.hub = hub
        self.publish = publish
    }

    func onReply(_ reply: @escaping Reply) { state.withLock { $0.reply = reply } }

    var counters: Counters { state.withLock { $0.counters } }

    /// The links and places for links.
    var shown: JSONValue {
        let slots = links.slots
        let (list, waiting) = state.withLock { ($0.machine.list, $0.machine.waitingCount) }
        var known: Set<UInt64> = []
        var sessions = list.map { peer, requester, state -> JSONValue in
            known.insert(peer.value)
            return [
                "address": .string(peer.addressText), "requester": .string(requester), "state": .string(state),
            ]
        }
        for address in slots.taken where !known.contains(address) {
            let text = DeviceAddress(value: address, kind: .public).addressText
            sessions.append(["address": .string(text), "state": "of another requester"])
        }
        return [
            "slots": .integer(slots.limit), "free": .integer(slots.free), "waiting": .integer(waiting),
            "sessions": .array(sessions),
        ]
    }

    // MARK: Requests

    /// A message of the topic of requests. It is read on the thread of the session with the broker: whoever sends more
    /// than can be read makes the broker wait.
    func received(_ payload: [UInt8]) {
        do throws(GATTRequest.Problem) {
            let request = try GATTRequest(payload, defaultID: nil)
            do throws(RemoteGATT.Refusal) { try submit(request, .broker, nil) } catch {
                switch error {
                // The answers to the first one are on their way, or were there.
                case .repeated: count(\.repeated)
                case .busy:
                    count(\.refused)
                    refuse(request.id, "busy", "too many requests wait; send this one again later")
                }
            }
        } catch {
            count(\.malformed)
            // Without an identifier there is no topic for an answer.
            if let id = error.id { refuse(id, "usage", error.text) }
        }
    }

    private func count(_ counter: WritableKeyPath<Counters, UInt64>) {
        state.withLock { $0.counters[keyPath: counter] += 1 }
    }

    private func refuse(_ id: String, _ name: String, _ text: String) {
        publishAnswer(id, GATTService.refusal(id, name, text))
    }

    /// The only object of a request that is not carried out.
    static func refusal(_ id: String?, _ name: String, _ text: String) -> JSONValue {
        let error: JSONValue = ["name": .string(name), "text": .string(text)]
        let head: JSONValue = id.map { ["id": .string($0)] } ?? [:]
        return head.adding("ok", false).adding("error", error).adding("done", true)
    }

    /// How a request over HTTP goes on.
    enum Reception {
        /// Answers follow.
        case accepted
        case refused(HTTPStatus, JSONValue)
    }

    /// A request over HTTP.
    func received(_ body: [UInt8], from id: HTTPConnections.ID, of client: ClientAddress) -> Reception {
        do throws(GATTRequest.Problem) {
            let unique = String(UInt64.random(in: 0...UInt64.max), radix: 36)
            let request = try GATTRequest(body, defaultID: "http-" + unique)
            do throws(RemoteGATT.Refusal) { try submit(request, .http(id), client) } catch {
                switch error {
                case .repeated:
                    count(\.repeated)
                    return .refused(
                        .conflict, Self.refusal(request.id, "repeated", "a request with this ‘id’ was seen before"))
                case .busy:
                    count(\.refused)
                    return .refused(.tooManyRequests, Self.refusal(request.id, "busy", "too many requests wait"))
                }
            }
            return .accepted
        } catch {
            count(\.malformed)
            return .refused(.badRequest, Self.refusal(error.id, "usage", error.text))
        }
    }

    private func submit(
        _ request: GATTRequest, _ door: GATTDoor, _ client: ClientAddress?
    ) throws(RemoteGATT.Refusal) {
        count(\.requests)
        let isRandom = request.isRandom ?? core.isRandom(request.address) ?? false
        let peer = DeviceAddress(value: request.address, kind: isRandom ? .random : .public)
        var refusal: RemoteGATT.Refusal?
        change { machine in
            do throws(RemoteGATT.Refusal) {
                try machine.submit(
                    request, to: peer, from: door, client: client ?? ClientAddress(address: []),
                    at: GatewayCore.now)
            } catch {
                refusal = error
            }
        }
        if let refusal { throw refusal }
    }

    /// The client of a connection over HTTP is gone.
    func gone(_ id: HTTPConnections.ID) { change { $0.gone(.http(id), at: GatewayCore.now) } }

    /// The broker says that nobody subscribes to a topic of answers.
    func unwanted(_ topic: String) {
        let place = topics.response
        guard topic.hasPrefix(place) else { return }
        let id = String(topic.dropFirst(place.count))
        thread.async { [self] in change { $0.unwanted(id: id, at: GatewayCore.now) } }
    }

    // MARK: The machine

    private var topics: GATTTopics { GATTTopics(gateway: core.name) }

    private func change(_ body: (inout RemoteGATT) -> Void) {
        let (deadline, outputs) = state.withLock { state -> (Instant?, [RemoteGATT.Action]) in
            body(&state.machine)
            var outputs: [RemoteGATT.Action] = []
            for action in state.machine.drainActions() { perform(action, &state, &outputs) }
            guard let next = state.machine.nextDeadline, state.armed.map({ next < $0 }) ?? true else {
                return (nil, outputs)
            }
            state.armed = next
            return (next, outputs)
        }
        for output in outputs { tell(output) }
        guard let deadline else { return }
        let wait = max(0, GatewayCore.now.distance(to: deadline).rawValue)
        thread.asyncAfter(deadline: .now() + .microseconds(Int(min(wait, 3_600_000_000)))) { [weak self] in
            guard let self else { return }
            state.withLock { if $0.armed == deadline { $0.armed = nil } }
            change { $0.advance(to: GatewayCore.now) }
        }
    }

    private func perform(_ action: RemoteGATT.Action, _ state: inout State, _ outputs: inout [RemoteGATT.Action]) {
        switch action {
        case .begin(let id, let party):
            state.requesters[id] = links.addRequester(of: party) { [weak self] event in
                // It is called under a lock.
                guard let self else { return }
                thread.async { [self] in change { $0.received(event, for: id, at: GatewayCore.now) } }
            }
        case .ask(let id, let request):
            if let requester = state.requesters[id] { links.submit(request, from: requester) }
        case .finish(let id):
            if let requester = state.requesters.removeValue(forKey: id) { links.removeRequester(requester) }
        case .answer, .notify: outputs.append(action)
        }
    }

    private func tell(_ output: RemoteGATT.Action) {
        switch output {
        case .answer(let door, let id, let value, let isLast):
            hub.post([GatewayEvent(.gatt, value)])
            switch door {
            case .broker: publishAnswer(id, value)
            case .http(let client):
                var line: [UInt8] = []
                value.write(into: &line)
                line.append(0x0A)
                state.withLock { $0.reply }?(client, line, isLast)
            }
        case .notify(let door, let id, let device, let event):
            let address = DeviceAddress(value: device, kind: .public).addressText
            let value = (["id": .string(id), "address": .string(address)] as JSONValue).appending(event)
            hub.post([GatewayEvent(.gatt, device: address, value)])
            guard door == .broker else { return }
            publish(topics.notification + id, Array(value.text.utf8))
        case .begin, .ask, .finish: break
        }
    }

    private func publishAnswer(_ id: String, _ value: JSONValue) {
        publish(topics.response + id, Array(value.text.utf8))
    }
}

extension JSONValue {
    /// The object with the members of another one behind its own.
    fileprivate func appending(_ other: JSONValue) -> JSONValue {
        guard case .object(let members) = self, case .object(let more) = other else { return self }
        return .object(members + more)
    }
}
