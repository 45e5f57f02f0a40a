import BLEAppLifecycle

/// What one central manager of this process has from a daemon: when that is gone, the manager learns which links have
/// ended, and the next daemon is asked again for the connections for which the app still waits.
///
///     asked ──didConnect──▶ connected ──didDisconnect, or the daemon is gone──▶ forgotten
///       └──the daemon is gone──▶ asked again, once the next one can connect
struct ConnectionBook {
    private struct Entry {
        let peripheral: PeerIdentifier
        /// `nil` if an earlier process asked: the daemon knows the options.
        var options: ConnectOptions?
        var isConnected = false
        /// Whether the next daemon was asked again: then it may report one connection twice, because it has preserved
        /// the first request.
        var isAskedAgain = false
    }

    /// In the order of the requests.
    private var entries: [Entry] = []
    /// Requests to end a connection that have not been answered.
    private var leaving: [PeerIdentifier] = []
    /// Objects that the app has released while there was no daemon.
    private var released: [PeerIdentifier] = []
    /// Whether the next daemon has not been asked yet.
    private var isDue = false

    /// Notes a request of the app.
    /// - Parameter isAway: whether there is no daemon.
    mutating func record(_ request: CentralManagerRequest, isAway: Bool) {
        switch request {
        case .connect(let peripheral, let options):
            released.removeAll { $0 == peripheral }
            if let place = place(of: peripheral) {
                entries[place].options = options
                entries[place].isAskedAgain = false
            } else {
                entries.append(Entry(peripheral: peripheral, options: options))
            }
        case .cancelConnection(let peripheral), .letGo(let peripheral):
            guard let place = place(of: peripheral) else { return }
            entries.remove(at: place)
            if !isAway {
                leaving.append(peripheral)
            } else {
                released.append(peripheral)
            }
        default: break
        }
    }

    /// Notes an event of the daemon.
    /// - Returns: whether the app receives the event.
    mutating func record(_ event: ClientEvent) -> Bool {
        switch event {
        case .willRestoreCentral(let restored):
            for peripheral in restored.peripherals where peripheral.description.state != .disconnected {
                entries.append(
                    Entry(
                        peripheral: peripheral.description.identifier, options: nil,
                        isConnected: peripheral.description.state == .connected))
            }
        case .stateChanged(let state, _), .statePassed(let state):
            // After a reset, the end of each link is an event.
            if state < .poweredOn, state != .resetting { entries.removeAll(where: \.isConnected) }
        case .connected(let peripheral, _):
            guard let place = place(of: peripheral.identifier) else {
                if !leaving.contains(peripheral.identifier) {
                    entries.append(Entry(peripheral: peripheral.identifier, options: nil, isConnected: true))
                }
                return true
            }
            let isRepeated = entries[place].isAskedAgain && entries[place].isConnected
            if entries[place].isConnected { entries[place].isAskedAgain = false }
            entries[place].isConnected = true
            return !isRepeated
        case .disconnected(let peripheral, _, _, let isReconnecting):
            ended(peripheral, isReconnecting: isReconnecting)
        case .connectionFailed(let peripheral, _): ended(peripheral, isReconnecting: false)
        default: break
        }
        return true
    }

    private mutating func ended(_ peripheral: PeerIdentifier, isReconnecting: Bool) {
        // The app may have asked again since it ended the connection.
        if let place = leaving.firstIndex(of: peripheral) {
            leaving.remove(at: place)
        } else if let place = place(of: peripheral) {
            if isReconnecting { entries[place].isConnected = false } else { entries.remove(at: place) }
        }
    }

    private func place(of peripheral: PeerIdentifier) -> Int? {
        entries.firstIndex { $0.peripheral == peripheral }
    }

    /// The daemon is gone.
    /// - Returns: the events for the app after the state.
    mutating func lose(microseconds: Int64) -> [ClientEvent] {
        leaving = []
        isDue = true
        var events: [ClientEvent] = []
        for entry in entries where entry.isConnected {
            events.append(
                .disconnected(
                    entry.peripheral, .coreBluetooth(.unknown), microseconds: microseconds,
                    isReconnecting: entry.options?.reconnectsAutomatically == true))
        }
        entries.removeAll { $0.isConnected && $0.options?.reconnectsAutomatically != true }
        for place in entries.indices {
            entries[place].isConnected = false
            entries[place].isAskedAgain = false
        }
        return events
    }

    /// What the next daemon is asked again, once it accepts it.
    mutating func requests(in state: ManagerState) -> [CentralManagerRequest] {
        guard isDue, state == .poweredOn || state == .poweredOff || state == .resetting else { return [] }
        isDue = false
        var requests: [CentralManagerRequest] = released.map { .letGo($0) }
        released = []
        for place in entries.indices {
            guard let options = entries[place].options else { continue }
            entries[place].isAskedAgain = true
            requests.append(.connect(entries[place].peripheral, options))
        }
        return requests
    }
}
