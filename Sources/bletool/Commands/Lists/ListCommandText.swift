import BLE

/// Help texts of the commands on lists.
enum ListCommandText {
    static func discussion(_ example: String) -> String {
        """
        With raw:, the list of the kernel's controller; with other transports the list is lost when the process ends.

          bletool -t raw:0 \(example)
        """
    }
}

extension Session {
    /// Opens the adapter for one command that is answered by Command Complete.
    @discardableResult
    func send<Command: HCICommand>(_ command: Command) async throws -> Command.ReturnParameters {
        try await withAdapter { adapter in
            try await ControllerCommands(adapter: adapter, events: EventWatch()).send(command)
        }
    }
}
