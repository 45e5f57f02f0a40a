// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreBluetooth
import ForeignDelegates

/// Subclasses whose own methods nothing in the program calls: the optimizer removes those that nothing declares.
public enum OptimizedDelegates {
    public static func undeclared(_ heard: Heard) -> BareDelegate { UndeclaredDelegate(heard) }
    public static func declared(_ heard: Heard) -> BareDelegate { DeclaredDelegate(heard) }
    public static func subclassOfDeclared(_ heard: Heard) -> BareDelegate { SubclassOfDeclaredDelegate(heard) }
}

private final class UndeclaredDelegate: BareDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("undeclared \(dict.keys.sorted())")
    }
}

private class DeclaredDelegate: BareDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("declared \(dict.keys.sorted())")
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        heard.lines.append("connected \(peripheral.name ?? "?")")
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        heard.lines.append("rssi \(RSSI)")
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        heard.lines.append("advertising")
    }
}

extension DeclaredDelegate: CBCentralManagerDelegateAdditions, CBPeripheralDelegateAdditions {}
extension DeclaredDelegate: CBPeripheralManagerDelegateAdditions {}

private final class SubclassOfDeclaredDelegate: DeclaredDelegate {
    override func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        super.centralManager(central, willRestoreState: dict)
        heard.lines.append("subclass")
    }
}
