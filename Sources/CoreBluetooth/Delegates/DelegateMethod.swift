import Foundation

/// An optional method of a delegate's protocol, for which the protocol's default searches subclasses.
///
/// `Call` is a structure with one closure of the method's type. In a structure, a closure has the calling convention of
/// the type in its declaration, which is the method's: the same parameters, and the closure's context in the register
/// of a method's object.
struct DelegateMethod<Call>: Sendable {
    enum Outcome {
        case called
        /// The delegate has no such method.
        case absent
        /// The delegate has or may have the method, but it cannot be called; the log says so.
        case unreachable
    }

    let name: DelegateMethodName

    init(_ base: String, _ parameters: KeyValuePairs<String, String>) {
        name = DelegateMethodName(base, parameters)
    }

    /// Calls the method if a subclass of the conforming class has it.
    /// - Parameters:
    ///   - kind: the protocol of the delegate.
    ///   - parameters: the parameters of the call, as a tuple.
    ///   - added: makes the call if the class declares that it adds methods.
    ///   - found: makes the call if the method was found by its name.
    @discardableResult
    func call<Additions, Parameters>(
        on delegate: AnyObject, as kind: DelegateKind<Additions>, log channel: ManagerChannel,
        with parameters: Parameters,
        added: (Additions) -> Void, found: (Call) -> Void
    ) -> Outcome {
        let call = RunningCall(delegate: ObjectIdentifier(delegate), name: name.signature, thread: UInt(pthread_self()))
        // The method itself may call the default through `super`.
        guard !RunningCall.all.with({ $0.contains(call) }) else { return .absent }
        let additions = kind.additions(delegate)
        let finding = SubclassMethods.find(
            name, in: type(of: delegate), where: kind.boundary(of: delegate), log: channel.log)
        RunningCall.all.with { _ = $0.insert(call) }
        defer { RunningCall.all.with { _ = $0.remove(call) } }
        switch finding {
        case .code(let address):
            // The code has the signature of `Call`: the mangled name includes the types of all parameters.
            found(unsafe unsafeBitCast(MethodOfObject(code: address, object: delegate), to: Call.self))
            return .called
        case .declared(let call):
            // The signature in the table includes the types of all parameters, too.
            guard let call = call as? DelegateMethodCall<Parameters> else { return .unreachable }
            call(delegate, parameters)
            return .called
        case .absent, .unreachable:
            // A class that declares additions and lacks the method is given the default, which then runs within this
            // call.
            guard let additions else { return if case .absent = finding { .absent } else { .unreachable } }
            added(additions)
            return .called
        }
    }
}

/// A delegate's protocol, and the one that declares additions to it.
struct DelegateKind<Additions>: Sendable {
    /// Whether a class conforms to the delegate's protocol.
    let conforms: @Sendable (AnyClass) -> Bool
    /// Whether a class or one of its superclasses declares additions.
    let adds: @Sendable (AnyClass) -> Bool
    /// The delegate, if its class declares additions.
    let additions: @Sendable (AnyObject) -> Additions?
    /// The optional methods that are looked for in subclasses.
    let methods: [DelegateMethodName]

    /// Whether a class has its methods called without being looked for: subclasses of such a class are searched.
    func boundary(of delegate: AnyObject) -> @Sendable (AnyClass) -> Bool {
        additions(delegate) == nil ? conforms : adds
    }
}

/// The layout of a closure: code and context.
private struct MethodOfObject {
    let code: UInt
    let object: AnyObject
}

/// A method that was called and has not returned.
private struct RunningCall: Hashable {
    let delegate: ObjectIdentifier
    let name: String
    let thread: UInt

    static let all = Locked<Set<RunningCall>>([])
}
