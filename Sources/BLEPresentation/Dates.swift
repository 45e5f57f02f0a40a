import BLE
import Foundation

extension Instant {
    /// The same moment as a date, by the current setting of the system's clock.
    public var date: Date { Date(timeIntervalSince1970: Double(unixMicroseconds) / 1_000_000) }
}

extension Discovery {
    /// When it was received.
    public var date: Date { time.date }
}

extension Notifications.Value {
    /// When it was received.
    public var date: Date { time.date }
}
