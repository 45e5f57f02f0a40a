// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreBluetooth
import ForeignDelegates

/// Subclasses whose own methods nothing in the program calls, in a target that uses the build plugin.
public enum ScannedDelegates {
    public typealias Maker = @Sendable (Heard) -> BareDelegate

    /// Delegates, and what they hear when they restore.
    public static var all: [(make: Maker, lines: [String])] {
        [
            ({ AddingDelegate($0) }, ["adding [\"key\"]"]),
            ({ FinalDelegate($0) }, ["final [\"key\"]"]),
            ({ GenericDelegate<Int>($0) }, ["generic Int [\"key\"]"]),
            ({ Outer<String>.Inner($0) }, ["inner String [\"key\"]"]),
            ({ ExtendedDelegate($0) }, ["extended [\"key\"]"]),
            ({ OverridingDelegate($0) }, ["adding [\"key\"]", "overriding"]),
            ({ HiddenOverridingDelegate($0) }, ["adding [\"key\"]", "hidden overriding"]),
            ({ PublicDelegate($0) }, ["public [\"key\"]"]),
            ({ MainDelegate($0) }, ["main [\"key\"]"]),
            ({ Renamed.Delegate($0) }, ["renamed [\"key\"]"]),
            ({ `class`($0) }, ["class [\"key\"]"]),
            ({ ConditionalDelegate($0) }, ["linux [\"key\"]"]),
            ({ LastDelegate($0) }, ["adding [\"key\"]"]),
        ]
    }

    /// Delegates whose methods only their own file can call, their names, and why.
    public static var lost: [(make: Maker, name: String, reason: String)] {
        [
            ({ HiddenDelegate($0) }, "ScannedDelegates.HiddenDelegate", "it is private"),
            ({ HiddenOuter.Inner($0) }, "ScannedDelegates.HiddenOuter.Inner", "it is private"),
            ({ ConstrainedDelegate<Int>($0) }, "ScannedDelegates.ConstrainedDelegate", "where clause"),
        ]
    }
}

class AddingDelegate: BareDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("adding \(dict.keys.sorted())")
    }
}

final class FinalDelegate: BareDelegate {
    func centralManager(_ central: CoreBluetooth.CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("final \(dict.keys.sorted())")
    }
}

class GenericDelegate<Element>: BareDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("generic \(Element.self) \(dict.keys.sorted())")
    }
}

struct Outer<Element> {
    final class Inner: BareDelegate {
        func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
            heard.lines.append("inner \(Element.self) \(dict.keys.sorted())")
        }
    }
}

class ExtendedDelegate: BareDelegate {}

extension ExtendedDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("extended \(dict.keys.sorted())")
    }
}

class OverridingDelegate: AddingDelegate {
    override func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        super.centralManager(central, willRestoreState: dict)
        heard.lines.append("overriding")
    }
}

private class HiddenOverridingDelegate: AddingDelegate {
    override func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        super.centralManager(central, willRestoreState: dict)
        heard.lines.append("hidden overriding")
    }
}

/// The class is public, and its method is not.
public class PublicDelegate: BareDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("public \(dict.keys.sorted())")
    }
}

/// The method is isolated to the main actor. The base is not, so the initializer cannot be.
final class MainDelegate: BareDelegate {
    @MainActor
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("main \(dict.keys.sorted())")
    }
}

enum Renamed {
    typealias Central = CBCentralManager
    typealias Saved = [String: Any]

    final class Delegate: BareDelegate {
        func centralManager(_ central: Central, willRestoreState dict: Saved) {
            heard.lines.append("renamed \(dict.keys.sorted())")
        }
    }
}

final class `class`: BareDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("class \(dict.keys.sorted())")
    }
}

class ConditionalDelegate: BareDelegate {
    #if os(Linux)
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("linux \(dict.keys.sorted())")
    }
    #else
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("elsewhere")
    }
    #endif
}

#if os(iOS)
class AbsentDelegate: BareDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}
}
#endif

/// The method is neither in the object's class nor in the one that conforms.
class LastDelegate: AddingDelegate {}

/// Nothing of this is a delegate, and it must compile as it is.
class Listener {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}
}

class OtherListener: Listener {
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}
    func centralManager(_ central: Int, willRestoreState dict: [String: Any]) {}
    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    )
        async throws
    {}
}

// MARK: What only this file can call

private class HiddenDelegate: BareDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("hidden")
    }
}

private enum HiddenOuter {
    class Inner: BareDelegate {
        func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
            heard.lines.append("inner")
        }
    }
}

class ConstrainedDelegate<Element>: BareDelegate {}

extension ConstrainedDelegate where Element == Int {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("constrained")
    }
}
