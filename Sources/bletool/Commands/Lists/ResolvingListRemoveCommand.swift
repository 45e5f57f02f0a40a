import ArgumentParser
import BLE

struct ResolvingListRemoveCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lerlrm",
        abstract: "Remove a device from the resolving list.",
        discussion: ListCommandText.discussion("lerlrm 24:6F:28:AA:BB:CC"))

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Flag(name: .shortAndLong, help: "The address is random, as with /random.")
    var random = false

    @Argument(help: "ADDRESS or ADDRESS/random.", transform: AddressArgument.parse)
    var address: AddressArgument

    func run(in session: Session) async throws {
        let address = address.asRandom(random)
        try await session.send(LERemoveDeviceFromResolvingList(peerIdentityAddress: address))
    }
}
