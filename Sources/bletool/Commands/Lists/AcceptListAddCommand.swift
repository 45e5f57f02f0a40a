import ArgumentParser
import BLE

struct AcceptListAddCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lealadd",
        abstract: "Add a device to the accept list.",
        discussion: ListCommandText.discussion("lealadd 24:6F:28:AA:BB:CC"))

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Flag(name: .shortAndLong, help: "The address is random, as with /random.")
    var random = false

    @Argument(help: "ADDRESS or ADDRESS/random.", transform: AddressArgument.parse)
    var address: AddressArgument

    func run(in session: Session) async throws {
        let address = address.asRandom(random)
        try await session.send(LEAddDeviceToFilterAcceptList(address: address))
    }
}
