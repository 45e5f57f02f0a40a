/// What is wrong with a file of settings.
struct SettingsProblem: Error, Equatable, CustomStringConvertible {
    var file: String
    /// Counted from 1; `nil`: the whole file.
    var line: Int?
    /// Such as `filters.allow[0].rssi`; empty for the whole file.
    var key = ""
    var message: String

    var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return key.isEmpty ? "\(place): \(message)" : "\(place): \(key): \(message)"
    }
}
