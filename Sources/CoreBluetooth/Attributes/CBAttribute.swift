import BLEAppLifecycle
import Foundation

/// What services, characteristics and descriptors have in common (SPEC 2.5).
open class CBAttribute: NSObject {
    /// What kind of thing the attribute is.
    open var uuid: CBUUID { fixedUUID }
    private let fixedUUID: CBUUID

    /// How the remote peripheral's attribute is named in requests.
    let remoteID: RemoteAttributeID?
    /// Where a published attribute stands; `nil` while it is not published.
    let publication = Locked<Publication?>(nil)

    /// How a published attribute is named in the requests of the one manager that published it.
    struct Publication {
        let id: LocalAttributeID
        let channel: ManagerChannel
    }

    init(uuid: CBUUID, remoteID: RemoteAttributeID? = nil) {
        fixedUUID = uuid
        self.remoteID = remoteID
        super.init()
    }

    /// Whether the attribute stands in the local database, where nothing can be changed (SPEC PER-7).
    var isPublished: Bool { publication.current != nil }

    /// How the attribute is named in requests on this channel; `nil` where another manager, or none, has published it.
    func localID(on channel: ManagerChannel) -> LocalAttributeID? {
        publication.with { $0?.channel === channel ? $0?.id : nil }
    }

    /// Whether the attribute belongs to the peripheral, or did and is left alone.
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

    /// - Returns: whether a change is allowed; a refused one is logged.
    func mayChange(_ what: String) -> Bool {
        guard isPublished else { return true }
        MisuseLog.write("API MISUSE: \(self) is published; its \(what) can no longer be changed")
        return false
    }

    /// A property by its name: `UUID`, and what subclasses add.
    open func value(forKey key: String) -> Any? { key == "UUID" || key == "uuid" ? uuid : nil }

    override open var description: String { "<\(reference), UUID = \(uuid)>" }
}
