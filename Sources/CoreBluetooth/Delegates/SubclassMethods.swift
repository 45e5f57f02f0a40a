import BLEAppLifecycle
import Foundation

/// Finds optional delegate methods that a subclass of a conforming class adds.
///
/// When Swift compiles a conformance, it decides which method implements which requirement. A subclass can override
/// methods of the class, but the table lacks methods that only the subclass has, and the protocol's default is called
/// instead. Objective-C looks up the method's name in the object's class, and much code relies on that: for example, a
/// base delegate and a subclass that also restores. So the defaults search here, once per class and method. The
/// program's file has the names of methods, and a method is called like a closure whose context is the object.
///
/// An optimizer that sees the whole module removes methods that nothing calls, and a stripped file has no names. The
/// log reports both, with the names of the class and the method.
enum SubclassMethods {
    enum Finding: Equatable {
        /// The address of the code.
        case code(UInt)
        /// No class between the object's class and the conforming one has such a method.
        case absent
        /// A method exists or may exist, but it cannot be called; the log says so.
        case unreachable
    }

    private struct Key: Hashable {
        let type: ObjectIdentifier
        let signature: String
    }

    private struct State {
        var findings: [Key: Finding] = [:]
        /// The symbols of classes; `nil` if a class has none.
        var classes: [ObjectIdentifier: ClassSymbols?] = [:]
        /// Classes that the log has already named because their methods cannot be seen.
        var told: Set<ObjectIdentifier> = []
    }

    private static let state = Locked(State())

    /// - Parameters:
    ///   - conforms: whether a class conforms to the delegate's protocol.
    ///   - log: receives messages about methods that cannot be called.
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

/// The name of a delegate method in logs, and in the demangled name of its symbol.
struct DelegateMethodName: Sendable {
    /// `centralManager(_:didConnect:)`.
    let text: String
    /// `centralManager(_: CoreBluetooth.CBCentralManager, didConnect: CoreBluetooth.CBPeripheral) -> ()`.
    let signature: String

    /// - Parameter parameters: labels and types, as Swift's demangler writes them.
    init(_ base: String, _ parameters: KeyValuePairs<String, String>) {
        text = base + "(" + parameters.map { $0.key + ":" }.joined() + ")"
        // The demangler omits labels if no parameter has one.
        let hasLabels = parameters.contains { $0.key != "_" }
        let list = parameters.map { hasLabels ? "\($0.key): \($0.value)" : $0.value }.joined(separator: ", ")
        signature = "\(base)(\(list)) -> ()"
    }
}
