import BLEAppLifecycle
import Foundation

/// An optional method of a delegate's protocol, as the protocol's default looks for it in subclasses.
///
/// `Call` is a structure with one closure of the method's type. Within a structure a closure has the calling convention of
/// the type that is written there, which is that of the method: the parameters, and what the closure has captured in the
/// register where a method has its object.
struct DelegateMethod<Call>: Sendable {
    enum Outcome {
        case called
        /// The delegate has no such method.
        case absent
        /// The delegate has one, or may have, and it cannot be called; the log says so.
        case unreachable
    }

    private let name: DelegateMethodName

    init(_ base: String, _ parameters: KeyValuePairs<String, String>) {
        name = DelegateMethodName(base, parameters)
    }

    /// Calls the method where a subclass of the class that conforms has it.
    /// - Parameters:
    ///   - conforms: whether a class has the delegate's protocol.
    ///   - body: makes the call.
    @discardableResult
    func call(
        on delegate: AnyObject, where conforms: (AnyClass) -> Bool, log channel: ManagerChannel, _ body: (Call) -> Void
    ) -> Outcome {
        let call = RunningCall(delegate: ObjectIdentifier(delegate), name: name.signature, thread: UInt(pthread_self()))
        // The method itself may call the default, through `super`.
        guard !RunningCall.all.with({ $0.contains(call) }) else { return .absent }
        switch SubclassMethods.find(name, in: type(of: delegate), where: conforms, log: channel.log) {
        case .absent: return .absent
        case .unreachable: return .unreachable
        case .code(let address):
            RunningCall.all.with { _ = $0.insert(call) }
            defer { RunningCall.all.with { _ = $0.remove(call) } }
            // The code's signature is that of `Call`: the mangled name has the types of all parameters.
            body(unsafe unsafeBitCast(MethodOfObject(code: address, object: delegate), to: Call.self))
            return .called
        }
    }
}

/// Laid out as a closure is: code, and what was captured.
private struct MethodOfObject {
    let code: UInt
    let object: AnyObject
}

/// A method that was found and has not returned.
private struct RunningCall: Hashable {
    let delegate: ObjectIdentifier
    let name: String
    let thread: UInt

    static let all = Locked<Set<RunningCall>>([])
}
