import BLEAppLifecycle
import Foundation

/// An optional method of a delegate's protocol, for which the protocol's default searches subclasses.
///
/// `Call` is a structure with one closure of the method's type. In a structure, a closure has the calling convention of
/// the type in its declaration, which is the method's: the same parameters, and the closure's context in the register
/// that holds a method's object.
struct DelegateMethod<Call>: Sendable {
    enum Outcome {
        case called
        /// The delegate has no such method.
        case absent
        /// The delegate has or may have the method, but it cannot be called; the log says so.
        case unreachable
    }

    private let name: DelegateMethodName

    init(_ base: String, _ parameters: KeyValuePairs<String, String>) {
        name = DelegateMethodName(base, parameters)
    }

    /// Calls the method if a subclass of the conforming class has it.
    /// - Parameters:
    ///   - kind: the protocol of the delegate.
    ///   - added: makes the call if the class declares that it adds methods.
    ///   - found: makes the call if the method was found by its name.
    @discardableResult
    func call<Additions>(
        on delegate: AnyObject, as kind: DelegateKind<Additions>, log channel: ManagerChannel,
        added: (Additions) -> Void, found: (Call) -> Void
    ) -> Outcome {
        let call = RunningCall(delegate: ObjectIdentifier(delegate), name: name.signature, thread: UInt(pthread_self()))
        // The method itself may call the default through `super`.
        guard !RunningCall.all.with({ $0.contains(call) }) else { return .absent }
        let additions = kind.additions(delegate)
        // What a class declares needs no search, but its subclasses may add more.
        let finding = SubclassMethods.find(
            name, in: type(of: delegate), where: additions == nil ? kind.conforms : kind.adds, log: channel.log)
        if additions == nil, finding == .absent { return .absent }
        if additions == nil, finding == .unreachable { return .unreachable }
        RunningCall.all.with { _ = $0.insert(call) }
        defer { RunningCall.all.with { _ = $0.remove(call) } }
        if case .code(let address) = finding {
            // The code has the signature of `Call`: the mangled name includes the types of all parameters.
            found(unsafe unsafeBitCast(MethodOfObject(code: address, object: delegate), to: Call.self))
        } else if let additions {
            // A class that lacks the method is given the default, which then runs within this call.
            added(additions)
        }
        return .called
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
