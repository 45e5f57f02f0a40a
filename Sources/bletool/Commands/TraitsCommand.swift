import ArgumentParser
import BLE
import BLEAppState
import BLEDaemonClient
import BLEJSON
import BLEText

struct TraitsCommand: ToolCommand {
    enum Verb: String, ExpressibleByArgument, CaseIterable { case forget }

    static let configuration = CommandConfiguration(
        commandName: "traits",
        abstract: "Show what was learned of controllers, or forget it.",
        discussion: """
            Many controllers claim what they cannot do. What one of them has shown is kept in the state folder, by its USB \
            port and version or by its address, and heeded the next time; ‘info’ shows it for one controller. “forget” has \
            everything tried again, such as after a change of firmware. With -t bled, or if bled is there, it is about \
            the controllers of bled, and “forget” is for its operators.

              bletool traits
              bletool -t bled traits forget
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument(help: "forget: what was learned is tried again.") var verb: Verb?

    func run(in session: Session) async throws {
        guard session.daemonSocket == nil else { return try await askDaemon(session) }
        let memory = session.controllerMemory
        guard verb == nil else {
            if let problem = memory.forget(nil) { throw Failure(problem, code: .stateUnusable) }
            return session.console.print(["event": "forgotten"], text: "what was learned is forgotten")
        }
        let all: [(name: String, experience: ControllerExperience)]
        do { all = try memory.all } catch { throw Failure("\(error)", code: .stateUnusable) }
        for (name, experience) in all { show(experience, of: name, as: Self.shown(name), in: session) }
        if all.isEmpty { session.console.note("nothing was learned of any controller") }
    }

    private func askDaemon(_ session: Session) async throws {
        guard verb == nil else {
            return try await session.operateAll(.forgetTraits) { _, suffix in
                session.console.print(["event": "forgotten"], text: "what was learned is forgotten\(suffix)")
            }
        }
        try await session.operateAll(.status) { answer, _ in
            let adapters = answer.status?.adapters ?? []
            for adapter in adapters {
                // One that only a manifest names was never there.
                guard let learned = adapter.learned else { continue }
                guard learned.problem.isEmpty else { throw Failure(learned.problem, code: .stateUnusable) }
                let transport = (try? TransportAddress(adapter.transport))?.adapterName ?? adapter.transport
                let name = learned.controller.isEmpty ? adapter.transport : learned.controller
                let place = Self.shown(name)
                let isNamed = [transport, adapter.transport].contains(place)
                show(learned.experience, of: name, as: isNamed ? transport : "\(transport)  \(place)", in: session)
            }
            if adapters.first.map({ $0.learned == nil }) ?? true {
                session.console.note(
                    "this bled is older than bletool, and does not say what was learned: restart it as the version that is "
                        + "installed")
            }
        }
    }

    private func show(
        _ experience: ControllerExperience, of name: String, as title: String, in session: Session
    ) {
        var lines =
            TraitTexts.texts(of: experience.found).map { "  " + $0 }
            + TraitTexts.texts(of: experience.refuted).map { "  not: " + $0 }
        if lines.isEmpty { lines = ["  nothing was learned"] }
        session.console.print(
            [
                "event": "traits", "controller": .string(name),
                "found": JSONValue(TraitTexts.names(of: experience.found)),
                "refuted": JSONValue(TraitTexts.names(of: experience.refuted)),
            ], text: ([title.printable] + lines).joined(separator: "\n"))
    }

    /// A controller in the words that options and other commands have for it: `transport:uart:/dev/ttyS1@115200` is the
    /// name in the file of a serial controller.
    private static func shown(_ name: String) -> String {
        for prefix in ["transport:", "address:"] where name.hasPrefix(prefix) {
            return String(name.dropFirst(prefix.count))
        }
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count >= 5, parts[0] == "usb" else { return name }
        let place = parts[1..<(parts.count - 3)].joined(separator: ":")
        return "port:\(place)  usb \(parts[parts.count - 3]):\(parts[parts.count - 2]) (\(parts[parts.count - 1]))"
    }
}
