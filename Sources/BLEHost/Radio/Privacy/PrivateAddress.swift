import BLEPackets

/// The resolvable private address of this device, and its change.
///
///     none ──ask──▶ being made ──hash──▶ waits for the radio ──all off──▶ being set ──status──▶ in use
///                       ▲                                                                        │
///                       └──────────────────────────────── time ──────────────────────────────────┘
///
/// The controller accepts a new address only while it neither advertises, scans nor initiates (Core 5.4, Vol 4, Part E,
/// 7.8.4), so these activities pause for a moment.
struct PrivateAddress {
    enum State: Equatable {
        /// This device uses another kind of address.
        case none
        case beingMade
        case waiting(DeviceAddress)
        case beingSet(DeviceAddress)
        case inUse(until: Instant)
    }

    var state = State.none

    /// Whether the radio has to pause.
    var isChanging: Bool {
        switch state {
        case .waiting, .beingSet: true
        case .none, .beingMade, .inUse: false
        }
    }

    var isBeingMade: Bool { state == .beingMade }

    var nextDeadline: Instant? {
        if case .inUse(let until) = state { until } else { nil }
    }
}
