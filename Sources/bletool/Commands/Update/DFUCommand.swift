import ArgumentParser
import BLE
import BLEJSON
import BLEUpdate

struct DFUCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "dfu",
        abstract: "Update the firmware of a device.",
        discussion: """
            Finds out what the device speaks: mcumgr's SMP with MCUboot, Nordic's secure DFU, or Nordic's legacy DFU. FILE \
            is the zip package of nrfutil or of the nRF Connect SDK (dfu_application.zip), or a signed image of MCUboot. \
            The file is checked before anything is erased. If the link is lost, bletool connects again and goes on.

              bletool dfu 24:6F:28:AA:BB:CC dfu_application.zip
              bletool dfu Thermometer zephyr.signed.bin --no-confirm
              bletool dfu - app_dfu_package.zip
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup(title: ConnectionOptions.title) var strength: KeyStrengthArguments

    @Argument("ADDRESS, ADDRESS/random or a name; - only checks the file.") var peer: PeerArgument

    @Argument(help: "The firmware.", completion: .file(extensions: ["zip", "bin"])) var file: String

    @Flag(help: "With MCUboot: leave the new image on trial; the device returns to the old one at its next restart.")
    var noConfirm = false

    @Option("With mcumgr: requests in flight, 1 to 64; by default what the device's buffers allow.", "number")
    var window: Int?

    @Option("With Nordic's DFU: packets after which the device is waited for; 0 for never.", "number") var prn: Int?

    func validate() throws {
        if let window, !(1...64).contains(window) { throw ValidationError("--window is 1 to 64.") }
        if let prn, !(0...0xFFFF).contains(prn) { throw ValidationError("--prn is 0 to 65535.") }
    }

    func run(in session: Session) async throws {
        let console = session.console
        let octets = try TextFile.bytes(of: file)
        let firmware: FirmwareFile
        do throws(FirmwareFileError) { firmware = try FirmwareFile(octets) } catch {
            throw Failure("‘\(file)’: \(error)", status: .usage)
        }
        console.print(firmware.object, text: firmware.text)
        if peer == .name("-") { return }
        var options = FirmwareUpdate.Options()
        (options.confirms, options.window, options.receiptInterval) = (!noConfirm, window, prn)
        var search = connection.search
        // Short intervals while the image is sent, unless the user chose others.
        search.pace = search.pace ?? .throughput
        (options.pace, options.phys) = (search.pace, search.phys)
        let update = FirmwareUpdate(firmware, options: options)
        let (peer, strength, chosen) = (peer, strength, search)
        let adjust: (inout AdapterConfiguration) throws -> Void = { try session.prepareGATT(&$0, strength) }
        try await session.withAdapter(adjusting: adjust) { adapter in
            let peripheral = try await session.connect(to: peer, through: adapter, chosen)
            let output = UpdateOutput(console)
            let outcome: FirmwareUpdate.Outcome
            do {
                outcome = try await update.run(on: peripheral) { output.show($0) }
            } catch let error as UpdateError { throw Failure(update: error) }
            console.showProgress("")
            let rate = outcome.seconds > 0 ? Double(outcome.byteCount) / outcome.seconds : 0
            let object: JSONValue = [
                "event": "firmwareUpdated", "protocol": .string(outcome.updateProtocol.rawValue),
                "bytes": JSONValue(outcome.byteCount), "seconds": .number(outcome.seconds),
                "bytesPerSecond": JSONValue(Int(rate)), "reconnections": JSONValue(outcome.reconnections),
                "wasCurrent": .boolean(outcome.wasCurrent), "onTrial": .boolean(outcome.isOnTrial),
            ]
            var text =
                outcome.wasCurrent
                ? "the device runs this firmware already"
                : "updated: \(outcome.byteCount) bytes in \(LinkSummaryOutput.decimal(outcome.seconds, digits: 1)) s, "
                    + UpdateOutput.text(rate: rate)
            if outcome.reconnections == 1 { text += ", connected again once" }
            if outcome.reconnections > 1 { text += ", connected again \(outcome.reconnections) times" }
            if outcome.isOnTrial { text += "; the image is on trial until it is confirmed" }
            console.print(object, text: text)
        }
    }
}
