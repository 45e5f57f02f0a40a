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

    @Argument("The advertisement in hexadecimal.", "hex") var advertisement: [HexBytes]

    @Option("The scan response of the same device.", "hex") var scanResponse: HexBytes?

    @Option("Look for this service in the overflow area; may be repeated.", "uuid") var scanFor: [BluetoothUUID] = []

    @Option("Who sent it: encrypted sensors cannot be read without it.", "address") var address: AddressArgument?

    @OptionGroup var keys: DeviceKeyArguments

    func run(in session: Session) async throws {
        let bytes = advertisement.flatMap(\.bytes)
        let output = AdvertisingDataOutput(
            advertisement: bytes, scanResponse: scanResponse?.bytes ?? [], scanFor: scanFor, from: address?.address,
            keys: try keys.sensorKeys())
        session.console.print(output.json, text: output.text)
    }
}
