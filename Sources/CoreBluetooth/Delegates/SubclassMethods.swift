import BLEAppLifecycle
import Foundation

/// Finds optional methods of delegates that a subclass adds to a class that conforms already.
///
/// Swift decides when it compiles a conformance which method fulfils which requirement: a subclass can override what the
/// class has, but what only the subclass has is not in the table, and the default of the protocol is called. With
/// Objective-C the method's name is looked up in the object's class, and much code counts on that: a base delegate, and one
/// that also restores. So the defaults look here, once for each class and method: the compiler and the linker leave the
/// names of methods in the program's file, and a method is called as a closure is, with the object in the place of what
/// the closure has captured.
///
/// An optimizer that sees the whole module removes methods that nothing calls, and a stripped file has no names. Both are
/// told in the log, with the names of class and method.
enum SubclassMethods {
    enum Finding: Equatable {
        /// Where the code is.
        case code(UInt)
        /// No class between the object's and the one that conforms has such a method.
        case absent
        /// There is or may be one, and it cannot be called; the log says so.
        case unreachable
    }

    private struct Key: Hashable {
        let type: ObjectIdentifier
        let signature: String
    }

    private struct State {
        var findings: [Key: Finding] = [:]
        /// What is known of classes; `nil` where nothing can be.
        var classes: [ObjectIdentifier: ClassSymbols?] = [:]
        /// Classes of which it has been told that their methods cannot be seen.
        var told: Set<ObjectIdentifier> = []
    }

    private static let state = Locked(State())

    /// - Parameters:
    ///   - conforms: whether a class has the delegate's protocol.
    ///   - log: gets what cannot be called.
    static func find(
        _ method: DelegateMethodName, in type: AnyClass, where conforms: (AnyClass) -> Bool, log: (LogMessage) -> Void
    ) -> Finding {
        let key = Key(type: ObjectIdentifier(type), signature: method.signature)
        if let known = state.with({ $0.findings[key] }) { return known }
        let finding = look(for: method, in: type, where: conforms, log: log)
        state.with { $0.findings[key] = finding }
        return finding
    }

    private static func look(
        for method: DelegateMethodName, in type: AnyClass, where conforms: (AnyClass) -> Bool,
        log: (LogMessage) -> Void
    ) -> Finding {
        var type: AnyClass = type
        var blind: AnyClass?
        while let base = _getSuperclass(type), conforms(base) {
            let symbols = symbols(of: type)
            switch symbols?.methods[method.signature] {
            case .code(let address): return .code(address)
            case .removed:
                log(.delegateMethodRemoved(class: name(of: type), superclass: name(of: base), method: method.text))
                return .unreachable
            case nil: if symbols?.isWhole != true, blind == nil { blind = type }
            }
            type = base
        }
        guard let blind else { return .absent }
        if state.with({ $0.told.insert(ObjectIdentifier(blind)).inserted }) {
            log(.delegateMethodsUnseen(class: name(of: blind), superclass: name(of: type), method: method.text))
        }
        return .unreachable
    }

    private static func symbols(of type: AnyClass) -> ClassSymbols? {
        if let known = state.with({ $0.classes[ObjectIdentifier(type)] }) { return known }
        let symbols = ClassSymbols(type)
        state.with { $0.classes[ObjectIdentifier(type)] = .some(symbols) }
        return symbols
    }

    private static func name(of type: AnyClass) -> String { String(reflecting: type) }
}

/// How a method of a delegate is written in logs, and in the demangled name of its symbol.
struct DelegateMethodName: Sendable {
    /// `centralManager(_:didConnect:)`.
    let text: String
    /// `centralManager(_: CoreBluetooth.CBCentralManager, didConnect: CoreBluetooth.CBPeripheral) -> ()`.
    let signature: String

    /// - Parameter parameters: labels and types, as Swift's demangler writes them.
    init(_ base: String, _ parameters: KeyValuePairs<String, String>) {
        text = base + "(" + parameters.map { $0.key + ":" }.joined() + ")"
        // The demangler leaves labels out where there are none.
        let hasLabels = parameters.contains { $0.key != "_" }
        let list = parameters.map { hasLabels ? "\($0.key): \($0.value)" : $0.value }.joined(separator: ", ")
        signature = "\(base)(\(list)) -> ()"
    }
}
