import BLE

/// One thing to do over a connection: what a verb of `gatt` asks for, or a line of its script.
enum GATTStep: Equatable, Sendable {
    case discover(service: BluetoothUUID?)
    /// - Parameters:
    ///   - form: how the value is to be shown; `nil`: as its characteristic says.
    ///   - isNamed: whether people are told whose value it is, as where several are read.
    case read(TargetArgument, form: ValueForm? = nil, isNamed: Bool = false)
    case write(TargetArgument, [UInt8], isCommand: Bool)
    case subscribe(TargetArgument)
    /// Collects notified and indicated values until so many came or so much time went by, or the link ends.
    case wait(count: Int?, duration: Duration?, form: ValueForm? = nil)
}
