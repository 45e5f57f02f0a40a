import ArgumentParser
import BLE
import BLEJSON
import BLETransport

struct DevCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "List the kernel's adapters.",
        discussion: """
            Requires no permission. ‘up’ means that the kernel's own stack uses the adapter: raw:N shares it, user:N \
            requires it to be down.

              bletool dev
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        let adapters: [KernelAdapter]
        do throws(TransportError) { adapters = try AdapterList.adapters() } catch {
            throw Failure(error.description, status: .transportNotOpened)
        }
        for adapter in adapters {
            session.console.print(
                [
                    "index": JSONValue(adapter.index), "name": .string(adapter.name),
                    "address": .string(adapter.address.addressText), "up": .boolean(adapter.isUp),
                    "bus": .string(adapter.bus.description),
                ],
                text: "\(adapter.name)  \(adapter.address.addressText)  \(adapter.isUp ? "up" : "down")  \(adapter.bus)"
            )
        }
        if adapters.isEmpty { session.console.note("no adapter found") }
    }
}
