import BLEAppLifecycle
import Foundation

/// A characteristic: a value of a service (SPEC MOD-5).
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

    /// What can be done with the value (SPEC CEN-14, CEN-16, CEN-21).
    open var properties: CBCharacteristicProperties { content.with { $0.properties } }

    /// The value that was last read or notified (SPEC CEN-13, CEN-17).
    open var value: Data? { content.with { $0.value } }

    /// The descriptors; `nil` before they are discovered.
    open var descriptors: [CBDescriptor]? { content.with { $0.descriptors } }

    /// Always false: broadcasts of characteristics are not received here.
    @available(*, deprecated)
    open var isBroadcasted: Bool { false }

    /// Whether this app is subscribed to changes of the value (SPEC CEN-18).
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
    /// Creates a characteristic.
    /// - Parameter value: a value that never changes and that the system sends by itself; `nil` if the app responds to
    ///   each request (SPEC PER-3).
    public init(
        type UUID: CBUUID, properties: CBCharacteristicProperties, value: Data?, permissions: CBAttributePermissions
    ) {
        super.init(uuid: UUID, properties: properties, value: value, permissions: permissions)
    }

    /// The permissions of the value (SPEC PER-5).
    open var permissions: CBAttributePermissions {
        get { content.with { $0.permissions } }
        set { if mayChange("permissions") { content.with { $0.permissions = newValue } } }
    }

    /// The centrals that are subscribed to changes (SPEC 2.4).
    open var subscribedCentrals: [CBCentral]? { content.with { $0.subscribedCentrals } }

    /// The properties. Set them before the service is published (SPEC PER-7).
    override open var properties: CBCharacteristicProperties {
        get { super.properties }
        set { if mayChange("properties") { content.with { $0.properties = newValue } } }
    }

    /// The value. Once a dynamic characteristic is published, it is only for the app's own use: the system never sends
    /// it.
    override open var value: Data? {
        get { super.value }
        set { content.with { $0.value = newValue } }
    }

    /// The user description and the presentation format; the system adds the Client Characteristic Configuration
    /// itself. Set them before the service is published (SPEC PER-7). A descriptor of another characteristic moves
    /// here.
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
