import BLE
import BLESimulator
import BLETransport
import BLEVirtualTransports
import Foundation

/// Simulated controllers on one air, each at a socket, for programs that meet each other.
final class ToolAir: @unchecked Sendable {
    // @unchecked Sendable is safe because `stage` is touched only on the loop's thread, once it runs.

    /// How each controller is reached.
    let transports: [String]
    private let loop: EventLoop
    private let stage: AirStage

    /// - Parameter losing: packets of controllers that their hosts never get.
    init(controllers count: Int, losing: @escaping @Sendable ([UInt8]) -> Bool = { _ in false }) throws {
        let names = (0..<count).map { _ in "@jelling-\(UUID())" }
        transports = names.map { "unix:\($0)" }
        loop = try EventLoop(name: "tool air")
        stage = try AirStage(names, on: loop, losing)
        try loop.start()
    }

    deinit {
        nonisolated(unsafe) let stage = stage
        let loop = loop
        loop.run {
            unsafe stage.close()
            loop.stop()
        }
        loop.join()
    }
}

/// The air and its sockets.
private final class AirStage {
    private let air: ServedAir
    private var listeners: [UnixListener] = []

    init(_ names: [String], on loop: EventLoop, _ losing: @escaping @Sendable ([UInt8]) -> Bool) throws {
        air = ServedAir(on: loop) { losing($0.copied()) }
        for (index, name) in names.enumerated() {
            let address = DeviceAddress(value: 0x00AA_0200_0001 + UInt64(index), kind: .public)
            air.add(SimulatedControllerConfiguration(publicAddress: address))
            let listener = try UnixListener(path: name)
            listeners.append(listener)
            _ = try loop.register(listener.descriptor, for: .readable) { [air] _ in
                while let client = try? listener.accept() { air.connect(client.descriptor, to: index) }
            }
        }
    }

    func close() {
        air.close()
        for listener in listeners { listener.close() }
    }
}
