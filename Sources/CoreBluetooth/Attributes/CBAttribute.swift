import BLEAppLifecycle
import Foundation

/// The base of services, characteristics and descriptors (SPEC 2.5).
open class CBAttribute: NSObject {
    /// The attribute's type.
    open var uuid: CBUUID { fixedUUID }
    private let fixedUUID: CBUUID

    /// The identifier of a remote peripheral's attribute in requests.
    let remoteID: RemoteAttributeID?
    /// The publication of a published attribute; `nil` while it is not published.
    let publication = Locked<Publication?>(nil)

    /// The identifier of a published attribute in requests of the manager that published it.
    struct Publication {
        let id: LocalAttributeID
        let channel: ManagerChannel
    }

    init(uuid: CBUUID, remoteID: RemoteAttributeID? = nil) {
        fixedUUID = uuid
        self.remoteID = remoteID
        super.init()
    }

    /// Whether the attribute is in the local database, where it cannot be changed (SPEC PER-7).
    var isPublished: Bool { publication.current != nil }

    /// The attribute's identifier in requests on this channel; `nil` unless this channel's manager has published it.
    func localID(on channel: ManagerChannel) -> LocalAttributeID? {
        publication.with { $0?.channel === channel ? $0?.id : nil }
    }

    /// Whether the attribute belongs to the peripheral, or the peripheral's object is gone.
    func isOwned(by peripheral: CBPeripheral) -> Bool {
        let service: CBService? =
            switch self {
            case let service as CBService: service
            case let characteristic as CBCharacteristic: characteristic.service
            case let descriptor as CBDescriptor: descriptor.characteristic?.service
            default: nil
            }
        return service?.peripheral == nil || service?.peripheral === peripheral
    }

    /// - Returns: whether a change is allowed; a rejected one is logged.
    func mayChange(_ what: String) -> Bool {
        guard isPublished else { return true }
        MisuseLog.write("API MISUSE: \(self) is published; its \(what) can no longer be changed")
        return false
    }

    /// A property by its name: `UUID` and those that subclasses add.
    open func value(forKey key: String) -> Any? { key == "UUID" || key == "uuid" ? uuid : nil }

    override open var description: String { "<\(reference), UUID = \(uuid)>" }
}
