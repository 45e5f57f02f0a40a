/// A day of the Gregorian calendar.
struct CivilDate: Equatable, Sendable, CustomStringConvertible {
    var year: Int
    var month: Int
    var day: Int

    init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// - Parameter daysSince1970: not negative.
    init(daysSince1970 days: Int) {
        // The year begins with March here, so that the day that some years have more is the last one. An era is 400
        // years.
        let days = days + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// `2026-11-22`, with question marks for what is 0: not known.
    var description: String {
        "\(Self.digits(year, 4))-\(Self.digits(month, 2))-\(Self.digits(day, 2))"
    }

    static func digits(_ number: Int, _ count: Int) -> String {
        let text = number == 0 ? "" : String(number)
        return String(repeating: number == 0 ? "?" : "0", count: max(0, count - text.utf8.count)) + text
    }
}
