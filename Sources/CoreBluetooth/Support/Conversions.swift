import BLEAppLifecycle
import BLEPackets
import Foundation

extension PeerIdentifier {
    init(_ uuid: UUID) {
        let value = BluetoothUUID(uuid)
        self.init(high: value.high, low: value.low)
    }
}

extension UUID {
    init(_ identifier: PeerIdentifier) { self.init(BluetoothUUID(high: identifier.high, low: identifier.low)) }
}

extension [BluetoothUUID] {
    /// Converts UUIDs; `nil` becomes an empty array.
    init(_ uuids: [CBUUID]?) { self = uuids?.map(\.value) ?? [] }
}

extension [CBUUID] {
    init(_ uuids: [BluetoothUUID]) { self = uuids.map { CBUUID($0) } }
}

extension ClientError {
    /// The error for an app (SPEC 2.1).
    var publicError: any Error {
        switch self {
        case .coreBluetooth(let error): CBError(CBError.Code(rawValue: error.rawValue) ?? .unknown)
        case .att(let code): CBATTError(CBATTError.Code(rawValue: Int(code)) ?? .unlikelyError)
        }
    }
}

/// Converts a time of the engine to seconds since 2001.
func absoluteTime(microseconds: Int64) -> CFAbsoluteTime {
    let age = Double(monotonicMicroseconds() - microseconds) / 1_000_000
    return Date().timeIntervalSinceReferenceDate - max(0, age)
}

/// The clock of the engine: the time since the machine started, including suspension.
private func monotonicMicroseconds() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
}

extension [String: Any] {
    /// The Boolean value of a key, in whichever type Foundation stores it.
    func flag(_ key: String) -> Bool { (self[key] as? NSNumber)?.boolValue ?? self[key] as? Bool ?? false }
}
