/// The delegate methods that the classes of a module add to those of their superclasses.
///
/// The build plugin `DelegateMethods` writes a type that conforms, named `_CBDelegateMethods`, into each target that uses
/// the plugin (<doc:ComingFromApple>). The module finds it by that name, so nothing has to be registered, and a stripped
/// program has it as well. You do not write such types by hand: declare `CBCentralManagerDelegateAdditions` instead.
@_alwaysEmitConformanceMetadata
public protocol CBDelegateMethodTable {
    /// All optional delegate methods of the module's classes that do not themselves conform to the delegate's protocol.
    static var methods: [CBDelegateMethod] { get }
}

/// A delegate method of one class, in a `CBDelegateMethodTable`.
public struct CBDelegateMethod: Sendable {
    enum Access: Sendable {
        /// Code outside of the class's file can call the method.
        /// - Parameters:
        ///   - belongs: whether the class is this one or a subclass.
        ///   - call: a `DelegateMethodCall` of the method's parameters.
        case callable(belongs: @Sendable (AnyClass) -> Bool, call: any AnyObject & Sendable)
        /// Only code in the class's file could call the method.
        case hidden(className: String, reason: String)
    }

    /// The method's name and types, as in `DelegateMethodName.signature`.
    let signature: String
    let access: Access

    /// A method that can be called.
    /// - Parameters:
    ///   - signature: the method's name and the types of its parameters, as Swift's demangler writes them.
    ///   - belongs: whether a class is the one that has the method, or a subclass.
    ///   - call: calls the method of an object. `@MainActor` permits the method to be isolated so. It is not enforced:
    ///     as on Apple's system, methods of delegates run on the queue of their manager.
    public init<Parameters>(
        _ signature: String, of belongs: @escaping @Sendable (AnyClass) -> Bool,
        call: @escaping @MainActor (AnyObject, Parameters) -> Void
    ) {
        self.signature = signature
        access = .callable(belongs: belongs, call: DelegateMethodCall(call))
    }

    /// A method that cannot be called in an optimized program; the log says so when the delegate is set.
    /// - Parameters:
    ///   - signature: as above.
    ///   - className: the class's name without its module's.
    ///   - reason: what prevents the call: "it is private".
    public init(_ signature: String, hiddenIn className: String, because reason: String) {
        self.signature = signature
        access = .hidden(className: className, reason: reason)
    }
}

/// How a method with these parameters is called.
final class DelegateMethodCall<Parameters>: Sendable {
    private let run: @Sendable (AnyObject, Parameters) -> Void

    init(_ run: @escaping @MainActor (AnyObject, Parameters) -> Void) {
        // Isolation to an actor is no part of how a synchronous function is called. The manager's queue decides where the
        // method runs, as it does for methods that are called by conformances.
        self.run = unsafe unsafeBitCast(run, to: (@Sendable (AnyObject, Parameters) -> Void).self)
    }

    func callAsFunction(_ delegate: AnyObject, _ parameters: Parameters) { run(delegate, parameters) }
}
