import BLE
import BLEGateway
import Dispatch
import Synchronization

/// The links of the gateway: does on the adapters what `SharedLinks` decides, with its clock and its timer.
final class GatewayLinks: Sendable {
    struct State {
        var table: SharedLinks
        var armed: Instant?
        var adapters: [Int: Adapter] = [:]
        var links: [LinkToken: AdapterLink] = [:]
        var receivers: [LinkRequester: @Sendable (LinkEvent) -> Void] = [:]
    }

    private let state: Mutex<State>
    private let timer = DispatchQueue(label: "links")

    init(_ limits: LinkLimits) { state = Mutex(State(table: SharedLinks(limits))) }

    // MARK: Requesters

    /// - Parameters:
    ///   - party: those with whom it shares its turns.
    ///   - receive: gets the events, in order. It is called under a lock, so it must neither wait nor call back.
    func addRequester(
        of party: LinkParty, _ receive: @escaping @Sendable (LinkEvent) -> Void
    ) -> LinkRequester {
        change { state in
            let requester = state.table.addRequester(of: party)
            state.receivers[requester] = receive
            return requester
        }
    }

    /// One who asks for nothing more and gets nothing more: its links end.
    func removeRequester(_ requester: LinkRequester) {
        change { state in
            state.receivers[requester] = nil
            state.table.removeRequester(requester)
        }
    }

    func submit(_ command: LinkRequest, from requester: LinkRequester) {
        change { $0.table.submit(command, from: requester, at: GatewayCore.now) }
    }

    var slots: LinkSlots { state.withLock { $0.table.slots } }

    // MARK: Adapters

    func heard(_ discovery: Discovery, adapter: Int) {
        guard let address = discovery.address else { return }
        state.withLock {
            $0.table.heard(address.value, adapter: adapter, rssi: discovery.rssi, at: GatewayCore.now)
        }
    }

    /// - Parameter adapter: `nil`: it is about to be closed.
    func use(_ adapter: Adapter?, at index: Int) {
        change { state in
            state.adapters[index] = adapter
            state.table.setAdapter(index, isUsable: adapter != nil)
        }
    }

    /// Whether an adapter has links, or attempts to make one.
    func hasLinks(ofAdapter index: Int) -> Bool { state.withLock { $0.table.count(ofAdapter: index) > 0 } }

    // MARK: The table

    /// What a link reports.
    func report(_ body: (inout SharedLinks) -> Void) { change { body(&$0.table) } }

    private func change<Value>(_ body: (inout State) -> Value) -> Value {
        let (value, deadline) = state.withLock { state -> (Value, Instant?) in
            let value = body(&state)
            for action in state.table.drainActions() { perform(action, &state) }
            guard let next = state.table.nextDeadline, state.armed.map({ next < $0 }) ?? true else {
                return (value, nil)
            }
            state.armed = next
            return (value, next)
        }
        if let deadline { arm(deadline) }
        return value
    }

    private func arm(_ deadline: Instant) {
        let wait = max(0, GatewayCore.now.distance(to: deadline).rawValue)
        timer.asyncAfter(deadline: .now() + .microseconds(Int(min(wait, 3_600_000_000)))) { [weak self] in
            self?.change { state in
                if state.armed == deadline { state.armed = nil }
                state.table.advance(to: GatewayCore.now)
            }
        }
    }

    /// Nothing here waits: what takes time runs in tasks, which report to the table later.
    private func perform(_ action: SharedLinks.Action, _ state: inout State) {
        switch action {
        case .connect(let token, let peer, let index):
            guard let adapter = state.adapters[index] else {
                Task { report { $0.ended(token, .noAdapter) } }
                return
            }
            let link = AdapterLink(token: token, links: self)
            state.links[token] = link
            link.begin(adapter, peer)
        case .disconnect(let token): state.links[token]?.end()
        case .perform(let job, let operation, let token): state.links[token]?.perform(job, operation)
        case .cancel(let job): for link in state.links.values { link.cancel(job) }
        case .forgetBond(let job, let address): forgetBond(job, address, Array(state.adapters.values))
        case .report(let event, let requester): state.receivers[requester]?(event)
        }
    }

    /// The link is no longer there.
    func ended(_ token: LinkToken, _ failure: LinkFailure) {
        change { state in
            state.links[token] = nil
            state.table.ended(token, failure)
        }
    }

    /// The adapters may share a store, or have one each.
    private func forgetBond(_ job: LinkJob, _ address: UInt64, _ adapters: [Adapter]) {
        Task {
            do {
                var found = false
                for adapter in adapters {
                    for bond in await adapter.bonds where bond.identity.value == address {
                        if try await adapter.removeBond(bond.identity) { found = true }
                    }
                }
                report { $0.finished(job, .success(.forgotten(found))) }
            } catch {
                report { $0.finished(job, .failure(LinkFailure(error))) }
            }
        }
    }
}
