import BLEAppLifecycle
import Foundation

/// Finds optional delegate methods that a subclass of a conforming class adds.
///
/// When Swift compiles a conformance, it decides which method implements which requirement. A subclass can override
/// methods of the class, but the table lacks methods that only the subclass has, and the protocol's default is called
/// instead. Objective-C looks up the method's name in the object's class, and much code relies on that: for example, a
/// base delegate and a subclass that also restores. So the defaults search here, once per class and method:
///
/// - In the table that the build plugin `DelegateMethods` wrote into the class's module. It is complete, and it keeps
///   the methods that it has.
/// - Without a table, or if a method is private: in the program's file, which has the names of methods. A method is
///   called like a closure whose context is the object. An optimizer that sees the whole module removes methods that
///   nothing calls, and a stripped file has no names. The log reports both when the delegate is set, with the names of
///   the class and the method.
enum SubclassMethods {
    enum Finding {
        /// The address of the code.
        case code(UInt)
        /// A `DelegateMethodCall`, from a table.
        case declared(any AnyObject & Sendable)
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
        var reported: Set<ObjectIdentifier> = []
        /// Classes of delegates that were checked, with the protocol.
        var checked: Set<Key> = []
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
        let finding = search(for: method, in: type, where: conforms, log: log)
        state.with { $0.findings[key] = finding }
        return finding
    }

    /// Looks for all methods of a protocol when a delegate is set, so that the log names those that cannot be called
    /// before one is missed. A class that conforms itself has nothing to look for.
    static func check<Additions>(
        _ delegate: AnyObject, as kind: DelegateKind<Additions>, log: (LogMessage) -> Void
    ) {
        let type: AnyClass = Swift.type(of: delegate)
        guard let base = _getSuperclass(type), kind.conforms(base) else { return }
        let key = Key(type: ObjectIdentifier(type), signature: "\(Additions.self)")
        guard state.with({ $0.checked.insert(key).inserted }) else { return }
        let conforms = kind.boundary(of: delegate)
        for method in kind.methods { _ = find(method, in: type, where: conforms, log: log) }
    }

    private static func search(
        for method: DelegateMethodName, in type: AnyClass, where conforms: (AnyClass) -> Bool,
        log: (LogMessage) -> Void
    ) -> Finding {
        var type: AnyClass = type
        var blind: AnyClass?
        while let base = _getSuperclass(type), conforms(base) {
            let declared = DelegateTables.find(method.signature, in: type)
            if case .callable(let call)? = declared { return .declared(call) }
            if case .absent? = declared {
                type = base
                continue
            }
            let symbols = symbols(of: type)
            switch symbols?.methods[method.signature] {
            case .code(let address): return .code(address)
            case _ where declared != nil:
                if case .hidden(let reason)? = declared {
                    log(
                        .delegateMethodHidden(
                            class: ClassName(type).shown, superclass: name(of: base), method: method.text,
                            reason: reason))
                }
                return .unreachable
            case .removed:
                log(.delegateMethodRemoved(class: name(of: type), superclass: name(of: base), method: method.text))
                return .unreachable
            case nil: if symbols?.isWhole != true, blind == nil { blind = type }
            }
            type = base
        }
        guard let blind else { return .absent }
        if state.with({ $0.reported.insert(ObjectIdentifier(blind)).inserted }) {
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
