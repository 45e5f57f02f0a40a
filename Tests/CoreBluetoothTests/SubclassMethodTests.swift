// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEAppLifecycle
import ForeignDelegates
import Foundation
import OptimizedDelegates
import ScannedDelegates
import Testing

@testable import CoreBluetooth

/// Optional methods that a subclass of the conforming class adds.
@Suite("Methods of delegates that a subclass adds")
struct SubclassMethodTests {
    private let system = ScriptedSystem()
    private let heard = Heard()

    private func manager(_ delegate: BareDelegate) -> CBCentralManager {
        CurrentSystem.$override.withValue(system) {
            CBCentralManager(
                delegate: delegate, queue: .global(), options: [CBCentralManagerOptionRestoreIdentifierKey: "id"])
        }
    }

    /// Tells a delegate to restore, as a manager does.
    private func restore(_ delegate: BareDelegate) {
        let any: any CBCentralManagerDelegate = delegate
        any.centralManager(manager(delegate), willRestoreState: ["key": 1])
    }

    @Test(
        "they are called, whatever kind of class the subclass is",
        arguments: [
            (ForeignDelegates.restorable, ["restorable [\"key\"]"]), (ForeignDelegates.final, ["final [\"key\"]"]),
            (ForeignDelegates.generic, ["generic Int [\"key\"]"]),
            (ForeignDelegates.extended, ["extended [\"key\"]"]),
            (ForeignDelegates.second, ["restorable [\"key\"]", "second"]),
            (ForeignDelegates.middle, ["restorable [\"key\"]"]),
        ] as [(@Sendable (Heard) -> BareDelegate, [String])])
    func foreign(make: @Sendable (Heard) -> BareDelegate, lines: [String]) {
        restore(make(heard))
        #expect(heard.lines == lines)
        #expect(system.logs.isEmpty)
    }

