import BLEValues

/// A device as somebody would write it, on `BLE`: a lamp that is switched by a characteristic and tells of it.
actor Lamp {
    static let service: BluetoothUUID = "FFE0"
    static let power: BluetoothUUID = "FFE1"

    private let adapter: Adapter
    private(set) var isOn = false

    init(adapter: Adapter) { self.adapter = adapter }

    /// Runs until the task is cancelled.
    func run() async throws {
        let events = await adapter.serverEvents()
        let service = try await adapter.publish(
            GATTServiceDefinition(
                uuid: Self.service,
                characteristics: [
                    GATTCharacteristicDefinition(
                        uuid: Self.power, properties: [.read, .write, .notify], permissions: [.readable, .writeable])
                ]))
        let power = service.characteristics[0].valueHandle
        let advertising = Task { [adapter] in
            try await adapter.advertise(
                AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: [Self.service]), resumesAfterConnection: true)
            )
        }
        defer { advertising.cancel() }
        for try await event in events {
            switch event {
            case .gatt(.read(let request)): await adapter.respond(to: request.id, with: .value([isOn ? 1 : 0]))
            case .gatt(.write(let request)):
                guard let value = request.writes.first?.value, value == [0] || value == [1] else {
                    await adapter.respond(to: request.id, with: .failure(.valueNotAllowed))
                    continue
                }
                isOn = value == [1]
                await adapter.respond(to: request.id, with: .success)
                await adapter.updateValue(value, of: power)
            default: break
            }
        }
    }
}
