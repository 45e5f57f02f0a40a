/// The series of numbers that a page plots: one for each quantity of each device or connection, in bounded number.
struct MeasureSeries {
    /// So many of links are plotted, and so many of advertisers, which anybody can invent; the values of others are counted.
    static let limit = 32

    /// Whose numbers these are.
    struct Key: Hashable {
        /// The decoder's number of the connection; −1 for what was advertised.
        var connection: Int
        var address: UInt64
        var name: String
        var unit: String
    }

    /// In the order in which they began.
    private(set) var keys: [Key] = []
    private var places: [Key: Int] = [:]
    private var linkCount = 0
    /// How many values belong to no series, because there were too many.
    private(set) var omittedCount = 0

    /// The number of the series of a value; `nil` if there are too many.
    mutating func place(of measure: Measure, connection: Int?) -> Int? {
        let key = Key(
            connection: measure.address == nil ? connection ?? -1 : -1, address: measure.address ?? 0,
            name: measure.name, unit: measure.unit)
        if let place = places[key] { return place }
        let isOfLink = measure.address == nil
        guard (isOfLink ? linkCount : keys.count - linkCount) < Self.limit else {
            omittedCount += 1
            return nil
        }
        if isOfLink { linkCount += 1 }
        places[key] = keys.count
        keys.append(key)
        return keys.count - 1
    }
}
