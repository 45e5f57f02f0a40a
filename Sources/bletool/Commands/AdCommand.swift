import ArgumentParser
import BLE

struct AdCommand: CommandGroupHelp {
    static let configuration = CommandConfiguration(
        commandName: "ad",
        abstract: "Decode and pack advertising data, without a controller.",
        subcommands: [AdDecodeCommand.self, AdPackCommand.self])
}

struct AdDecodeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Decode advertising data.",
        discussion: """
            Malformed structures are listed under errors; everything else is decoded, or shown with its type and octets.

              bletool ad decode 0201060303 0d18 0b0942756d626c6550656572
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Argument(help: ArgumentHelp("The advertisement in hexadecimal.", valueName: "hex"), transform: HexBytes.parse)
    var advertisement: [HexBytes]

    @Option(help: ArgumentHelp("The scan response of the same device.", valueName: "hex"), transform: HexBytes.parse)
    var scanResponse: HexBytes?

    @Option(
        help: ArgumentHelp("Look for this service in the overflow area; may be repeated.", valueName: "uuid"),
        transform: BluetoothUUID.parse)
    var scanFor: [BluetoothUUID] = []

    @Option(
        help: ArgumentHelp("Who sent it: encrypted sensors cannot be read without it.", valueName: "address"),
        transform: AddressArgument.parse)
    var address: AddressArgument?

    @OptionGroup var keys: DeviceKeyArguments

    func run(in session: Session) async throws {
        let bytes = advertisement.flatMap(\.bytes)
        let output = AdvertisingDataOutput(
            advertisement: bytes, scanResponse: scanResponse?.bytes ?? [], scanFor: scanFor, from: address?.address,
            keys: try keys.sensorKeys())
        session.console.print(output.json, text: output.text)
    }
}
