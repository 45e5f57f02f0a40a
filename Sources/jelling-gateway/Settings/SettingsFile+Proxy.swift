extension SettingsFile {
    /// What ESPHome's own devices use.
    private static let example = "127.0.0.1:6053"

    static func proxy(_ parent: SettingsObject) -> ESPHomeSettings? {
        let keys = ["listen", "keyFile", "slots", "name", "pairing", "advertise"]
        guard let object = parent.object("esphome", keys: keys) else {
            parent.report("esphome", "it is empty; write ‘listen: \"\(example)\"’ below it")
            return nil
        }
        var proxy = ESPHomeSettings(places: places(object))
        proxy.keyFile = object.text("keyFile")
        proxy.slots = object.integer("slots", in: 1...32, "links") ?? proxy.slots
        if let name = object.text("name") {
            if isHostName(name) {
                proxy.name = name
            } else {
                object.report("name", "it becomes a host name: 1 to 63 letters, digits and ‘-’, none of them at an end")
            }
        }
        proxy.allowsPairing = object.boolean("pairing") ?? proxy.allowsPairing
        proxy.advertising = advertising(object)
        if proxy.keyFile == nil, proxy.places.contains(where: { !$0.isLoopback }) {
            object.report("listen", "an address that others reach needs ‘keyFile’")
        }
        return proxy
    }

    private static func places(_ object: SettingsObject) -> [ListenAddress] {
        guard let node = object.node("listen") else {
            _ = object.required("listen", String?.none, "; write \(example)")
            return []
        }
        let isList = if case .sequence = node { true } else { false }
        let texts = isList ? object.texts("listen") : object.text("listen").map { [$0] } ?? []
        if isList, texts.isEmpty { object.report("listen", "the list is empty; write \(example) into it") }
        var places: [ListenAddress] = []
        for text in texts {
            do throws(ListenAddress.Problem) {
                let place = try ListenAddress(text, example: example)
                if places.contains(place) { object.report("listen", "\(place) appears twice") }
                places.append(place)
            } catch {
                object.report("listen", error.text)
            }
        }
        return places
    }

    private static func advertising(_ object: SettingsObject) -> ESPHomeSettings.Advertising {
        switch object.text("advertise") {
        case nil, "off"?, "false"?, "no"?: return .off
        case "avahi"?: return .avahi
        case let folder?:
            if !folder.hasPrefix("/") {
                object.report("advertise", "expected avahi, off, or the path of a folder that begins with ‘/’")
            }
            return .folder(folder)
        }
    }

    private static func isHostName(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count) && text.first != "-" && text.last != "-"
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    }
}
