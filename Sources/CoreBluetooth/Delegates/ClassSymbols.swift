import Foundation

/// The methods of one class of the program, from the symbols that the compiler and the linker kept.
struct ClassSymbols: Sendable {
    enum Method: Equatable, Sendable {
        /// The address of the method's code.
        case code(UInt)
        /// The class declares the method, but the compiler has removed its code because nothing in the program calls
        /// it.
        case removed
    }

    /// The methods by signature.
    private(set) var methods: [String: Method] = [:]
    /// Whether methods that nothing calls still exist. An optimizer that sees the whole module removes them, together
    /// with the class's plain destructor, which every other class has.
    private(set) var isWhole = false

    /// Finds the methods of a class; `nil` if its file has no symbols, or none of the class.
    init?(_ type: AnyClass) {
        // The sixth word of a class's metadata is the address of its descriptor. The descriptor's symbol has the
        // class's mangled name, also for private, local and generic classes.
        let metadata = unsafe unsafeBitCast(type, to: UnsafePointer<UInt>.self)
        let descriptor = unsafe metadata[5]
        guard let symbols = ProgramSymbols(holding: descriptor),
            let name = symbols.name(at: descriptor, endingIn: "Mn"), let title = Self.demangled(name)
        else { return nil }
        let prefix = String(name.dropLast(2))
        self.init(symbols.names(beginningWith: prefix), prefix: prefix, title: title)
    }

    /// - Parameters:
    ///   - symbols: all symbols that begin with `prefix`.
    ///   - prefix: the class's mangled name.
    ///   - title: the demangled symbol of the class's descriptor.
    init(_ symbols: [(name: String, address: UInt)], prefix: String, title: String) {
        let className = title.replacingOccurrences(of: "nominal type descriptor for ", with: "")
        for (name, address) in symbols {
            if name == prefix + "fd" { isWhole = true }
            let isDescriptor = name.hasSuffix("FTq")
            guard isDescriptor || name.hasSuffix("F"), var text = Self.demangled(name) else { continue }
            if isDescriptor { text = text.replacingOccurrences(of: "method descriptor for ", with: "") }
            guard let signature = Self.signature(in: text, of: className) else { continue }
            if !isDescriptor {
                methods[signature] = .code(address)
            } else if methods[signature] == nil {
                methods[signature] = .removed
            }
        }
    }

    /// The signature of a method, without its class.
    private static func signature(in text: String, of className: String) -> String? {
        // The name of a class within a function comes after that of its methods.
        if text.hasSuffix(" in " + className) { return String(text.dropLast(className.count + 4)) }
        // A method may be in an extension, even of another module.
        guard let place = text.range(of: className + "."), text[..<place.lowerBound].isExtension else { return nil }
        return String(text[place.upperBound...])
    }

    static func demangled(_ name: String) -> String? {
        let length = UInt(name.utf8.count)
        guard let text = unsafe demangle(name, length, nil, nil, 0) else { return nil }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }
}

extension Substring {
    /// Whether this is what precedes the class's name in the demangled name of a method.
    fileprivate var isExtension: Bool { isEmpty || hasPrefix("(extension in ") && hasSuffix("):") }
}

/// Swift's runtime exports this function for tools that print backtraces.
@_silgen_name("swift_demangle")
private func demangle(
    _ name: UnsafePointer<CChar>?, _ length: UInt, _ output: UnsafeMutablePointer<CChar>?,
    _ capacity: UnsafeMutablePointer<UInt>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
