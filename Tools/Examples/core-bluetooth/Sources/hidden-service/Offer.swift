// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreBluetooth

func report(_ event: String, _ fields: [String: String] = [:]) {
    let line = fields.merging(["event": event]) { first, _ in first }
    guard let data = try? JSONEncoder().encode(line) else { return }
    print(String(decoding: data, as: UTF8.self))
    fflush(nil)
}

/// Publishes and advertises services, with a restore identifier.
@MainActor
final class Offer: NSObject {
    private var manager: CBPeripheralManager!
    private let services: [CBUUID]
    private let name: String
    private let goesBehind: Bool
    private var isRestored = false

    /// - Parameter goesBehind: whether the app enters the background as soon as it advertises.
    init(_ services: [CBUUID], name: String, goesBehind: Bool) {
        self.services = services
        self.name = name
        self.goesBehind = goesBehind
        super.init()
        manager = CBPeripheralManager(
            delegate: self, queue: nil, options: [CBPeripheralManagerOptionRestoreIdentifierKey: "offer"])
    }
}

extension Offer: @preconcurrency CBPeripheralManagerDelegate {
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        let data = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any] ?? [:]
        let uuids = data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
        isRestored = !uuids.isEmpty
        report("willRestore", ["services": uuids.map(\.uuidString).joined(separator: ",")])
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        report("state", ["state": "\(peripheral.state)"])
        // Below poweredOff the system forgets what was published and advertised.
        if peripheral.state.rawValue < CBManagerState.poweredOff.rawValue { isRestored = false }
        guard peripheral.state == .poweredOn, !isRestored else { return }
        for uuid in services { peripheral.add(CBMutableService(type: uuid, primary: true)) }
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: name, CBAdvertisementDataServiceUUIDsKey: services,
        ])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        report("advertising", ["error": error?.localizedDescription ?? "none"])
        if goesBehind { CBApplication.shared.enterBackground() }
    }
}
