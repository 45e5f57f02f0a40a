import ArgumentParser
import BLE

struct ResolvingListAddCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lerladd",
        abstract: "Add a device to the resolving list.",
        discussion: """
            Keys have 32 hexadecimal digits, most significant first; the default is zero.

            """
                + ListCommandText.discussion("lerladd --peer 00112233445566778899aabbccddeeff 24:6F:28:AA:BB:CC"))

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Option(
        name: .shortAndLong, help: ArgumentHelp("This device's identity resolving key.", valueName: "irk"))
    var local: Secret<IdentityKey>?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The device's identity resolving key.", valueName: "irk"))
    var peer: Secret<IdentityKey>?

    @Flag(name: .shortAndLong, help: "The address is random, as with /random.")
    var random = false

    @Argument(help: "The device's identity: ADDRESS or ADDRESS/random.", transform: AddressArgument.parse)
    var address: AddressArgument

    func validate() throws {
        try local?.check("--local <irk>")
        try peer?.check("--peer <irk>")
    }

    func run(in session: Session) async throws {
        func key(_ option: Secret<IdentityKey>?) -> Key128 { option?.value?.key ?? .zero }
        try await session.send(
            LEAddDeviceToResolvingList(
                peerIdentityAddress: address.asRandom(random), peerIdentityResolvingKey: key(peer),
                localIdentityResolvingKey: key(local)))
    }
}
