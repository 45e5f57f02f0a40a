/// Writes the source of a `CBDelegateMethodTable`.
///
/// Each method gets a protocol to which only its class conforms. So it works for generic classes as well, and
/// says nothing that could contradict what the target declares. `@MainActor` lets a method be isolated to it or not;
/// `nonisolated` keeps a target's default isolation away.
enum TableWriter {
    static func table(of methods: [AddedMethod]) -> String {
        var protocols = ""
        var entries = ""
        for (index, method) in methods.enumerated() {
            let begin = method.conditions.map { "#if \($0)\n" }.joined()
            let end = method.conditions.map { _ in "#endif\n" }.joined()
            let name = "_CBDelegateMethod\(index + 1)"
            if method.hiding == nil { protocols += begin + conformance(of: method, to: name) + end + "\n" }
            entries += begin + entry(of: method, by: name) + end
        }
        let imports = ["CoreBluetooth", "Foundation"].map { "import \($0)\n" }.joined()
        return """
            // The build plugin DelegateMethods has written this file.

            \(imports)
            \(protocols)enum _CBDelegateMethods: nonisolated CoreBluetooth.CBDelegateMethodTable {
            nonisolated static var methods: [CoreBluetooth.CBDelegateMethod] {
            var methods: [CoreBluetooth.CBDelegateMethod] = []
            methods.reserveCapacity(\(methods.count))
            \(entries)return methods
            }
            }

            """
    }

    private static func conformance(of added: AddedMethod, to name: String) -> String {
        let parameters = added.method.parameters.map { "\($0.label): \(KnownMethod.source(of: $0.type))" }
        return """
            nonisolated fileprivate protocol \(name): AnyObject {
            @MainActor func \(added.method.base)(\(parameters.joined(separator: ", ")))
            }
            extension \(added.className): nonisolated \(name) {}

            """
    }

    private static func entry(of added: AddedMethod, by name: String) -> String {
        let method = added.method
        if let hiding = added.hiding {
            let className = added.className.filter { $0 != "`" }
            return """
                methods.append(
                CoreBluetooth.CBDelegateMethod("\(method.signature)", hiddenIn: "\(className)", because: "\(hiding)"))

                """
        }
        let types = method.parameters.map { KnownMethod.source(of: $0.type) }.joined(separator: ", ")
        let isSingle = method.parameters.count == 1
        let arguments = method.parameters.enumerated().map { index, parameter in
            (parameter.label == "_" ? "" : parameter.label + ": ") + (isSingle ? "parameters" : "parameters.\(index)")
        }
        return """
            methods.append(
            CoreBluetooth.CBDelegateMethod("\(method.signature)", of: { $0 is any \(name).Type }) {
            (object: AnyObject, parameters: (\(types))) in
            (object as? any \(name))?.\(method.base)(\(arguments.joined(separator: ", ")))
            })

            """
    }
}
