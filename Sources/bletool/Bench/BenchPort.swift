import BLE
import Synchronization

/// The way to one peer: packets of the benchmark in both directions.
struct BenchPort: Sendable {
    /// The service and characteristics of Bumble's `bench`: clients write to the first, the second notifies.
    static let service: BluetoothUUID = "50DB505C-8AC4-4738-8448-3B1D9CC09CC5"
    static let toServer: BluetoothUUID = "E789C754-41A1-45F4-A948-A0A1A90DBA53"
    static let toClient: BluetoothUUID = "016A2CC7-E14B-4819-935F-1F56EAE4098D"
    /// The SPSM of Bumble's `bench`.
    static let spsm: UInt16 = 128
    static let channelSettings = ChannelSettings(maximumTransmissionUnit: 1024, maximumPayloadSize: 1024, credits: 128)

    typealias Arrival = (packet: BenchPacket, time: ContinuousClock.Instant)

    /// How packets travel: `gatt` or `channel`.
    let bearer: String
    /// The same in words.
    let text: String
    /// The longest packet.
    let maximumSize: Int
    /// Octets that a packet takes besides its own.
    let overhead: Int
    /// Packets of another form are left out.
    let arrivals: AsyncThrowingStream<Arrival, any Error>
    let send: @Sendable (BenchPacket) async throws -> Void

    /// The way over a device's characteristics.
    /// - Parameter withResponse: whether each write waits for its response.
    static func gatt(_ peripheral: Peripheral, withResponse: Bool) async throws -> BenchPort {
        let target = try await peripheral.findCharacteristic(toServer, inService: service)
        let source = try await peripheral.findCharacteristic(toClient, inService: service)
        let notifications = try await peripheral.notifications(of: source)
        let mtu = await peripheral.attMTU
        let handle = target.valueHandle
        return BenchPort(
            bearer: "gatt", text: "GATT, \(withResponse ? "write requests" : "write commands"), MTU \(mtu)",
            maximumSize: min(mtu - 3, 512), overhead: 0, arrivals: arrivals(of: notifications) { [$0.bytes] }
        ) { packet in
            if withResponse {
                try await peripheral.write(packet.octets, to: handle)
            } else {
                try await peripheral.writeWithoutResponse(packet.octets, to: handle)
            }
        }
    }

    /// The way over a channel.
    static func channel(_ channel: Channel) -> BenchPort {
        let framing = Mutex(BenchFraming())
        let limit = Int(channel.information.sendMTU)
        return BenchPort(
            bearer: "channel", text: "L2CAP channel, SPSM \(channel.information.spsm), MTU \(limit)",
            maximumSize: 8192, overhead: 2,
            arrivals: arrivals(of: channel) { octets in framing.withLock { $0.receive(octets) } }
        ) { packet in
            let octets = BenchFraming.frame(packet.octets)
            var place = 0
            while place < octets.count {
                let end = min(octets.count, place + limit)
                try await channel.send(Array(octets[place..<end]))
                place = end
            }
        }
    }

    /// Parses what arrives in a task that ends with the reader.
    static func arrivals<Source: AsyncSequence & Sendable>(
        of source: Source, _ packets: @escaping @Sendable (Source.Element) -> [[UInt8]]
    ) -> AsyncThrowingStream<Arrival, any Error> where Source.Element: Sendable {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    for try await element in source {
                        for octets in packets(element) {
                            guard let packet = BenchPacket.read(octets) else { continue }
                            continuation.yield((packet, .now))
                        }
                    }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
