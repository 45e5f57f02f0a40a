@testable import BLEDaemon

/// What the core asks about the programs and the machine.
final class VirtualMachine: DaemonLookups {
    /// Only for lookup.
    var programs: [ConnectionID: VirtualProgram] = [:]
    /// The groups of users without a program.
    var groups: [UInt32: [UInt32]] = [:]
    private var lastProcess: Int32 = 1000

    func newProcess() -> Int32 {
        lastProcess += 1
        return lastProcess
    }

    func identify(_ id: ConnectionID) -> PeerProcess? {
        guard let process = programs[id]?.peer.process else { return nil }
        let facts = ProcessFacts(number: process, began: "0", kind: .process)
        return PeerProcess(group: process, isOfUnit: false, facts: facts)
    }

    func isPeerGone(_ connection: ConnectionID) -> Bool { programs[connection]?.hasLeft ?? true }
    func programName(of process: Int32) -> String { "program" }
    func groups(of user: UInt32) -> [UInt32] { groups[user] ?? [] }
    func hasAdapter(_ name: String) -> Bool { false }
    func isLogged(_ level: DaemonSettings.LogLevel) -> Bool { level >= .info }
}
