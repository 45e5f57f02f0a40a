import BLESimulator
import BLETransport

/// Transports whose controller is a program: `sim`.
///
/// They stand in a module of their own, so that an image for a device does not carry a simulator along:
///
///     var configuration = AdapterConfiguration()
///     configuration.makeVirtualTransport = VirtualTransports.open
///     let adapter = try await Adapter.open("sim", configuration: configuration)
public enum VirtualTransports {
    /// - Throws: `TransportError.notOffered` for an address of another kind.
    @Sendable
    public static func open(_ address: TransportAddress) throws(TransportError) -> sending any HCITransport {
        switch address {
        case .simulator(nil):
            let air = SimulatedAir.demoWorld()
            return SimulatedTransport(air: air, controller: air.addController(), address: address)
        default:
            throw .notOffered(address)
        }
    }
}
