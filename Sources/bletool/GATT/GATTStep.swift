import BLE

/// One step over a connection: a verb of `gatt`, or a line of its script.
enum GATTStep: Equatable, Sendable {
    case discover(service: BluetoothUUID?)
    /// - Parameters:
    ///   - form: the form of the value; `nil` for that of its characteristic.
    ///   - isNamed: whether text has the name of the characteristic, for several values.
    case read(TargetArgument, form: ValueForm? = nil, isNamed: Bool = false)
    /// Reads several values by one request.
    case readTogether([TargetArgument], form: ValueForm? = nil)
    case write(TargetArgument, [UInt8], WriteProcedure = .confirmed)
    /// Writes several values, all or none.
    case writeReliably([Assignment])
    case subscribe(TargetArgument)
    /// Collects notified and indicated values until the count or the duration is reached, or the link ends.
    case wait(count: Int?, duration: Duration?, form: ValueForm? = nil)

    /// How one value is written (Core 5.4, Vol 3, Part G, 4.9).
    enum WriteProcedure: Equatable, Sendable {
        /// With a response, unless the characteristic only supports Write Commands.
        case confirmed
        case withoutResponse
        /// With a signature of the bond; on an encrypted link as `withoutResponse`.
        case signed
    }

    /// Whether a target is a handle, which may belong to another attribute when the device has changed its services.
    var namesHandles: Bool {
        let targets: [TargetArgument] =
            switch self {
            case .discover, .wait: []
            case .read(let target, _, _), .write(let target, _, _), .subscribe(let target): [target]
            case .readTogether(let targets, _): targets
            case .writeReliably(let assignments): assignments.map(\.target)
            }
        return targets.contains { if case .handle = $0 { true } else { false } }
    }

    /// A value for a target.
    struct Assignment: Equatable, Sendable {
        var target: TargetArgument
        var value: [UInt8]
    }
}
