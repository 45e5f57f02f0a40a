//! Offers a lamp that phones switch on and off, and tells those that subscribed.

import BLE
// snippet.hide
import BLETestKit
// snippet.show

func serveLamp(_ adapter: Adapter) async throws {
    var isOn = false
    // First the events, so that none is missed.
    let events = await adapter.serverEvents()
    let service = try await adapter.publish(
        GATTServiceDefinition(
            uuid: "FFE0",
            characteristics: [
                GATTCharacteristicDefinition(
                    uuid: "FFE1", properties: [.read, .write, .notify], permissions: [.readable, .writeable])
            ]))
    let power = service.characteristics[0].valueHandle
    let advertising = Task {
        try await adapter.advertise(
            AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: ["FFE0"]), resumesAfterConnection: true))
    }
    defer { advertising.cancel() }
    for try await event in events {
        switch event {
        case .gatt(.read(let request)):
            await adapter.respond(to: request.id, with: .value([isOn ? 1 : 0]))
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
// snippet.hide

// The other side, on a radio of its own.
let radio = try TestRadio()
let device = try await radio.openAdapter()
let phone = try await radio.openAdapter()
let serving = Task { try await serveLamp(device) }
try await phone.withConnection(to: "Lamp", timeout: .seconds(60)) { lamp in
    let power = try await lamp.findCharacteristic("FFE1")
    print("the lamp is", try await lamp.read(power) == [1] ? "on" : "off")
    try await lamp.write([1], to: power)
    print("the lamp is", try await lamp.read(power) == [1] ? "on" : "off")
}
serving.cancel()
await phone.close()
await device.close()
