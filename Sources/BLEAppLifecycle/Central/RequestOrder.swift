import BLEPackets

/// Keeps the requests to one peripheral in the order in which the app made them.
///
/// The engine carries out requests with responses one after another, but sends a write without response at once, and a
/// subscription may need two requests. A request that would overtake another waits here, and so do all that follow it.
struct RequestOrder {
    enum Outcome: Equatable {
        case queued
        /// Held; no further write without response can wait.
        case lastQueued
        case refused
    }

    /// The maximum number of waiting writes without response: as many as in the engine
    /// (`GATTClientSettings.writeCommandLimit`).
    private static let writeLimit = 20
    /// The maximum number of other waiting requests (`GATTClientSettings.operationLimit`).
    private static let requestLimit = 1024
    /// The maximum number of requests under way that have no place in the order.
    private static let otherLimit = 64

    private var waiting = Queue<PeripheralRequest>()
    private var waitingWrites = 0
    private var waitingRequests = 0
    /// The octets of all that waits.
    private(set) var waitingOctets = 0
    /// The number of requests in the engine to which the peripheral responds.
    private var running = 0
    /// How many of them are first steps, as of subscriptions: the next step comes before anything else.
    private var runningFirstSteps = 0
    /// The requests under way that have no place in the order.
    private var runningOthers = 0
    /// How many of them open channels.
    private(set) var openings = 0
    private(set) var isFull = false

    /// Whether the request may begin or wait, as far as it has no place in the order.
    func hasRoom(for request: PeripheralRequest) -> Bool { request.isOrdered || runningOthers < Self.otherLimit }

    /// Whether the request would overtake an earlier one.
    func mustWait(_ request: PeripheralRequest) -> Bool {
        guard request.isOrdered else { return false }
        return !waiting.isEmpty || runningFirstSteps > 0 || request.isWriteWithoutResponse && running > 0
    }

    /// The oldest waiting request.
    var first: PeripheralRequest? { waiting.first }

    mutating func enqueue(_ request: PeripheralRequest) -> Outcome {
        if request.isWriteWithoutResponse {
            guard waitingWrites < Self.writeLimit else { return .refused }
            waitingWrites += 1
            isFull = waitingWrites == Self.writeLimit
        } else {
            guard waitingRequests < Self.requestLimit else { return .refused }
            waitingRequests += 1
        }
        waiting.append(request)
        waitingOctets += request.octets
        return isFull && request.isWriteWithoutResponse ? .lastQueued : .queued
    }

    /// The oldest waiting request, as soon as it overtakes nothing.
    mutating func next() -> PeripheralRequest? {
        guard let first = waiting.first, runningFirstSteps == 0, !(first.isWriteWithoutResponse && running > 0) else {
            return nil
        }
        if first.isWriteWithoutResponse { waitingWrites -= 1 } else { waitingRequests -= 1 }
        waitingOctets -= first.octets
        return waiting.popFirst()
    }

    /// Whether there is room for writes without response again after there was none; true once each time.
    mutating func reportsRoom() -> Bool {
        guard isFull, waitingWrites < Self.writeLimit else { return false }
        isFull = false
        return true
    }

    mutating func began(_ task: PeripheralTask) {
        switch task {
        case .readRSSI: runningOthers += 1
        case .openChannel:
            runningOthers += 1
            openings += 1
        default: if task.isOrdered { running += 1 }
        }
        if task.isFirstStep { runningFirstSteps += 1 }
    }

    mutating func ended(_ task: PeripheralTask) {
        switch task {
        case .readRSSI: runningOthers = max(0, runningOthers - 1)
        case .openChannel:
            runningOthers = max(0, runningOthers - 1)
            openings = max(0, openings - 1)
        default: if task.isOrdered { running = max(0, running - 1) }
        }
        if task.isFirstStep { runningFirstSteps = max(0, runningFirstSteps - 1) }
    }
}

extension PeripheralRequest {
    /// Whether the request is part of the order of the Attribute Protocol.
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

extension PeripheralRequest {
    /// What the request takes of the memory while it waits, beside its place.
    var octets: Int {
        switch self {
        case .discoverServices(let uuids), .discoverIncludedServices(let uuids, _),
            .discoverCharacteristics(let uuids, _):
            uuids.count * MemoryLayout<BluetoothUUID>.stride
        case .writeValue(let value, _), .writeWithoutResponse(let value, _), .writeDescriptor(let value, _): value.count
        case .discoverDescriptors, .readValue, .readDescriptor, .setNotify, .readRSSI, .openChannel: 0
        }
    }
}

extension PeripheralTask {
    /// Whether the peripheral responds to it with the Attribute Protocol.
    fileprivate var isOrdered: Bool {
        switch self {
        case .writeWithoutResponse, .readRSSI, .openChannel: false
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors,
            .findConfiguration, .read, .readDescriptor, .write, .writeDescriptor, .subscribe, .unsubscribe,
            .confirmServices, .confirmCharacteristics, .confirmConfiguration, .subscribeAgain:
            true
        }
    }
}
