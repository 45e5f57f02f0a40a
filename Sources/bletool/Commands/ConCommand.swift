import ArgumentParser
import BLEJSON

struct ConCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "con",
        abstract: "List the connections.",
        discussion: """
            With raw:, lists the connections of the kernel's stack. With other transports a connection ends with the \
            process that made it, so the list is empty.

              bletool -t raw:0 con
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        guard let index = session.rawAdapter else {
            if session.daemonSocket != nil {
                return session.console.note("‘bletool status’ lists the links of bled, and whose they are")
            }
            return session.console.note("only connections on raw:N remain after a process ends")
        }
        for connection in try KernelConnections(adapter: index).all() {
            let isCentral = connection.mode.contains(.central)
            session.console.print(
                [
                    "event": "connection", "handle": JSONValue(connection.handle),
                    "address": .string(connection.addressText),
                    // The kernel does not report it.
                    "addressType": .null,
                    "link": .string(connection.link.description), "state": .string(connection.state.description),
                    "role": isCentral ? "central" : "peripheral", "outgoing": .boolean(connection.isOutgoing),
                    "encrypted": .boolean(connection.mode.contains(.encrypted)),
                ],
                text: "\(connection.isOutgoing ? "<" : ">") \(connection.link) \(connection.addressText) handle "
                    + "\(connection.handle) state \(connection.state) lm \(isCentral ? "central" : "peripheral")"
                    + (connection.mode.contains(.encrypted) ? " encrypted" : ""))
        }
    }
}
