/// An interface as introspection shows it: what may be called, and with which types.
struct InterfaceDescription: Sendable {
    struct Argument: Sendable {
        var name: String
        var signature: String
    }

    struct Method: Sendable {
        var name: String
        var inputs: [Argument]
        var outputs: [Argument]

        /// - Parameters:
        ///   - inputs: names and signatures with a space between them, such as `properties a{sv}`.
        init(_ name: String, _ inputs: [String] = [], returns outputs: [String] = []) {
            self.name = name
            self.inputs = inputs.map { Argument($0) }
            self.outputs = outputs.map { Argument($0) }
        }

        var signature: String { inputs.map(\.signature).joined() }
    }

    struct Property: Sendable {
        var name: String
        var signature: String
        var isWritable: Bool

        /// - Parameter text: name and signature with a space between them.
        init(_ text: String, isWritable: Bool = false) {
            let argument = Argument(text)
            (name, signature, self.isWritable) = (argument.name, argument.signature, isWritable)
        }
    }

    var name: String
    var methods: [Method] = []
    var signals: [Method] = []
    var properties: [Property] = []

    func property(_ name: String) -> Property? { properties.first { $0.name == name } }

    func accepts(_ call: BusCall) -> Bool {
        methods.contains { $0.name == call.member && $0.signature == call.signature }
    }
}

extension InterfaceDescription.Argument {
    init(_ text: String) {
        let parts = text.split(separator: " ")
        name = parts.first.map(String.init) ?? ""
        signature = parts.last.map(String.init) ?? ""
    }
}
