/// The names in manifests, and which of them was meant by one with a mistake in it: it would have no effect, and say
/// nothing of it.
public enum ManifestNames {
    /// How many letters of a name may be wrong, missing or too many.
    private static let mistakes = 2
    /// The background modes that have a meaning here. Apple has others, for what is not Bluetooth.
    private static let bluetoothModes = ["bluetooth-central", "bluetooth-peripheral"]

    /// The known name that is meant by another one: they differ only in case, or in few letters.
    /// - Returns: `nil` if `name` is known, or is like none.
    public static func meant(by name: String, among known: [String]) -> String? {
        guard !known.contains(name) else { return nil }
        let letters = lowercase(name)
        let distances = known.map { (name: $0, distance: distance(letters, lowercase($0))) }
        guard let nearest = distances.min(by: { $0.distance < $1.distance }), nearest.distance <= mistakes else {
            return nil
        }
        return nearest.name
    }

    /// What is wrong with the keys of a manifest, and what is right instead. Apple's keys, which begin with a capital
    /// letter, may stand there without a meaning.
    public static func problem(ofKeys keys: [String], known: [String]) -> String? {
        for key in keys where !known.contains(key) {
            // Apple's own name of the identifier, which is no mistake beside ours.
            if key == "CFBundleIdentifier", keys.contains("BundleIdentifier") { continue }
            if let meant = meant(by: key, among: known) { return "there is no key ‘\(key)’; write ‘\(meant)’" }
            if let first = key.utf8.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) { continue }
            return "there is no key ‘\(key)’; the keys are \(list(known.sorted()))"
        }
        return nil
    }

    /// What is wrong with the names of background modes, and what is right instead. Apple's modes for other things than
    /// Bluetooth may stand there without a meaning.
    public static func problem(ofBackgroundModes names: [String]) -> String? {
        for name in names where !bluetoothModes.contains(name) {
            let isBluetooth = lowercase(name).starts(with: lowercase("bluetooth"))
            guard isBluetooth || meant(by: name, among: bluetoothModes) != nil else { continue }
            return "‘UIBackgroundModes’ has no ‘\(name)’; the modes for Bluetooth are \(list(bluetoothModes))"
        }
        return nil
    }

    private static func list(_ names: [String]) -> String {
        names.map { "‘\($0)’" }.joined(separator: ", ")
    }

    private static func lowercase(_ name: String) -> [UInt8] {
        name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    /// Octets to insert, remove or replace; more than `mistakes` if the lengths differ by more.
    private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        guard abs(first.count - second.count) <= mistakes else { return mistakes + 1 }
        var last = Array(0...second.count)
        for row in first.indices {
            var current = [row + 1]
            for column in second.indices {
                let replaced = last[column] + (first[row] == second[column] ? 0 : 1)
                current.append(min(last[column + 1] + 1, current[column] + 1, replaced))
            }
            last = current
        }
        return last[second.count]
    }
}
