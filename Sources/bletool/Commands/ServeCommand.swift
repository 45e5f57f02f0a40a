import ArgumentParser
import BLE

struct ServeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Be a peripheral: offer the services of a file.",
        discussion: """
            Goes on until ^C, and tells who connects, reads, writes and subscribes. What is written is kept until then, \
            and sent to who subscribed. The file is JSON; all keys but uuid may be absent:

              {"services":[{"uuid":"180D","primary":true,"includes":["180F"],
                "characteristics":[{"uuid":"2A37","properties":["read","notify"],
                  "permissions":["readable"],"value":"0040","notifyEvery":1,
                  "descriptors":[{"uuid":"2901","value":"70756c7365"}]}]},
                {"uuid":"180F"}]}

            Properties are read, write, writeWithoutResponse, notify, indicate, authenticatedSignedWrites, \
            notifyEncryptionRequired and indicateEncryptionRequired; permissions are readable, writeable, \
            readEncryptionRequired and writeEncryptionRequired; where there is no list of them, what the properties \
            promise is open to everybody. Centrals may pair, and bonds are kept in the state folder: what a central has \
            subscribed to is restored with its bond.

              bletool serve --profile heart.json --name Heart --advertise 180D
              bletool serve --profile lock.json --io display --mitm
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup var advertising: AdvertisingOptions

    @Option(help: ArgumentHelp("The services, as JSON.", valueName: "file"), completion: .file(extensions: ["json"]))
    var profile: String

    @Option(help: ArgumentHelp("A service to advertise; may be repeated.", valueName: "uuid"))
    var advertise: [BluetoothUUID] = []

    @OptionGroup var pairing: PairingArguments

    func validate() throws {
        guard pairing.passkey == nil || pairing.mitm else {
            throw ValidationError(
                "--passkey is for --mitm here: without it anybody pairs without a passkey, and one that stays the same "
                    + "is only given away. Take --io display --mitm --passkey N, or leave --passkey out: then each "
                    + "pairing has a number of its own.")
        }
    }

    func run(in session: Session) async throws {
        let served: ServedProfile
        let bytes = try TextFile.bytes(of: profile)
        do { served = try ServedProfile(bytes) } catch let failure as Failure {
            throw Failure("‘\(profile)’: \(failure.message)", status: .usage)
        }
        try await advertising.run(advertise, profile: served, pairing: pairing, in: session)
    }
}
