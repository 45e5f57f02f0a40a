import BLEHost
import BLEJSON
import BLEPackets
import BLEScripts

/// Why a step failed, as answers say it.
struct GATTFailure: Error, Equatable {
    /// A word that stays the same when the text changes.
    var name: String
    /// The number of ATT or HCI.
    var code: Int?
    var text: String

    init(_ name: String, code: Int? = nil, _ text: String) {
        self.name = name
        self.code = code
        self.text = text
    }

    init(_ failure: LinkFailure) {
        switch failure {
        case .noSlot: self.init("noSlot", "all places for links are taken")
        case .inUse: self.init("inUse", "somebody else has a link with the device")
        case .noAdapter: self.init("noAdapter", "no adapter works")
        case .notConnected: self.init("notConnected", "there is no link with the device; ‘connect’ comes before")
        case .tooManyOperations: self.init("busy", "too many operations wait on the link")
        case .timedOut: self = .timeout
        case .cancelled: self.init("interrupted", "the link was ended here")
        case .linkLost(let reason):
            self.init("linkLost", code: Int(reason), "the link ended: \(HCIStatus(rawValue: reason))")
        case .connectionFailed(let reason):
            self.init("connectionFailed", code: Int(reason), "no link could be made: \(HCIStatus(rawValue: reason))")
        case .att(let code): self.init("attError", code: Int(code), "the device answered: \(ATTError(rawValue: code))")
        case .other(let name, let text): self.init(name, text)
        }
    }

    static let timeout = GATTFailure("timeout", "the time is over")

    static func notFound(_ uuid: BluetoothUUID) -> GATTFailure {
        GATTFailure("attributeNotFound", "the device has no \(uuid.attributeText)")
    }

    var json: JSONValue {
        var object: JSONValue = ["name": .string(name)]
        if let code { object = object.adding("code", .integer(code)) }
        return object.adding("text", .string(text))
    }
}
