import BLEAppLifecycle
import Foundation

/// A service of a remote peripheral: data and behaviour that belong together (SPEC MOD-4).
open class CBService: CBAttribute {
    struct State {
        weak var peripheral: CBPeripheral?
        var isPrimary: Bool
        var includedServices: [CBService]?
        var characteristics: [CBCharacteristic]?
    }

    let content: Locked<State>

    init(uuid: CBUUID, isPrimary: Bool, peripheral: CBPeripheral? = nil, remoteID: RemoteAttributeID? = nil) {
        content = Locked(State(peripheral: peripheral, isPrimary: isPrimary))
        super.init(uuid: uuid, remoteID: remoteID)
    }

    /// The peripheral that has the service.
    open weak var peripheral: CBPeripheral? { content.with { $0.peripheral } }

    /// Whether the service means something by itself (SPEC MOD-10).
    open var isPrimary: Bool { content.with { $0.isPrimary } }

    /// The services that this one refers to; `nil` before they were discovered.
    open var includedServices: [CBService]? { content.with { $0.includedServices } }

    /// `nil` before they were discovered.
    open var characteristics: [CBCharacteristic]? { content.with { $0.characteristics } }

    override open var description: String {
        "<\(reference), isPrimary = \(isPrimary.text), UUID = \(uuid)>"
    }
}

/// A service that an app publishes with `CBPeripheralManager.add(_:)` (SPEC MOD-8, PER-6).
open class CBMutableService: CBService {
    /// A service without characteristics: `characteristics` is set before it is published (SPEC MOD-11).
    /// - Parameter isPrimary: whether the service means something by itself (SPEC MOD-10).
    public init(type UUID: CBUUID, primary isPrimary: Bool) { super.init(uuid: UUID, isPrimary: isPrimary) }

    /// Services that were published before.
    override open var includedServices: [CBService]? {
        get { super.includedServices }
        set { if mayChange("included services") { content.with { $0.includedServices = newValue } } }
    }

    /// What the service offers (SPEC MOD-11). A characteristic that stood in another service moves here.
    override open var characteristics: [CBCharacteristic]? {
        get { super.characteristics }
        set {
            guard mayChange("characteristics") else { return }
            for removed in super.characteristics ?? [] { removed.content.with { $0.service = nil } }
            content.with { $0.characteristics = newValue }
            for added in newValue ?? [] { added.content.with { $0.service = self } }
        }
    }
}
