import BLE
import BenchmarkService
import Dispatch

/// A peripheral that streams when its control point is written, and sends back what comes on a channel.
///
///     Server ADAPTER ADDRESS
///
/// ADDRESS is a random static one, under which it advertises. Says `ready` once it advertises; ends with its standard
/// input.
@main
struct Server {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let address = DeviceAddress(arguments[2] + "/random") else {
            return print("usage: Server ADAPTER ADDRESS")
        }
        do {
            let configuration = AdapterConfiguration(ownAddress: .random(address))
            let adapter = try await Adapter.open(arguments[1], configuration: configuration)
            let events = await adapter.serverEvents()
            let published = try await adapter.publish(
                GATTServiceDefinition(
                    uuid: BenchmarkService.service,
                    characteristics: [
                        GATTCharacteristicDefinition(
                            uuid: BenchmarkService.control, properties: .write, permissions: .writeable),
                        GATTCharacteristicDefinition(
                            uuid: BenchmarkService.stream, properties: .notify, permissions: []),
                        GATTCharacteristicDefinition(
                            uuid: BenchmarkService.sink, properties: .writeWithoutResponse, permissions: .writeable),
                    ]))
            let stream = published.characteristics[1].valueHandle
            let advertising = Task {
                do {
                    try await adapter.advertise(
                        AdvertiseRequest(.packed(localName: "Benchmark", serviceUUIDs: [])))
                } catch {
                    if !(error is CancellationError) { print(error) }
                }
            }
            // Who waits for a line must not take one of the threads on which everything else runs.
            DispatchQueue(label: "input").async {
                while readLine() != nil {}
                advertising.cancel()
            }
            let serving = Task { try await serve(events, stream, with: adapter) }
            let incoming = try await adapter.acceptChannels(on: BenchmarkService.echo, BenchmarkService.echoSettings)
            let echoing = Task {
                for try await channel in incoming {
                    Task { for try await message in channel { try await channel.send(message) } }
                }
            }
            await advertising.value
            serving.cancel()
            echoing.cancel()
            await adapter.close()
        } catch {
            print("{\"event\":\"failed\"}")
            print(error)
        }
    }

    /// What is left of a stream.
    private struct Rest {
        var number: UInt32 = 0
        var octets = 0
        var length = 0

        /// The value that is next.
        var value: [UInt8] {
            var value = [UInt8](repeating: 0, count: min(length, octets))
            for index in value.indices.prefix(4) {
                value[index] = UInt8(truncatingIfNeeded: number >> (8 * UInt32(index)))
            }
            return value
        }
    }

    private static func serve(_ events: ServerEvents, _ stream: AttributeHandle, with adapter: Adapter) async throws {
        var rest = Rest()
        for try await event in events {
            switch event {
            case .advertisingStarted:
                say("{\"event\":\"ready\"}")
            case .gatt(.write(let request)):
                guard request.needsAnswer else { continue }
                let octets = request.writes.first?.value ?? []
                guard octets.count == 7, octets[0] == 1 else {
                    await adapter.respond(to: request.id, with: .failure(.valueNotAllowed))
                    continue
                }
                await adapter.respond(to: request.id, with: .success)
                rest = Rest(
                    octets: octets[1..<5].reversed().reduce(0) { $0 << 8 | Int($1) },
                    length: Int(octets[5]) | Int(octets[6]) << 8)
                await send(&rest, stream, with: adapter)
            case .gatt(.readyToUpdate): await send(&rest, stream, with: adapter)
            default: break
            }
        }
    }

    /// As much as there is room for.
    private static func send(_ rest: inout Rest, _ stream: AttributeHandle, with adapter: Adapter) async {
        while rest.octets > 0 {
            let value = rest.value
            guard await adapter.updateValue(value, of: stream) else { return }
            rest.number += 1
            rest.octets -= value.count
        }
    }
}
