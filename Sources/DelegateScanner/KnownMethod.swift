/// An optional method of one of the delegates' protocols.
struct KnownMethod {
    /// The protocol's name.
    let delegate: String
    let base: String
    /// Labels and types, in the form of `WrittenType.canonical`.
    let parameters: [(label: String, type: String)]

    private init(_ delegate: String, _ base: String, _ parameters: KeyValuePairs<String, String>) {
        self.delegate = delegate
        self.base = base
        self.parameters = parameters.map { ($0.key, $0.value) }
    }

    /// The name and types as Swift's demangler writes them, by which Core Bluetooth finds the method.
    var signature: String {
        let hasLabels = parameters.contains { $0.label != "_" }
        let list = parameters.map { (hasLabels ? $0.label + ": " : "") + Self.symbol(of: $0.type) }
        return "\(base)(\(list.joined(separator: ", "))) -> ()"
    }

    /// The methods with these labels; two differ only in a type.
    static func named(_ base: String, labels: [String]) -> [KnownMethod] {
        all.filter { $0.base == base && $0.parameters.map(\.label) == labels }
    }

    /// A type as generated sources have it: with the names of modules, because the target may have types of these
    /// names.
    static func source(of type: String) -> String {
        switch type {
        case "Error?": "(any Swift.Error)?"
        case "[String:Any]": "[Swift.String: Any]"
        case "UInt16", "Double", "Bool": "Swift.\(type)"
        case "NSNumber": "Foundation.NSNumber"
        case _ where type.hasPrefix("["): "[CoreBluetooth.\(type.dropFirst())"
        default: "CoreBluetooth.\(type)"
        }
    }

    /// A type as Swift's demangler writes it.
    private static func symbol(of type: String) -> String {
        switch type {
        case "Error?": "Swift.Optional<Swift.Error>"
        case "[String:Any]": "Swift.Dictionary<Swift.String, Any>"
        case _ where type.hasPrefix("["): "Swift.Array<CoreBluetooth.\(type.dropFirst().dropLast())>"
        case _ where type.hasSuffix("?"): "Swift.Optional<CoreBluetooth.\(type.dropLast())>"
        default: source(of: type)
        }
    }

    static let all: [KnownMethod] = central + peripheral + peripheralManager
    static let delegates = ["CBCentralManagerDelegate", "CBPeripheralDelegate", "CBPeripheralManagerDelegate"]
    static let bases = Set(all.map(\.base))

    private static func ofCentral(_ parameters: KeyValuePairs<String, String>) -> KnownMethod {
        KnownMethod("CBCentralManagerDelegate", "centralManager", parameters)
    }

    private static let central: [KnownMethod] = [
        ofCentral(["_": "CBCentralManager", "willRestoreState": "[String:Any]"]),
        ofCentral([
            "_": "CBCentralManager", "didDiscover": "CBPeripheral", "advertisementData": "[String:Any]",
            "rssi": "NSNumber",
        ]),
        ofCentral(["_": "CBCentralManager", "didConnect": "CBPeripheral"]),
        ofCentral(["_": "CBCentralManager", "didFailToConnect": "CBPeripheral", "error": "Error?"]),
        ofCentral(["_": "CBCentralManager", "didDisconnectPeripheral": "CBPeripheral", "error": "Error?"]),
        ofCentral([
            "_": "CBCentralManager", "didDisconnectPeripheral": "CBPeripheral", "timestamp": "Double",
            "isReconnecting": "Bool", "error": "Error?",
        ]),
        ofCentral(["_": "CBCentralManager", "connectionEventDidOccur": "CBConnectionEvent", "for": "CBPeripheral"]),
    ]

    private static func ofPeripheral(
        _ parameters: KeyValuePairs<String, String>, base: String = "peripheral"
    ) -> KnownMethod {
        KnownMethod("CBPeripheralDelegate", base, parameters)
    }

    private static let peripheral: [KnownMethod] = [
        ofPeripheral(["_": "CBPeripheral"], base: "peripheralDidUpdateName"),
        ofPeripheral(["_": "CBPeripheral", "error": "Error?"], base: "peripheralDidUpdateRSSI"),
        ofPeripheral(["toSendWriteWithoutResponse": "CBPeripheral"], base: "peripheralIsReady"),
        ofPeripheral(["_": "CBPeripheral", "didModifyServices": "[CBService]"]),
        ofPeripheral(["_": "CBPeripheral", "didReadRSSI": "NSNumber", "error": "Error?"]),
        ofPeripheral(["_": "CBPeripheral", "didDiscoverServices": "Error?"]),
        ofPeripheral(["_": "CBPeripheral", "didDiscoverIncludedServicesFor": "CBService", "error": "Error?"]),
        ofPeripheral(["_": "CBPeripheral", "didDiscoverCharacteristicsFor": "CBService", "error": "Error?"]),
        ofPeripheral(["_": "CBPeripheral", "didUpdateValueFor": "CBCharacteristic", "error": "Error?"]),
        ofPeripheral(["_": "CBPeripheral", "didWriteValueFor": "CBCharacteristic", "error": "Error?"]),
        ofPeripheral(["_": "CBPeripheral", "didUpdateNotificationStateFor": "CBCharacteristic", "error": "Error?"]),
        ofPeripheral(["_": "CBPeripheral", "didDiscoverDescriptorsFor": "CBCharacteristic", "error": "Error?"]),
        ofPeripheral(["_": "CBPeripheral", "didUpdateValueFor": "CBDescriptor", "error": "Error?"]),
        ofPeripheral(["_": "CBPeripheral", "didWriteValueFor": "CBDescriptor", "error": "Error?"]),
        ofPeripheral(["_": "CBPeripheral", "didOpen": "CBL2CAPChannel?", "error": "Error?"]),
    ]

    private static func ofServer(
        _ parameters: KeyValuePairs<String, String>, base: String = "peripheralManager"
    ) -> KnownMethod {
        KnownMethod("CBPeripheralManagerDelegate", base, parameters)
    }

    private static let peripheralManager: [KnownMethod] = [
        ofServer(["_": "CBPeripheralManager", "willRestoreState": "[String:Any]"]),
        ofServer(["_": "CBPeripheralManager", "error": "Error?"], base: "peripheralManagerDidStartAdvertising"),
        ofServer(["toUpdateSubscribers": "CBPeripheralManager"], base: "peripheralManagerIsReady"),
        ofServer(["_": "CBPeripheralManager", "didAdd": "CBService", "error": "Error?"]),
        ofServer(["_": "CBPeripheralManager", "central": "CBCentral", "didSubscribeTo": "CBCharacteristic"]),
        ofServer(["_": "CBPeripheralManager", "central": "CBCentral", "didUnsubscribeFrom": "CBCharacteristic"]),
        ofServer(["_": "CBPeripheralManager", "didReceiveRead": "CBATTRequest"]),
        ofServer(["_": "CBPeripheralManager", "didReceiveWrite": "[CBATTRequest]"]),
        ofServer(["_": "CBPeripheralManager", "didPublishL2CAPChannel": "UInt16", "error": "Error?"]),
        ofServer(["_": "CBPeripheralManager", "didUnpublishL2CAPChannel": "UInt16", "error": "Error?"]),
        ofServer(["_": "CBPeripheralManager", "didOpen": "CBL2CAPChannel?", "error": "Error?"]),
    ]
}
