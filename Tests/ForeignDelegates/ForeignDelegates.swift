// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreBluetooth

/// A library's base delegate: it conforms, and has what must be there.
open class BareDelegate: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, CBPeripheralManagerDelegate {
    public let heard: Heard

    public init(_ heard: Heard = Heard()) {
        self.heard = heard
        super.init()
    }

    open func centralManagerDidUpdateState(_ central: CBCentralManager) {}
    open func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
}

/// What delegates were told.
public final class Heard {
    public var lines: [String] = []
    public init() {}
}

/// The library's own subclasses: what libraries call a restorable delegate, in all the forms that a class can have.
public enum ForeignDelegates {
    public static func restorable(_ heard: Heard) -> BareDelegate { RestorableDelegate(heard) }
    public static func final(_ heard: Heard) -> BareDelegate { FinalDelegate(heard) }
    public static func hidden(_ heard: Heard) -> BareDelegate { HiddenDelegate(heard) }
    public static func generic(_ heard: Heard) -> BareDelegate { GenericDelegate<Int>(heard) }
    public static func extended(_ heard: Heard) -> BareDelegate { ExtendedDelegate(heard) }
    public static func second(_ heard: Heard) -> BareDelegate { SecondDelegate(heard) }
    public static func middle(_ heard: Heard) -> BareDelegate { LastDelegate(heard) }
    public static func local(_ heard: Heard) -> BareDelegate {
        class LocalDelegate: BareDelegate {
            func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
                heard.lines.append("local \(dict.keys.sorted())")
            }
        }
        return LocalDelegate(heard)
    }
}

class RestorableDelegate: BareDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("restorable \(dict.keys.sorted())")
    }
}

final class FinalDelegate: BareDelegate {
    private let mark = "final"
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("\(mark) \(dict.keys.sorted())")
    }
}

private class HiddenDelegate: BareDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("hidden \(dict.keys.sorted())")
    }
}

class GenericDelegate<Element>: BareDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("generic \(Element.self) \(dict.keys.sorted())")
    }
}

class ExtendedDelegate: BareDelegate {}

extension ExtendedDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("extended \(dict.keys.sorted())")
    }
}

/// Overrides the subclass's method.
class SecondDelegate: RestorableDelegate {
    override func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        super.centralManager(central, willRestoreState: dict)
        heard.lines.append("second")
    }
}

/// The method is neither in the object's class nor in the one that conforms.
class LastDelegate: RestorableDelegate {}
