import BLE
import BLESecurity

/// A gateway's program: connects to one sensor, pairs with it once, and reads a protected value ever after.
///
///     firmware-pair TRANSPORT ADDRESS UUID FOLDER
@main
enum FirmwarePair {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let peer = DeviceAddress(arguments[2]), let uuid = BluetoothUUID(arguments[3])
        else {
            return print("firmware-pair TRANSPORT ADDRESS UUID FOLDER")
        }
        var configuration = AdapterConfiguration()
        configuration.cryptoProvider = SwiftCryptoProvider()
        configuration.bondStore = FileBondStore(path: arguments[4]) { print($0) }
        configuration.security.pairing.requiresSecureConnections = true
        let adapter = try await Adapter.open(arguments[1], configuration: configuration)
        do {
            let sensor = try await adapter.connect(to: peer)
            let isKnown = await adapter.bonds.contains { $0.identity == peer }
            if !isKnown { print("paired:", try await sensor.pair()) }
            let value = try await sensor.read(try await sensor.findCharacteristic(uuid))
            print(value)
        } catch {
            print(error)
        }
        await adapter.close()
    }
}
