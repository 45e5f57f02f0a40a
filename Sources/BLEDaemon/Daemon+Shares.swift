@_spi(HostRunner) import BLE
import BLEHost
import BLEPackets

/// What the programs of a user may have together.
extension Daemon {
    /// Whether a tool's request is refused, because its user would have too much with it. The tool has counted it
    /// already.
    func exceedsShare(_ command: HostCommand, of connection: Connection) -> Bool {
        // Operators may end what others have anyhow.
        guard !connection.isOperator, let part = UserShare.Part(of: command) else { return false }
        let user = connection.peer.user
        var own = UserShare()
        var sets = 0
        for other in connections where other.isTool {
            // What programs that have gone still ask for ends at once, and takes nothing from those that are there.
            if other.peer.user == user, connection.hasDeparted || !other.hasDeparted { own.add(other.tool) }
            sets += other.tool.radio.sets.count
        }
        if own.exceeds(configuration.limits, in: part) { return true }
        guard part == .set else { return false }
        // One is for the advertisement that all share.
        return !UserShare.mayHaveSet(own: own.sets, all: sets, of: advertisingSetCount.map { $0 - 1 })
    }

    /// Asks a controller with extended advertising how many sets it has.
    func askForAdvertisingSets(_ information: ControllerInformation) {
        advertisingSetCount = nil
        guard information.usesExtendedCommands else { return }
        setCountRequest = runner.submit(
            .sendHCICommand(opcode: LEReadNumberOfSupportedAdvertisingSets.opcode, parameters: []), from: .local)
    }

    /// An operation has ended.
    func hearAdvertisingSets(_ operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        guard operation == setCountRequest else { return }
        setCountRequest = nil
        // Its status, then the number (Core 5.4, Vol 4, Part E, 7.8.58).
        guard case .success(.hciAnswer(let octets)) = result, octets.count == 2, octets[0] == 0 else { return }
        advertisingSetCount = Int(octets[1])
    }
}
