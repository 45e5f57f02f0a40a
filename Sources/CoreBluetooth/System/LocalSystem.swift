import BLEAppLifecycle
import Foundation
final class LocalSystem: BluetoothSystem {
    struct Configuration { init(_ e: AppEnvironment) {} }
    init(_ configuration: Configuration) {}
    func attach(_ deliver: @escaping @Sendable (ClientEvent) -> Void) -> ManagerID { ManagerID(rawValue: 1) }
    func detach(_ manager: ManagerID) {}
    func send(_ request: ClientRequest, from manager: ManagerID) {}
    func sendAndWait(_ request: ClientRequest, from manager: ManagerID) {}
    func ask(_ manager: ManagerID, _ make: (QueryID) -> ClientRequest) -> ClientEvent? { nil }
    func log(_ message: LogMessage) {}
    var authorization: ManagerAuthorization { .allowedAlways }
    var features: CBCentralManager.Feature { [] }
    func move(_ move: AppMove) {}
    var launchOptions: LaunchOptions { LaunchOptions() }
    func onAlert(_ body: (@Sendable (CBApplication.Alert) -> Void)?) {}
    func onExpiration(_ body: (@Sendable () -> Void)?) {}
}
