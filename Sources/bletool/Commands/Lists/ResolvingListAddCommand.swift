import ArgumentParser
import BLE

struct ResolvingListAddCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lerladd",
        abstract: "Add a device to the resolving list.",
        discussion: """
            Keys have 32 hexadecimal digits, most significant first; the default is zero. Other users can read a key \
            among the arguments until this program has started, and a shell may keep it; a file has its key in its \
            first line, and - is standard input.

            """
                + ListCommandText.discussion("lerladd --peer 00112233445566778899aabbccddeeff 24:6F:28:AA:BB:CC"))

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Option(
        name: .shortAndLong, help: ArgumentHelp("This device's identity resolving key.", valueName: "irk"))
    var local: Secret<IdentityKey>?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The device's identity resolving key.", valueName: "irk"))
    var peer: Secret<IdentityKey>?

    @Option("A file with this device's key.", "file", completion: .file()) var localFile: String?

    @Option("A file with the device's key.", "file", completion: .file()) var peerFile: String?

    @Flag(name: .shortAndLong, help: "The address is random, as with /random.")
    var random = false

    @Argument("The device's identity: ADDRESS or ADDRESS/random.") var address: AddressArgument

    func validate() throws {
        try local?.check("--local <irk>")
        try peer?.check("--peer <irk>")
        guard local == nil || localFile == nil else {
            throw ValidationError("--local contradicts --local-file: omit one of them.")
        }
        guard peer == nil || peerFile == nil else {
            throw ValidationError("--peer contradicts --peer-file: omit one of them.")
        }
    }

    func run(in session: Session) async throws {
        func key(_ option: Secret<IdentityKey>?, _ file: String?) throws -> Key128 {
            try file.map { try SecretFile.value(of: $0, IdentityKey.self).key } ?? option?.value?.key ?? .zero
        }
        try await session.send(
            LEAddDeviceToResolvingList(
                peerIdentityAddress: address.asRandom(random), peerIdentityResolvingKey: key(peer, peerFile),
                localIdentityResolvingKey: key(local, localFile)))
    }
}
