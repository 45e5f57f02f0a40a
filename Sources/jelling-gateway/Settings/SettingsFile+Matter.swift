import BLEMatter

extension SettingsFile {
    private static let matterExample = "ws://127.0.0.1:5580/ble"

    static func matter(_ parent: SettingsObject) -> MatterSettings? {
        guard let object = parent.object("matter", keys: ["url", "tokenFile", "caFile"]) else {
            parent.report("matter", "it is empty; write ‘url: \"\(matterExample)\"’ below it")
            return nil
        }
        guard let text = object.required("url", object.text("url"), "; write \(matterExample)") else { return nil }
        let authorities = object.text("caFile")
        do throws(ListenAddress.Problem) {
            let (server, isSecure) = try server(text)
            if authorities != nil, !isSecure { object.report("caFile", "without wss:// in ‘url’ it has no use") }
            return MatterSettings(
                server: server, security: isSecure ? .init(authorities: authorities) : nil,
                tokenFile: object.text("tokenFile"))
        } catch {
            object.report("url", error.text)
            return nil
        }
    }

    private static func server(
        _ text: String
    ) throws(ListenAddress.Problem) -> (server: MatterServer, isSecure: Bool) {
        let hint = "; expected ws://HOST:PORT or wss://HOST:PORT, such as \(matterExample)"
        let isSecure = text.hasPrefix("wss://")
        guard isSecure || text.hasPrefix("ws://") else {
            throw ListenAddress.Problem(text: "it begins with neither ws:// nor wss://" + hint)
        }
        let rest = text.dropFirst(isSecure ? 6 : 5)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let path = String(rest[slash...])
        if rest[..<slash].contains("@") {
            throw ListenAddress.Problem(text: "a user and a password cannot stand in it; ‘tokenFile’ names a token")
        }
        guard let (host, port) = BrokerURL.hostAndPort(String(rest[..<slash])) else {
            throw ListenAddress.Problem(text: BrokerURL.problem(ofHostAndPort: String(rest[..<slash])) + hint)
        }
        guard let port else { throw ListenAddress.Problem(text: "the port is missing" + hint) }
        guard path.utf8.count <= 512, path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
        else { throw ListenAddress.Problem(text: "the path has a character that no path has" + hint) }
        let server = MatterServer(host: host, port: port, path: path.count > 1 ? path : MatterServer.usualPath)
        return (server, isSecure)
    }
}
