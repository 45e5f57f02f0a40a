import BLE
import BLEJSON

enum ResolvingListRemove: DeviceListCommandKind {
    static let name = "lerlrm"
    static let abstract = "Remove a device from the resolving list."
    static func command(_ address: DeviceAddress) -> LERemoveDeviceFromResolvingList {
        .init(peerIdentityAddress: address)
    }
}

enum ResolvingListClear: ListCommandKind {
    static let name = "lerlclr"
    static let abstract = "Clear the resolving list."
    static var command: LEClearResolvingList { .init() }
}

enum ResolvingListSize: ListCommandKind {
    static let name = "lerlsz"
    static let abstract = "Print the size of the resolving list."
    static var command: LEReadResolvingListSize { .init() }
    static func print(_ answer: Command.ReturnParameters, on console: Console) {
        console.print(
            ["event": "listSize", "size": JSONValue(answer.size)], text: "Resolving list size: \(answer.size)")
    }
}

enum ResolvingOn: ListCommandKind {
    static let name = "lerlon"
    static let abstract = "Enable address resolution in the controller."
    static var command: LESetAddressResolutionEnable { .init(isEnabled: true) }
}

enum ResolvingOff: ListCommandKind {
    static let name = "lerloff"
    static let abstract = "Disable address resolution in the controller."
    static var command: LESetAddressResolutionEnable { .init(isEnabled: false) }
}
