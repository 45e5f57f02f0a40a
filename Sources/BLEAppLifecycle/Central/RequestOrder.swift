import BLEPackets

/// Keeps the requests to one peripheral in the order in which the app made them.
///
/// The engine carries out one answered request after another, but sends a write without response at once, and a
/// subscription may take two requests. What would overtake waits here, and so does everything that comes after it.
struct RequestOrder {
    enum Outcome: Equatable {
        case held
        /// No further write without response can wait.
        case lastHeld
        case refused
    }

    /// Writes without response that may wait: as many as in the engine (`GATTClientSettings.writeCommandLimit`).
    private static let writeLimit = 20
    /// Other requests that may wait (`GATTClientSettings.operationLimit`).
    private static let requestLimit = 1024

    private var waiting = Queue<PeripheralRequest>()
    private var waitingWrites = 0
    private var waitingRequests = 0
    /// Requests that the engine has and that the peripheral answers.
    private var running = 0
    /// First steps of subscriptions among them: the second step comes before anything else.
    private var runningFirstSteps = 0
    private(set) var isFull = false

    /// Whether the request would overtake an earlier one.
    func mustWait(_ request: PeripheralRequest) -> Bool {
        guard request.isOrdered else { return false }
        return !waiting.isEmpty || runningFirstSteps > 0 || request.isWriteWithoutResponse && running > 0
    }

    mutating func hold(_ request: PeripheralRequest) -> Outcome {
        if request.isWriteWithoutResponse {
            guard waitingWrites < Self.writeLimit else { return .refused }
            waitingWrites += 1
            isFull = waitingWrites == Self.writeLimit
        } else {
            guard waitingRequests < Self.requestLimit else { return .refused }
            waitingRequests += 1
        }
        waiting.append(request)
        return isFull && request.isWriteWithoutResponse ? .lastHeld : .held
    }

    /// The oldest that waits, once it overtakes nothing.
    mutating func next() -> PeripheralRequest? {
        guard let first = waiting.first, runningFirstSteps == 0, !(first.isWriteWithoutResponse && running > 0) else {
            return nil
        }
        if first.isWriteWithoutResponse { waitingWrites -= 1 } else { waitingRequests -= 1 }
        return waiting.popFirst()
    }

    /// Whether there is room for writes without response again, which there was not; true once each time.
    mutating func takeRoom() -> Bool {
        guard isFull, waitingWrites < Self.writeLimit else { return false }
        isFull = false
        return true
    }

    mutating func began(_ task: PeripheralTask) {
        if task.isOrdered { running += 1 }
        if case .findConfiguration = task { runningFirstSteps += 1 }
    }

    mutating func ended(_ task: PeripheralTask) {
        if task.isOrdered { running = max(0, running - 1) }
        if case .findConfiguration = task { runningFirstSteps = max(0, runningFirstSteps - 1) }
    }
}

extension PeripheralRequest {
    /// Whether it takes part in the order of the Attribute Protocol.
    fileprivate var isOrdered: Bool {
        switch self {
        case .readRSSI, .openChannel: false
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors, .readValue,
            .readDescriptor, .writeValue, .writeWithoutResponse, .writeDescriptor, .setNotify:
            true
        }
    }

    fileprivate var isWriteWithoutResponse: Bool { if case .writeWithoutResponse = self { true } else { false } }
}

extension PeripheralTask {
    /// Whether the peripheral answers it by the Attribute Protocol.
    fileprivate var isOrdered: Bool {
        switch self {
        case .writeWithoutResponse, .readRSSI, .openChannel: false
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors,
            .findConfiguration, .read, .readDescriptor, .write, .writeDescriptor, .subscribe, .unsubscribe:
            true
        }
    }
}
