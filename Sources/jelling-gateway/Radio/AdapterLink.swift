import BLE
import BLEGateway
import Synchronization

/// One link of the gateway, from the beginning of the attempt to its end, and the operations on it.
final class AdapterLink: Sendable {
    private struct State {
        var attempt: Task<Void, Never>?
        var peripheral: Peripheral?
        /// Whether the link is no longer wanted.
        var isEnding = false
        /// The operations that wait for those before them.
        var waiting: [(job: LinkJob, operation: LinkOperation)] = []
        /// The operations under way.
        var running: [LinkJob: Task<Void, Never>] = [:]
        /// Whether one of those that run in order is under way.
        var isBusy = false
        /// Who receives what the device sends, by the handle of the value.
        var receivers: [AttributeHandle: Task<Void, Never>] = [:]
    }

    private let token: LinkToken
    private let links: GatewayLinks
    private let state = Mutex(State())

    init(token: LinkToken, links: GatewayLinks) {
        self.token = token
        self.links = links
    }

    // MARK: The link

    func begin(_ adapter: Adapter, _ peer: DeviceAddress) {
        state.withLock { state in
            state.attempt = Task { links.ended(token, await self.run(adapter, peer)) }
        }
    }

    /// Ends the link or the attempt.
    func end() {
        state.withLock { state in
            state.isEnding = true
            if let peripheral = state.peripheral {
                Task { try? await peripheral.disconnect() }
            } else {
                state.attempt?.cancel()
            }
        }
    }

    /// - Returns: how it ended.
    private func run(_ adapter: Adapter, _ peer: DeviceAddress) async -> LinkFailure {
        let peripheral: Peripheral
        do { peripheral = try await adapter.connect(to: peer) } catch { return LinkFailure(error) }
        // From here on the task is not cancelled: the end of the link is awaited.
        let isEnding = state.withLock { state in
            state.peripheral = peripheral
            return state.isEnding
        }
        if isEnding { await Task { try? await peripheral.disconnect() }.value }
        // The engine exchanges it by itself; this waits for the result.
        _ = try? await peripheral.gatt(.exchangeMTU(preferred: Self.preferredMTU))
        if let mtu = await peripheral.information?.attMTU { links.report { $0.connected(token, attMTU: mtu) } }
        let reason = await Task { try? await peripheral.waitForDisconnection() }.value
        let receivers = state.withLock { state in
            defer { state.receivers = [:] }
            return state.receivers.values.map(\.self)
        }
        for receiver in receivers { receiver.cancel() }
        return .linkLost(reason?.code ?? SharedLinks.endedHere)
    }

    private static let preferredMTU: UInt16 = 517

    // MARK: Operations

    func perform(_ job: LinkJob, _ operation: LinkOperation) {
        state.withLock { state in
            guard operation.isOrdered else { return start(job, operation, &state) }
            state.waiting.append((job, operation))
            startNext(&state)
        }
    }

    func cancel(_ job: LinkJob) {
        state.withLock { state in
            state.waiting.removeAll { $0.job == job }
            state.running[job]?.cancel()
        }
    }

    private func startNext(_ state: inout State) {
        guard !state.isBusy, !state.waiting.isEmpty else { return }
        let (job, operation) = state.waiting.removeFirst()
        state.isBusy = true
        start(job, operation, &state)
    }

    private func start(_ job: LinkJob, _ operation: LinkOperation, _ state: inout State) {
        guard let peripheral = state.peripheral else { return }
        state.running[job] = Task {
            let result: Result<LinkAnswer, LinkFailure>
            do {
                result = .success(try await self.answer(operation, peripheral))
            } catch {
                result = .failure(LinkFailure(error))
            }
            // First, so that the ends of operations that run in order are reported in order.
            links.report { $0.finished(job, result) }
            self.state.withLock { state in
                state.running[job] = nil
                guard operation.isOrdered else { return }
                state.isBusy = false
                self.startNext(&state)
            }
        }
    }

    private func answer(_ operation: LinkOperation, _ peripheral: Peripheral) async throws -> LinkAnswer {
        switch operation {
        case .discoverServices: return .services(try await peripheral.discoverContents())
        case .read(let handle): return .value(try await peripheral.read(handle))
        case .write(let handle, let value, withResponse: true): try await peripheral.write(value, to: handle)
        case .write(let handle, let value, withResponse: false):
            try await peripheral.writeWithoutResponse(value, to: handle)
        case .receive(let handle): try await receive(handle, peripheral)
        case .stopReceiving(let handle): state.withLock { $0.receivers.removeValue(forKey: handle) }?.cancel()
        case .pair: if await peripheral.security?.isBonded != true { try await peripheral.pair() }
        case .updateParameters(let request): _ = try await peripheral.updateConnectionParameters(request)
        case .readRSSI: return .rssi(try await peripheral.readRSSI())
        }
        return .done
    }

    private func receive(_ handle: AttributeHandle, _ peripheral: Peripheral) async throws {
        guard state.withLock({ $0.receivers[handle] }) == nil else { return }
        // Without a configuration nothing is written, and both notifications and indications arrive.
        let values = try await peripheral.notifications(of: handle, configuration: .none, mode: .notifications)
        let receiver = Task {
            // The end of the link is reported by itself.
            do {
                for try await value in values { links.report { $0.notified(token, handle, value.bytes) } }
            } catch {}
        }
        state.withLock { $0.receivers[handle] = receiver }
    }
}

extension DisconnectionReason {
    /// The reason of HCI (Core 5.4, Vol 1, Part F).
    var code: UInt8 {
        switch self {
        case .releasedByClient: SharedLinks.endedHere
        case .controller(let status): status.rawValue
        // The peer sees the same: this side is silent.
        case .controllerLost: HCIStatus.connectionTimeout.rawValue
        }
    }
}

extension LinkFailure {
    /// - Parameter error: what an operation of the adapter has thrown.
    init(_ error: any Error) {
        switch error {
        case is CancellationError, BLEError.cancelled: self = .cancelled
        case BLEError.att(let error, _): self = .att(error.rawValue)
        case BLEError.valueTooLong: self = .att(ATTError.invalidAttributeValueLength.rawValue)
        case BLEError.linkLost(let reason): self = .linkLost(reason.code)
        case BLEError.notConnected: self = .notConnected
        case BLEError.connectionFailed(let status): self = .connectionFailed(status.rawValue)
        case BLEError.timedOut: self = .timedOut
        case let error as BLEError: self = .other(name: error.code.rawValue, text: "\(error)")
        default: self = .other(name: BLEError.Code.defect.rawValue, text: "\(error)")
        }
    }
}
