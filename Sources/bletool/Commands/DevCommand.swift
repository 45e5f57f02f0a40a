import ArgumentParser
import BLE
import BLEJSON

struct DevCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "List the adapters.",
        discussion: """
            Requires no permission. ‘up’ means that the kernel's own stack uses the adapter: raw:N shares it, user:N \
            requires it to be down. With a transport that does not lead to the kernel (-t sim, tcp:…), the controller \
            behind it is the only one.

              bletool dev
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        if let transport = session.transport, !transport.leadsToKernel {
            return try await printController(behind: transport, in: session)
        }
        let adapters: [KernelAdapter]
        do throws(TransportError) { adapters = try AdapterList.adapters() } catch {
            throw Failure.notOpened(error)
        }
        for adapter in adapters {
            session.console.print(
                [
                    "event": "adapter", "index": JSONValue(adapter.index), "name": .string(adapter.name),
                    "address": .string(adapter.address.addressText), "up": .boolean(adapter.isUp),
                    "bus": .string(adapter.bus.description),
                ],
                text: "\(adapter.name)  \(adapter.address.addressText)  \(adapter.isUp ? "up" : "down")  \(adapter.bus)"
            )
        }
        if adapters.isEmpty { session.console.note("no adapter found") }
    }

    private func printController(behind transport: TransportAddress, in session: Session) async throws {
        let information = try await session.withAdapter { adapter in await adapter.information }
        let address = information.publicAddress ?? information.ownAddress
        session.console.print(
            [
                "event": "adapter", "index": .null, "name": .string(transport.description),
                "address": JSONValue(address?.addressText), "up": .boolean(true), "bus": .string(transport.scheme),
            ], text: "\(transport)  \(address?.addressText ?? "no address")  up  \(transport.scheme)")
    }
}
