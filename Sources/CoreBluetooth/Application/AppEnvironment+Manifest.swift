import BLEAppLifecycle
import Foundation

/// The manifest that `JELLING_MANIFEST` names.
extension AppEnvironment {
    /// What is wrong with a manifest, and what is right instead.
    struct Mistake: Error, CustomStringConvertible { let description: String }

    /// The keys of the manifest of a program.
    private static let keys = [
        "BundleIdentifier", "UIBackgroundModes", "initialState", "authorization", "launchOptions", "pairing",
        "systemServices", "overflow",
    ]
    /// Those that only the manifest of an installed app has besides.
    private static let keysOfInstalled = [
        "user", "command", "unit", "environment", "directory", "adapter", "roles", "mayPair", "memoryMegabytes",
        "wakeSeconds",
    ]

    /// Reads the manifest. If anything is wrong with it, all of it is ignored and the app is not authorized: the author
    /// of a manifest may want to forbid something.
    mutating func readManifest(_ path: String) {
        do throws(Mistake) {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw Mistake(description: "it cannot be read")
            }
            var changed = self
            try changed.apply(manifest: data)
            self = changed
        } catch {
            authorization = .denied
            overflow = .off
            MisuseLog.write("the app is not authorized, because its manifest ‘\(path)’ is wrong: \(error)")
        }
    }

    /// Missing keys keep their defaults.
    mutating func apply(manifest data: Data) throws(Mistake) {
        let manifest = try Object(data)
        try manifest.check(Self.keys)
        identifier = try manifest.text("BundleIdentifier") ?? identifier
        modeNames = try manifest.texts("UIBackgroundModes") ?? []
        if let problem = ManifestNames.problem(ofBackgroundModes: modeNames) { throw Mistake(description: problem) }
        startsInForeground = try manifest.text("initialState", of: ["foreground", "background"]) != "background"
        // Where the user is asked during pairing.
        asksAtTerminal = try manifest.text("pairing", of: ["terminal", "none"]) != "none"
        // Generic Access and other services that Apple's system hides.
        showsSystemServices = try manifest.text("systemServices", of: ["hidden", "shown"]) == "shown"
        if let text = try manifest.text("overflow") {
            guard let setting = OverflowSetting(rawValue: text) else {
                throw Mistake(description: "‘overflow’ is \(OverflowSetting.forms), not ‘\(text)’")
            }
            overflow = setting
        }
        switch try manifest.text("authorization", of: ["allowed", "denied", "restricted"]) {
        case "denied": authorization = .denied
        case "restricted": authorization = .restricted
        default: break
        }
        if let launch = try manifest.object("launchOptions") {
            try launch.check(["centrals", "peripherals"])
            launchOptions.centrals += try launch.texts("centrals") ?? []
            launchOptions.peripherals += try launch.texts("peripherals") ?? []
        }
    }

    /// An object of a manifest, whose values are read by their keys.
    private struct Object {
        let values: [String: Any]
        /// What comes before its keys in messages.
        var place = ""

        init(_ values: [String: Any], in place: String) {
            self.values = values
            self.place = place
        }

        init(_ data: Data) throws(Mistake) {
            let value: Any
            do { value = try JSONSerialization.jsonObject(with: data) } catch {
                let reason = (error as NSError).userInfo["NSDebugDescription"] as? String
                throw Mistake(description: "it is not JSON\(reason.map { ": \($0)" } ?? "")")
            }
            guard let values = value as? [String: Any] else {
                throw Mistake(description: "it is not an object in braces")
            }
            self.values = values
        }

        func check(_ keys: [String]) throws(Mistake) {
            let own = values.keys.sorted()
            if place.isEmpty, let key = own.first(where: AppEnvironment.keysOfInstalled.contains) {
                throw Mistake(
                    description: "‘\(key)’ is for installed apps (‘bletool app install FILE’), not for JELLING_MANIFEST"
                )
            }
            if let problem = ManifestNames.problem(ofKeys: own, known: keys) {
                throw Mistake(description: place.isEmpty ? problem : "‘\(place)’: \(problem)")
            }
        }

        /// - Parameter allowed: the values that it may have; `nil`: any.
        func text(_ key: String, of allowed: [String]? = nil) throws(Mistake) -> String? {
            guard let value = values[key] else { return nil }
            guard let text = value as? String else {
                throw Mistake(description: "‘\(key)’ is a text in quotation marks, not \(value)")
            }
            guard let allowed, !allowed.contains(text) else { return text }
            let list = allowed.map { "‘\($0)’" }
            let firsts = list.dropLast().joined(separator: ", ")
            throw Mistake(description: "‘\(key)’ is \(firsts) or \(list.last ?? ""), not ‘\(text)’")
        }

        func texts(_ key: String) throws(Mistake) -> [String]? {
            guard let value = values[key] else { return nil }
            guard let texts = value as? [String] else {
                let name = place.isEmpty ? key : "\(place).\(key)"
                throw Mistake(description: "‘\(name)’ is a list of texts in brackets, not \(value)")
            }
            return texts
        }

        func object(_ key: String) throws(Mistake) -> Object? {
            guard let value = values[key] else { return nil }
            guard let values = value as? [String: Any] else {
                throw Mistake(description: "‘\(key)’ is an object in braces, not \(value)")
            }
            return Object(values, in: key)
        }
    }
}
