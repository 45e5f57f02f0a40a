import Foundation

/// The methods of one class of the program, by the names that the compiler and the linker left of them.
struct ClassSymbols: Sendable {
    enum Method: Equatable, Sendable {
        /// Where its code is.
        case code(UInt)
        /// The class declares it, but the compiler has removed its code, because nothing in the program calls it.
        case removed
    }

    /// By signature.
    private(set) var methods: [String: Method] = [:]
    /// Whether methods that nothing calls are there as well. An optimizer that sees the whole module removes them, and with
    /// them the class's plain destructor, which every other class has.
    private(set) var isWhole = false

    /// What is known of a class; `nil` where its file has no symbols, or none of the class.
    init?(_ type: AnyClass) {
        // The sixth word of a class's metadata leads to its descriptor; the symbol of that has the class's mangled name,
        // also for classes that are private, local or generic.
        let metadata = unsafe unsafeBitCast(type, to: UnsafePointer<UInt>.self)
        let descriptor = unsafe metadata[5]
        guard let symbols = ProgramSymbols(holding: descriptor),
            let name = symbols.name(at: descriptor, endingIn: "Mn"), let title = Self.demangled(name)
        else { return nil }
        let prefix = String(name.dropLast(2))
        self.init(symbols.names(beginningWith: prefix), prefix: prefix, title: title)
    }

    /// - Parameters:
    ///   - symbols: all that begin with `prefix`.
    ///   - prefix: the class's mangled name.
    ///   - title: the demangled symbol of its descriptor.
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

    /// What a method is called, without its class.
    private static func signature(in text: String, of className: String) -> String? {
        // A class within a function stands behind its methods.
        if text.hasSuffix(" in " + className) { return String(text.dropLast(className.count + 4)) }
        // A method may stand in an extension, of another module, too.
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
    /// What stands before the class's name in the demangled name of a method.
    fileprivate var isExtension: Bool { isEmpty || hasPrefix("(extension in ") && hasSuffix("):") }
}

/// Swift's runtime exports it for tools that print backtraces.
@_silgen_name("swift_demangle")
private func demangle(
    _ name: UnsafePointer<CChar>?, _ length: UInt, _ output: UnsafeMutablePointer<CChar>?,
    _ capacity: UnsafeMutablePointer<UInt>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
