import BLEAppLifecycle
import BLEMessages
import Foundation

@testable import CoreBluetooth

/// A system that writes down what managers ask for and tells them what a test wants, with no engine behind it.
final class ScriptedSystem: BluetoothSystem, @unchecked Sendable {
    // @unchecked Sendable is safe because everything that changes is under a lock.
    private struct State {
        var requests: [ClientRequest] = []
        var deliver: [@Sendable ([ClientEvent]) -> Void] = []
        var answer: @Sendable (ClientRequest) -> ClientEvent? = { _ in nil }
        var moves: [AppMove] = []
        var logs: [String] = []
        var overflow: OverflowSetting?
        var taskCounts: [Int] = []
        var handled: [Int] = []
    }

    private let state = Locked(State())
    let launchOptions: LaunchOptions
    var authorization: ManagerAuthorization { .allowedAlways }
    var features: CBCentralManager.Feature { [] }

    init(launchOptions: LaunchOptions = LaunchOptions()) { self.launchOptions = launchOptions }

    /// What was asked for since the last call.
    func takeRequests() -> [ClientRequest] {
        state.with { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    var moves: [AppMove] { state.with { $0.moves } }
    /// What was complained of.
    var logs: [String] { state.with { $0.logs } }

    /// Tells the manager that was made last.
    func deliver(_ event: ClientEvent) { deliver([event]) }

    /// Tells it several things together.
    func deliver(_ events: [ClientEvent]) { state.with { $0.deliver.last }?(events) }

    /// What managers reported as handled, in the order of the reports.
    var handled: [Int] { state.with { $0.handled } }

    func answer(_ answer: @escaping @Sendable (ClientRequest) -> ClientEvent?) { state.with { $0.answer = answer } }

    // MARK: BluetoothSystem

    func attach(_ deliver: @escaping @Sendable ([ClientEvent]) -> Void) -> ManagerID {
        state.with {
            $0.deliver.append(deliver)
            return ManagerID(rawValue: UInt32($0.deliver.count))
        }
    }

    func handled(_ count: Int, octets: Int, by manager: ManagerID) { state.with { $0.handled.append(count) } }
    func detach(_ manager: ManagerID) {}
    func send(_ request: ClientRequest, from manager: ManagerID) { state.with { $0.requests.append(request) } }
    func sendAndWait(_ request: ClientRequest, from manager: ManagerID) { send(request, from: manager) }

    func ask(_ manager: ManagerID, _ make: (QueryID) -> ClientRequest) -> ClientEvent? {
        let request = make(QueryID(rawValue: 1))
        send(request, from: manager)
        return state.with { $0.answer }(request)
    }

    func log(_ message: LogMessage) { state.with { $0.logs.append(message.text) } }
    func move(_ move: AppMove) { state.with { $0.moves.append(move) } }
    func onAlert(_ body: (@Sendable (CBApplication.Alert) -> Void)?) {}
    func onExpiration(_ body: (@Sendable () -> Void)?) {}
    let tasks = BackgroundTasks()
    func tasksChanged(to count: Int) { state.with { $0.taskCounts.append(count) } }
    var secondsLeft: Double? { nil }
    /// What it was told of tasks.
    var taskCounts: [Int] { state.with { $0.taskCounts } }
    func setPairing(_ agent: (any CBPairingAgent)?, _ settings: PairingSettings) {}
    var overflow: OverflowSetting? { state.with { $0.overflow } }
    func setOverflow(_ setting: OverflowSetting) { state.with { $0.overflow = setting } }
}

extension [ClientRequest] {
    static func central(_ requests: [CentralManagerRequest]) -> Self { requests.map { .central($0) } }
    static func peripheral(_ requests: [PeripheralManagerRequest]) -> Self { requests.map { .peripheral($0) } }
}

/// Tells whether code runs on the main queue, on whatever thread that is served by.
enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
