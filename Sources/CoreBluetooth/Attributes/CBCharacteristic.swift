import BLEAppLifecycle
import Foundation

/// One kind of information that a service holds (SPEC MOD-5).
open class CBCharacteristic: CBAttribute {
    struct State {
        weak var service: CBService?
        var properties: CBCharacteristicProperties
        var value: Data?
        var descriptors: [CBDescriptor]?
        var isNotifying = false
        var permissions: CBAttributePermissions = []
        var subscribedCentrals: [CBCentral] = []
    }

    let content: Locked<State>

    init(
        uuid: CBUUID, properties: CBCharacteristicProperties, value: Data? = nil,
        permissions: CBAttributePermissions = [], service: CBService? = nil, remoteID: RemoteAttributeID? = nil
    ) {
        content = Locked(
            State(service: service, properties: properties, value: value, permissions: permissions))
        super.init(uuid: uuid, remoteID: remoteID)
    }

    /// The service that has the characteristic.
    open weak var service: CBService? { content.with { $0.service } }

    /// What may be done with the value (SPEC CEN-14, CEN-16, CEN-21).
    open var properties: CBCharacteristicProperties { content.with { $0.properties } }

    /// The value that was read or notified last (SPEC CEN-13, CEN-17).
    open var value: Data? { content.with { $0.value } }

    /// `nil` before they were discovered.
    open var descriptors: [CBDescriptor]? { content.with { $0.descriptors } }

    /// Always false: nothing here listens to broadcasts of characteristics.
    @available(*, deprecated)
    open var isBroadcasted: Bool { false }

    /// Whether changes of the value are sent to this app (SPEC CEN-18).
    open var isNotifying: Bool { content.with { $0.isNotifying } }

    /// A property by its name: `UUID`, `service`, `properties`, `value`, `descriptors` or `isNotifying`.
    override open func value(forKey key: String) -> Any? {
        switch key {
        case "service": service
        case "properties": properties.rawValue
        case "value": value
        case "descriptors": descriptors
        case "isNotifying": isNotifying
        default: super.value(forKey: key)
        }
    }

    override open var description: String {
        let (value, properties, isNotifying) = content.with { ($0.value, $0.properties.rawValue, $0.isNotifying) }
        return "<\(reference), UUID = \(uuid), properties = 0x\(String(properties, radix: 16)), "
            + "value = \(value?.text ?? "(null)"), notifying = \(isNotifying.text)>"
    }
}

/// A characteristic that an app publishes (SPEC MOD-8, PER-2).
open class CBMutableCharacteristic: CBCharacteristic {
    /// - Parameter value: one that never changes and is answered by the system; `nil` where the app is asked for each
    ///   access (SPEC PER-3).
    public init(
        type UUID: CBUUID, properties: CBCharacteristicProperties, value: Data?, permissions: CBAttributePermissions
    ) {
        super.init(uuid: UUID, properties: properties, value: value, permissions: permissions)
    }

    /// Who may do what with the value (SPEC PER-5).
    open var permissions: CBAttributePermissions {
        get { content.with { $0.permissions } }
        set { if mayChange("permissions") { content.with { $0.permissions = newValue } } }
    }

    /// The centrals that want to hear of changes (SPEC 2.4).
    open var subscribedCentrals: [CBCentral]? { content.with { $0.subscribedCentrals } }

    /// To be set before the service is published (SPEC PER-7).
    override open var properties: CBCharacteristicProperties {
        get { super.properties }
        set { if mayChange("properties") { content.with { $0.properties = newValue } } }
    }

    /// Once published, the value of a dynamic characteristic is the app's own note: nothing is sent or answered with it.
    override open var value: Data? {
        get { super.value }
        set { content.with { $0.value = newValue } }
    }

    /// User description and presentation format; the system adds the client's configuration itself. To be set before
    /// the service is published (SPEC PER-7). A descriptor that stood in another characteristic moves here.
    override open var descriptors: [CBDescriptor]? {
        get { super.descriptors }
        set {
            guard mayChange("descriptors") else { return }
            for removed in super.descriptors ?? [] { removed.content.with { $0.characteristic = nil } }
            content.with { $0.descriptors = newValue }
            for added in newValue ?? [] { added.content.with { $0.characteristic = self } }
        }
    }
}
