import BLEPackets

@testable import BLEAppLifecycle
@testable import BLEHost

/// A machine that is tested alone: what it wants, and what the engine would answer.
struct Alone {
    static let client = ClientID(rawValue: 7)
    static let app = AppID(rawValue: "app")
    static let link = LinkID(handle: ConnectionHandle(rawValue: 64), generation: 1)
    static let peer = PeerIdentifier(high: 1, low: 1)
    static let address = DeviceAddress(value: 0xC000_0000_0001, kind: .random)

    var effects = ManagerEffects()
    private var lastOperation: UInt64 = 0

    static let foreground = ManagerPermissions(state: .poweredOn, place: .foreground)
    static let background = ManagerPermissions(state: .poweredOn, place: .background(hasMode: true))
    static let off = ManagerPermissions(state: .poweredOff, place: .foreground)

    static func link(_ link: LinkID = link, to address: DeviceAddress = address) -> LinkInformation {
        LinkInformation(
            id: link, peer: address, role: .central,
            parameters: ConnectionParameters(
                interval: .milliseconds(30), peripheralLatency: 0, supervisionTimeout: .milliseconds(720)),
            attMTU: 100)
    }

    /// Everything that is wanted; commands are named as the engine would name them.
    mutating func wanted() -> (
        commands: [HostCommand], tokens: [CommandToken], events: [ClientEvent], logs: [LogMessage]
    ) {
        var result: (commands: [HostCommand], tokens: [CommandToken], events: [ClientEvent], logs: [LogMessage])
        result = ([], [], [], [])
        while let submission = effects.nextSubmission() {
            lastOperation += 1
            _ = effects.commands.name(submission.token, OperationID(rawValue: lastOperation))
            result.commands.append(submission.command)
            result.tokens.append(submission.token)
        }
        while let effect = effects.next() {
            switch effect {
            case .deliver(let event, _): result.events.append(event)
            case .log(let message, _): result.logs.append(message)
            }
        }
        return result
    }
}
