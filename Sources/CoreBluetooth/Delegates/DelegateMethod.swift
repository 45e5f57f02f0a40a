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
    ///   - conforms: whether a class conforms to the delegate's protocol.
    ///   - body: makes the call.
    @discardableResult
    func call(
        on delegate: AnyObject, where conforms: (AnyClass) -> Bool, log channel: ManagerChannel, _ body: (Call) -> Void
    ) -> Outcome {
        let call = RunningCall(delegate: ObjectIdentifier(delegate), name: name.signature, thread: UInt(pthread_self()))
        // The method itself may call the default through `super`.
        guard !RunningCall.all.with({ $0.contains(call) }) else { return .absent }
        switch SubclassMethods.find(name, in: type(of: delegate), where: conforms, log: channel.log) {
        case .absent: return .absent
        case .unreachable: return .unreachable
        case .code(let address):
            RunningCall.all.with { _ = $0.insert(call) }
            defer { RunningCall.all.with { _ = $0.remove(call) } }
            // The code has the signature of `Call`: the mangled name includes the types of all parameters.
            body(unsafe unsafeBitCast(MethodOfObject(code: address, object: delegate), to: Call.self))
            return .called
        }
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
