import BLEAppLifecycle
import Foundation

/// A remote device in any role (SPEC 2.5).
open class CBPeer: NSObject, NSCopying {
    let peer: PeerIdentifier

    init(_ peer: PeerIdentifier) {
        self.peer = peer
        super.init()
    }

    /// The identifier by which this app knows the device, now and at later launches (SPEC REC-3).
    open var identifier: UUID { UUID(peer) }

    /// A property by its name, for the keys of Apple's classes that libraries use; `nil` for others.
    ///
    /// Here `identifier`; a peripheral also has `name`, `state`, `RSSI`, `services` and `mtuLength`, a central
    /// `maximumUpdateValueLength`.
    open func value(forKey key: String) -> Any? { key == "identifier" ? identifier : nil }

    /// Returns the same object: there is one per device.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// A remote central (SPEC MOD-8).
open class CBCentral: CBPeer {
    private let updateLength: Locked<Int>

    init(_ description: CentralDescription) {
        updateLength = Locked(description.maximumUpdateLength)
        super.init(description.identifier)
    }

    func update(_ description: CentralDescription) { updateLength.with { $0 = description.maximumUpdateLength } }

    /// The number of octets that one update can carry (SPEC 2.4).
    open var maximumUpdateValueLength: Int { updateLength.current }

    override open func value(forKey key: String) -> Any? {
        key == "maximumUpdateValueLength" ? maximumUpdateValueLength : super.value(forKey: key)
    }

    override open var description: String {
        "<\(reference), identifier = \(identifier), MTU = \(maximumUpdateValueLength + 3)>"
    }
}
