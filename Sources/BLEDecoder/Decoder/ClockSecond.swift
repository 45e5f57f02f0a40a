/// A second of a capture and its text: most packets are of the same second as the one before.
struct ClockSecond {
    /// Microseconds since 1970-01-01 00:00 UTC.
    let start: Int64
    /// Days since 1970-01-01.
    let day: Int64
    /// `12:34:56` as eight characters, the first lowest.
    let text: UInt64

    /// The second that contains a time, also one before 1970.
    init(of time: Int64) {
        let (seconds, fraction) = Self.floored(time, by: 1_000_000)
        let (day, ofDay) = Self.floored(seconds, by: 86_400)
        start = time &- Int64(fraction)
        self.day = day
        let numbers = [ofDay / 3600, ofDay / 60 % 60, ofDay % 60]
        var text: UInt64 = 0
        for number in numbers.reversed() {
            let pair = number / 10 | (number % 10) << 8 | 0x3030
            text = text << 24 | UInt64(UInt8(ascii: ":")) << 16 | pair
        }
        self.text = text
    }

    @inline(__always)
    func contains(_ time: Int64) -> Bool { UInt64(bitPattern: time &- start) < 1_000_000 }

    /// `2026-11-30`
    func writeDate(into buffer: inout TextBuffer) {
        let (year, month, date) = Self.civil(day)
        buffer.append(signed: year)
        buffer.append(UInt8(ascii: "-"))
        buffer.append(decimal: UInt64(month), digits: 2)
        buffer.append(UInt8(ascii: "-"))
        buffer.append(decimal: UInt64(date), digits: 2)
    }

    /// The quotient and the remainder, rounded down, also for times before 1970.
    private static func floored(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: UInt64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, UInt64(remainder + divisor)) : (quotient, UInt64(remainder))
    }

    /// The date of a day counted from 1970-01-01, in the Gregorian calendar.
    private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        return (
            year + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9,
            ofYear - (153 * month + 2) / 5 + 1
        )
    }
}