    @Test(
        "in a private class, they are called unless optimized; then the log names them when the delegate is set",
        arguments: [
            (ForeignDelegates.hidden, "HiddenDelegate", "hidden [\"key\"]", "it is private"),
            (ForeignDelegates.local, "LocalDelegate", "local [\"key\"]", "it is declared in a function"),
        ] as [(@Sendable (Heard) -> BareDelegate, String, String, String)])
    func hidden(make: @Sendable (Heard) -> BareDelegate, name: String, line: String, reason: String) {
        let delegate = make(heard)
        let manager = manager(delegate)
        let logs = system.logs
        (delegate as any CBCentralManagerDelegate).centralManager(manager, willRestoreState: ["key": 1])
        if heard.lines.isEmpty {
            #expect(!_isDebugAssertConfiguration())
            #expect(logs.count == 1)
            #expect(
                logs.first?.contains("ForeignDelegates.\(name) implements centralManager(_:willRestoreState:)") == true)
            #expect(logs.first?.contains(reason) == true)
        } else {
            #expect(heard.lines == [line] && logs.isEmpty)
        }
        #expect(system.logs == logs)
    }

    @Test("a subclass of another module is found as well, and its arguments arrive as they are")
    func parameters() throws {
        let delegate = LateDelegate(heard)
        let manager = manager(delegate)
        let peripheral = CBPeripheral(
            PeripheralDescription(identifier: PeerIdentifier(high: 1, low: 2), name: "Belt"), channel: manager.channel,
            table: manager.known)
        let any: any CBCentralManagerDelegate = delegate
        any.centralManager(
            manager, didDisconnectPeripheral: peripheral, timestamp: 12.5, isReconnecting: true,
            error: CBError(.connectionTimeout))
        any.centralManager(
            manager, didDiscover: peripheral, advertisementData: [CBAdvertisementDataLocalNameKey: "Belt"], rssi: -61)
        #expect(heard.lines == ["disconnected Belt 12.5 true 6", "discovered Belt Belt -61"])
        // The object is still whole after having been called so.
        restore(delegate)
        #expect(heard.lines.count == 3)
    }

    @Test("without such a method the app is told what it lacks, once more only where that is certain (SPEC SPR-9)")
    func absent() {
        restore(BareDelegate(heard))
        #expect(system.logs.count == 1 && system.logs[0].hasPrefix("API MISUSE: CBCentralManager has a restore"))
        class NothingAdded: BareDelegate {}
        restore(NothingAdded(heard))
        #expect(system.logs.count == 2 && system.logs[0] == system.logs[1])
    }

    @Test("a default that the method itself calls through super does not call the method again")
    func superclass() {
        let delegate = PoliteDelegate(heard)
        let manager = manager(delegate)
        let peripheral = CBPeripheral(
            PeripheralDescription(identifier: PeerIdentifier(high: 1, low: 2)), channel: manager.channel,
            table: manager.known)
        (delegate as any CBCentralManagerDelegate).centralManager(manager, didConnect: peripheral)
        #expect(heard.lines == ["connected"])
    }

    @Test("a real manager restores such a delegate, before it tells the state (SPEC SPR-10)")
    func restoration() async throws {
        let delegate = ForeignDelegates.restorable(heard)
        let queue = DispatchQueue(label: "delegate")
        let manager = CurrentSystem.$override.withValue(system) { CBCentralManager(delegate: delegate, queue: queue) }
        system.deliver(.willRestoreCentral(RestoredCentral(scan: ScanOptions(services: []))))
        manager.channel.queue.sync {}
        #expect(heard.lines.count == 1)
        withExtendedLifetime(delegate) {}
    }

    // MARK: What an optimizer leaves

    @Test("a method that the optimizer has removed is not called, and the log names the class and the remedy")
    func undeclared() {
        let delegate = OptimizedDelegates.undeclared(heard)
        let manager = manager(delegate)
        // Already when the delegate is set.
        #expect(system.logs.count == 1)
        (delegate as any CBCentralManagerDelegate).centralManager(manager, willRestoreState: ["key": 1])
        #expect(heard.lines.isEmpty)
        #expect(system.logs.count == 1)
        #expect(system.logs.first?.contains("plugin DelegateMethods") == true)
        #expect(system.logs.first?.contains("OptimizedDelegates.") == true)
        #expect(system.logs.first?.contains(": CBCentralManagerDelegateAdditions {}") == true)
    }

    @Test(
        "with the build plugin, an optimizer removes none of them, in any kind of class that other files can name",
        arguments: ScannedDelegates.all)
    func scanned(make: @Sendable (Heard) -> BareDelegate, lines: [String]) {
        restore(make(heard))
        #expect(heard.lines == lines)
        #expect(system.logs.isEmpty)
    }

    @Test(
        "what the plugin cannot call is named when the delegate is set, and only that", arguments: ScannedDelegates.lost
    )
    func scannedInVain(make: @Sendable (Heard) -> BareDelegate, name: String, reason: String) {
        let delegate = make(heard)
        let manager = manager(delegate)
        let logs = system.logs
        #expect(logs.count == 1)
        #expect(
            logs.first?.contains("\(name) implements centralManager(_:willRestoreState:), which is not called") == true)
        #expect(logs.first?.contains(reason) == true)
        #expect(logs.first?.contains("CBCentralManagerDelegateAdditions") == true)
        (delegate as any CBCentralManagerDelegate).centralManager(manager, willRestoreState: ["key": 1])
        #expect(heard.lines.isEmpty && system.logs == logs)
    }

    @Test(
        "the name of a class is taken apart as the runtime writes it",
        arguments: [
            ("App.Plain", ClassName(module: "App", path: "Plain", isHidden: false)),
            ("App.Outer<Swift.Array<App.X>>.Inner", ClassName(module: "App", path: "Outer.Inner", isHidden: false)),
            ("App.(unknown context at $5f3c).Inner", ClassName(module: "App", path: "Inner", isHidden: true)),
            (
                "(extension in App):Other.Outer.Inner",
                ClassName(module: "App", path: "Other.Outer.Inner", isHidden: false)
            ),
            ("", ClassName(module: "", path: "", isHidden: true)),
        ])
    func classNames(text: String, name: ClassName) {
        #expect(ClassName(text) == name)
    }

    @Test("a method that its class declares is called, optimized or not, for all three delegates")
    func declared() throws {
        let delegate = OptimizedDelegates.declared(heard)
        restore(delegate)
        let manager = manager(delegate)
        let peripheral = CBPeripheral(
            PeripheralDescription(identifier: PeerIdentifier(high: 1, low: 2), name: "Belt"), channel: manager.channel,
            table: manager.known)
        (delegate as any CBCentralManagerDelegate).centralManager(manager, didConnect: peripheral)
        (delegate as any CBPeripheralDelegate).peripheral(peripheral, didReadRSSI: -40, error: nil)
        // A method that nobody has: the default runs, once.
        (delegate as any CBPeripheralDelegate).peripheral(peripheral, didDiscoverServices: nil)
        let peripheralManager = CurrentSystem.$override.withValue(system) {
            CBPeripheralManager(delegate: delegate, queue: .global())
        }
        (delegate as any CBPeripheralManagerDelegate).peripheralManagerDidStartAdvertising(
            peripheralManager, error: nil)
        #expect(heard.lines == ["declared [\"key\"]", "connected Belt", "rssi -40", "advertising"])
        #expect(system.logs.isEmpty)
    }

    @Test("a method that is declared and overridden is called once, and the default once where nobody has the method")
    func subclassOfDeclared() {
        let delegate = OptimizedDelegates.subclassOfDeclared(heard)
        restore(delegate)
        #expect(heard.lines == ["declared [\"key\"]", "subclass"])
        restore(NothingAddedDelegate(heard))
        #expect(system.logs.filter { $0.hasPrefix("API MISUSE: CBCentralManager has a restore") }.count == 1)
        restore(DeeperDelegate(heard))
        #expect(heard.lines.last == "deeper")
    }

    private static let prefix = "$s3App10RestorableC"
    private static let method = prefix + "7manager_16willRestoreStatey3Lib3MgrC_SDySSypGtF"
    private static let signature = "manager(_: Lib.Mgr, willRestoreState: Swift.Dictionary<Swift.String, Any>) -> ()"

    private func symbols(_ names: [String]) -> ClassSymbols {
        ClassSymbols(
            names.map { ($0, 0x1000) }, prefix: Self.prefix, title: "nominal type descriptor for App.Restorable")
    }

    @Test("a method whose code was removed is known by its descriptor; a class without its destructor is not whole")
    func removed() {
        let whole = symbols([Self.method + "Tq", Self.method, Self.prefix + "fd"])
        #expect(whole.methods == [Self.signature: .code(0x1000)] && whole.isWhole)
        let optimized = symbols([Self.method + "Tq", Self.prefix + "fD"])
        #expect(optimized.methods == [Self.signature: .removed] && !optimized.isWhole)
        // A method of a type within the class is none of the class.
        #expect(symbols(["$s3App10RestorableC5InnerC3runyyF"]).methods["run() -> ()"] == nil)
    }

    @Test("the log names class and method, and blames the optimizer and not the app")
    func logs() {
        let removed = LogMessage.delegateMethodRemoved(
            class: "App.Restorable", superclass: "App.Base", method: "centralManager(_:willRestoreState:)"
        ).text
        #expect(removed.contains("App.Restorable implements centralManager(_:willRestoreState:), which is not called"))
        #expect(!removed.contains("MISUSE"))
        let name = DelegateMethodName("centralManager", ["_": "A.B", "didConnect": "A.C"])
        #expect(name.text == "centralManager(_:didConnect:)")
        #expect(name.signature == "centralManager(_: A.B, didConnect: A.C) -> ()")
        #expect(
            DelegateMethodName("peripheralDidUpdateName", ["_": "A.B"]).signature
                == "peripheralDidUpdateName(A.B) -> ()")
    }

    @Test("invalid and truncated files have no symbols", arguments: [0, 4, 63, 64, 200, 5000])
    func damaged(count: Int) throws {
        let program = try #require(FileManager.default.contents(atPath: "/proc/self/exe"))
        #expect(ELFReader.symbolTable(in: program) != nil)
        #expect(ELFReader.symbolTable(in: program.prefix(count)) == nil)
        #expect(ELFReader.symbolTable(in: Data(repeating: 0x7F, count: count)) == nil)
        var wild = program.prefix(count)
        for index in wild.indices where index >= 6 { wild[index] = 0xFF }
        #expect(ELFReader.symbolTable(in: wild) == nil && ELFReader.lowestAddress(in: wild) == nil)
        #expect(ProgramSymbols(holding: 1) == nil)
    }
}

/// Calls the default in its method.
class PoliteDelegate: BareDelegate {
    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        heard.lines.append("connected")
        (self as any CBCentralManagerDelegate).centralManager(central, didConnect: peripheral)
    }
}

/// Declares that it adds methods, and adds none.
class NothingAddedDelegate: BareDelegate, CBCentralManagerDelegateAdditions {}

class DeeperDelegate: NothingAddedDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("deeper")
    }
}

/// A restorable subclass in another module than its base.
final class LateDelegate: BareDelegate {
    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {
        let code = (error as? CBError).map { "\($0.errorCode)" } ?? "none"
        heard.lines.append("disconnected \(peripheral.name ?? "?") \(timestamp) \(isReconnecting) \(code)")
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? "?"
        heard.lines.append("discovered \(peripheral.name ?? "?") \(name) \(RSSI)")
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        heard.lines.append("restored")
    }
}
