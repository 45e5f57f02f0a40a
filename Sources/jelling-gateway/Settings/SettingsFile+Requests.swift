extension SettingsFile {
    static func requests(_ parent: SettingsObject, into settings: inout GatewaySettings) {
        var gatt = GATTSettings()
        // A broker that an argument names comes later.
        var usesBroker = true
        if let object = parent.object("gatt", keys: ["mqtt", "http", "tokenFile", "sessions"]) {
            gatt.tokenFile = object.text("tokenFile")
            gatt.sessions = object.integer("sessions", in: 1...32, "sessions") ?? gatt.sessions
            usesBroker = object.boolean("mqtt") ?? usesBroker
            gatt.usesHTTP = object.boolean("http") ?? (gatt.tokenFile != nil)
            if gatt.usesHTTP, settings.http == nil {
                object.report("http", "requests over HTTP need ‘http’ with ‘listen’")
            }
            if gatt.usesHTTP, gatt.tokenFile == nil, settings.http?.tokenFile == nil {
                object.report(
                    "http", "requests over HTTP need ‘tokenFile’: every program of this machine could send some")
            }
        }
        settings.gateway.takesGATTRequests = usesBroker
        settings.gatt = gatt
    }
}
