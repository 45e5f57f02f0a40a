import BLEHost
import BLEPackets

/// One step over a connection: a verb of `gatt`, or a line of its script.
package enum GATTStep: Equatable, Sendable {
    case discover(service: BluetoothUUID?)
    /// - Parameters:
    ///   - form: the form of the value; `nil` for that of its characteristic.
    ///   - isNamed: whether text has the name of the characteristic, for several values.
    case read(AttributeTarget, form: ValueForm? = nil, isNamed: Bool = false)
    /// Reads several values by one request.
    case readTogether([AttributeTarget], form: ValueForm? = nil)
    case write(AttributeTarget, [UInt8], WriteProcedure = .confirmed)
    /// Writes several values, all or none.
    case writeReliably([Assignment])
    case subscribe(AttributeTarget)
    /// Collects notified and indicated values until the count or the duration is reached, or the link ends.
    case wait(count: Int?, duration: Duration?, form: ValueForm? = nil)

    /// How one value is written (Core 5.4, Vol 3, Part G, 4.9).
    package enum WriteProcedure: Equatable, Sendable {
        /// With a response, unless the characteristic only supports Write Commands.
        case confirmed
        case withoutResponse
        /// With a signature of the bond; on an encrypted link as `withoutResponse`.
        case signed
    }

    /// Whether a target is a handle, which may belong to another attribute when the device has changed its services.
    package var namesHandles: Bool {
        let targets: [AttributeTarget] =
            switch self {
            case .discover, .wait: []
            case .read(let target, _, _), .write(let target, _, _), .subscribe(let target): [target]
            case .readTogether(let targets, _): targets
            case .writeReliably(let assignments): assignments.map(\.target)
            }
        return targets.contains { if case .handle = $0 { true } else { false } }
    }

    /// A value for a target.
    package struct Assignment: Equatable, Sendable {
        package var target: AttributeTarget
        package var value: [UInt8]

        package init(target: AttributeTarget, value: [UInt8]) {
            self.target = target
            self.value = value
        }
    }
}
