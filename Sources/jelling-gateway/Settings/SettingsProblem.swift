/// An error in the settings.
struct SettingsProblem: Error, Equatable, CustomStringConvertible {
    /// The file, the option or the variable.
    var file: String
    /// The line, counted from 1; `nil`: the whole file.
    var line: Int?
    /// The key, such as `filters.allow[0].rssi`; empty for the whole file.
    var key = ""
    var message: String

    var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return key.isEmpty ? "\(place): \(message)" : "\(place): \(key): \(message)"
    }
}
