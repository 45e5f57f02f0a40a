import BLE
import BLEScripts

/// What happens on the link of a device that was opened.
enum LinkEvent: Sendable {
    /// There is a link; its services are sought.
    case connected
    case discovered([ServiceContents])
    case facts(LinkFacts)
    /// A value was read.
    case value(AttributeHandle, [UInt8])
    /// The device has sent a value.
    case notified(AttributeHandle, [UInt8])
    case written(AttributeHandle, octets: Int)
    case subscribed(AttributeHandle)
    /// Nothing more of this comes; with a reason where this side has not asked for it.
    case unsubscribed(AttributeHandle, String?)
    /// What was asked of an attribute has failed.
    case failed(AttributeHandle, String)
    /// What is said of the device as a whole.
    case note(String)
    /// There is no link, or none any more, and why.
    case ended(String)
}

/// What a link needs to be made to do.
enum LinkTask: Equatable, Sendable {
    /// Connects.
    /// - Parameter number: which of the attempts it is; what happens on the link bears the same.
    case connect(number: Int)
    case disconnect
    case discover
    /// Reads values, one after the other.
    case read([AttributeHandle])
    case subscribe(Characteristic)
    case unsubscribe(Characteristic)
    case write(AttributeHandle, [UInt8], GATTStep.WriteProcedure)
    case pair
}

/// How a link runs.
struct LinkFacts: Equatable, Sendable {
    /// ATT_MTU in octets.
    var mtu: Int
    var parameters: ConnectionParameters?
    /// `nil`: the controller does not tell.
    var transmitPHY: PHY?
    var receivePHY: PHY?
    /// In dBm; `nil`: the controller does not tell.
    var rssi: Int8?
    /// `nil` while the link is not encrypted.
    var security: LinkSecurity?
    var isBonded = false

    /// Whether the link is encrypted and how well, in words.
    var encryption: String {
        guard let security, security.isEncrypted else { return "not encrypted" }
        return "encrypted\(security.isAuthenticated ? ", authenticated" : ""), key of \(security.keySize) bytes"
    }

    var phys: String? {
        guard let transmitPHY, let receivePHY else { return nil }
        return transmitPHY == receivePHY ? transmitPHY.name : "\(transmitPHY.name) out, \(receivePHY.name) in"
    }
}
