import BLESimulator
import BLETransport
import Synchronization

/// Opens virtual transports whose world goes on when they are opened again, as a real one does while an adapter is
/// unplugged.
///
/// One transport at a time: the one before must have ended.
package final class VirtualWorlds: Sendable {
    private struct World: @unchecked Sendable {
        // @unchecked Sendable is safe because only the open transport uses the air, and only one is open at a time.
        var address: TransportAddress
        var air: SimulatedAir
        var controller: SimulatedControllerID
    }

    private let world = Mutex<World?>(nil)

    /// Reports what a capture that is played lacks.
    private let report: @Sendable (String) -> Void

    package init(report: @escaping @Sendable (String) -> Void = { _ in }) { self.report = report }

    /// - Throws: the errors of `VirtualTransports.open`.
    @Sendable
    package func open(_ address: TransportAddress) throws(TransportError) -> sending any HCITransport {
        if let kept = world.withLock({ $0 }), kept.address == address {
            kept.air.reopenTransport(of: kept.controller)
            return Self.transport(kept)
        }
        let (air, controller) = try VirtualTransports.makeAir(address, report: report)
        let made = World(address: address, air: air, controller: controller)
        world.withLock { $0 = made }
        return Self.transport(made)
    }

    private static func transport(_ world: World) -> sending any HCITransport {
        // No other code touches the air while the transport is open: see the comment on `World`.
        nonisolated(unsafe) let air = world.air
        return unsafe SimulatedTransport(air: air, controller: world.controller, address: world.address)
    }
}
