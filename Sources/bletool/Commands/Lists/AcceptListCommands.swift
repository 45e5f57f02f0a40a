import BLE
import BLEJSON

enum AcceptListAdd: DeviceListCommandKind {
    static let name = "lealadd"
    static let abstract = "Add a device to the accept list."
    static func command(_ address: DeviceAddress) -> LEAddDeviceToFilterAcceptList { .init(address: address) }
}

enum AcceptListRemove: DeviceListCommandKind {
    static let name = "lealrm"
    static let abstract = "Remove a device from the accept list."
    static func command(_ address: DeviceAddress) -> LERemoveDeviceFromFilterAcceptList { .init(address: address) }
}

enum AcceptListClear: ListCommandKind {
    static let name = "lealclr"
    static let abstract = "Clear the accept list."
    static var command: LEClearFilterAcceptList { .init() }
}

enum AcceptListSize: ListCommandKind {
    static let name = "lealsz"
    static let abstract = "Print the size of the accept list."
    static var command: LEReadFilterAcceptListSize { .init() }
    static func print(_ answer: Command.ReturnParameters, on console: Console) {
        console.print(
            ["event": "listSize", "size": JSONValue(answer.size)], text: "Accept list size: \(answer.size)")
    }
}
