import ArgumentParser
import BLE
import BLEJSON

struct PowerCommand: ToolCommand {
    enum State: String, ExpressibleByArgument, CaseIterable {
        case on, off
    }

    static let configuration = CommandConfiguration(
        commandName: "power",
        abstract: "Bring an adapter up or take it down; switch Bluetooth of bled off or on.",
        discussion: """
            user:N requires the adapter to be down, raw:N requires it to be up. Without -t, bled if it runs, else the \
            first adapter. Requires root or CAP_NET_ADMIN; with bled, its operators may do it: all links end, and \
            the controller is released until bled is told “on” or starts again.

              bletool -t hci0 power off
              bletool -t bled power off
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument(help: "on or off.") var state: State

    func run(in session: Session) async throws {
        let transport = try session.chosenTransport()
        if case .daemon = transport {
            return try await session.operateAll(.power(state == .on)) { _, suffix in
                session.console.print(
                    ["event": "power", "index": .null, "up": .boolean(state == .on)],
                    text: "Bluetooth  \(state.rawValue)\(suffix)")
            }
        }
        guard let index = transport.kernelIndex else {
            throw Failure("\(transport) is not one of the kernel's adapters; it has no power switch", status: .usage)
        }
        session.console.adapter = transport.adapterName
        let adapter: KernelAdapter
        do throws(TransportError) {
            try AdapterPower.set(state == .on, adapter: index)
            adapter = try AdapterList.adapter(index)
        } catch {
            // Here a missing right is no matter of a channel.
            throw Failure.notOpened(error)
        }
        session.console.print(
            ["event": "power", "index": JSONValue(index), "up": .boolean(adapter.isUp)],
            text: "\(adapter.name)  \(adapter.isUp ? "up" : "down")")
    }
}
