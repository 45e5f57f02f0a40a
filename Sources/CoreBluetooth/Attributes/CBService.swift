import BLEAppLifecycle
import Foundation

/// A service of a remote peripheral: a group of characteristics (SPEC MOD-4).
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

    /// Whether the service is a primary service (SPEC MOD-10).
    open var isPrimary: Bool { content.with { $0.isPrimary } }

    /// The services that this one includes; `nil` before they are discovered.
    open var includedServices: [CBService]? { content.with { $0.includedServices } }

    /// The characteristics; `nil` before they are discovered.
    open var characteristics: [CBCharacteristic]? { content.with { $0.characteristics } }

    /// A property by its name: `UUID`, `peripheral`, `isPrimary`, `includedServices` or `characteristics`.
    override open func value(forKey key: String) -> Any? {
        switch key {
        case "peripheral": peripheral
        case "isPrimary", "primary": isPrimary
        case "includedServices": includedServices
        case "characteristics": characteristics
        default: super.value(forKey: key)
        }
    }

    override open var description: String {
        "<\(reference), isPrimary = \(isPrimary.text), UUID = \(uuid)>"
    }
}

/// A service that an app publishes with `CBPeripheralManager.add(_:)` (SPEC MOD-8, PER-6).
open class CBMutableService: CBService {
    /// Creates a service without characteristics: set `characteristics` before publishing it (SPEC MOD-11).
    /// - Parameter isPrimary: whether the service is a primary service (SPEC MOD-10).
    public init(type UUID: CBUUID, primary isPrimary: Bool) { super.init(uuid: UUID, isPrimary: isPrimary) }

    /// The included services. They must have been published before.
    override open var includedServices: [CBService]? {
        get { super.includedServices }
        set { if mayChange("included services") { content.with { $0.includedServices = newValue } } }
    }

    /// The characteristics of the service (SPEC MOD-11). A characteristic of another service moves here.
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
