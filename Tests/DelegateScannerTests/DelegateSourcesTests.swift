import Testing

@testable import DelegateScanner

/// What the build plugin finds in a target's sources.
@Suite("Delegate methods in sources")
struct DelegateSourcesTests {
    private static let method =
        "func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}"

    /// What is found, one line each: class, method, conditions, and what prevents its call.
    private func found(_ sources: String...) -> [String] {
        var all = DelegateSources()
        for source in sources { all.read(source) }
        return all.methods.map { added in
            let labels = added.method.parameters.map { $0.label + ":" }.joined()
            let conditions = added.conditions.isEmpty ? "" : " if " + added.conditions.joined(separator: " & ")
            return "\(added.className).\(added.method.base)(\(labels))\(conditions)"
                + (added.hiding.map { " but \($0)" } ?? "")
        }
    }

    private static let one = ["Late.centralManager(_:didConnect:)"]

    @Test(
        "a method of a subclass is found, however its class and its types are written",
        arguments: [
            "class Late: Base { \(method) }",
            "public final class Late<T: Sendable>: Lib.Base<T>, Sendable where T: Hashable { \(method) }",
            "@MainActor class Late: Base { nonisolated final public \(method) }",
            "class Late: Base {}\nextension Late { \(method) }",
            "extension Late { \(method) }\nclass Late: Base {}",
            "class Late: Base { func centralManager(_: CoreBluetooth.CBCentralManager, didConnect p: (CBPeripheral)) -> Void }",
            "typealias P = Q\ntypealias Q = CBPeripheral\nclass Late: Base { "
                + "func centralManager(_ c: CBCentralManager, didConnect p: P) -> () {} }",
            "class Late: Base { func f() { if a < b { g() } }; \(method) }",
            "class Late: Base { let a = \"}\\(b[\"}\"] ?? \"{\")}\"; let c = #\"\\\"}\"#; \(method) }",
            "class Late: Base { let a = \"\"\"\n } \" \\(x(\"}\"))\n \"\"\"\n \(method) }",
            "class Late: Base { /* } /* } */ } */ let a = /[}\"]/ // }\n let b = #/ } /#\n \(method) }",
            "class Late: Base { class func make() {} class var a: Int { 1 } \n \(method) }",
            "class Late: Base { var p: any P.Type { A.class } \n subscript(i: Int) -> Int { i } \n \(method) }",
            "class Late: Base { let f = { (a: Int) in { a } } \n private(set) var x = 1 \n \(method) }",
            "protocol X: AnyObject, Base { func a() }\nclass Late: Base { init() { super.init() }\n \(method) }",
            "func f() -> some P { G<A>(x) { $0 } }\nclass Late: Base { \(method) }",
            "class Late: @unchecked Sendable, ~Copyable { }\nclass Late: Base { \(method) }",
        ])
    func forms(source: String) {
        #expect(found(source) == Self.one)
    }

    @Test(
        "nothing is found where a conformance has the method already, and where it is none",
        arguments: [
            "class Late: NSObject, CBCentralManagerDelegate { \(method) }",
            "class Late: CBCentralManagerDelegate { \(method) }", "class Late { \(method) }",
            "class Late: NSObject { \(method) }\nextension Late: CoreBluetooth.CBCentralManagerDelegate {}",
            "class Late: Base {}\nextension Late: CBCentralManagerDelegateAdditions { \(method) }",
            "struct Late: Base { \(method) }", "protocol Late: Base { \(method) }", "extension Late { \(method) }",
            "class Late: Base { private \(method) }", "class Late: Base { static \(method) }",
            "class Late: Base {}\nprivate extension Late { \(method) }", "class Late: Base { // \(method)\n }",
            "class Late: Base { func f() { \(method) } }", "class Late: Base { let a = \"\"\"\n\(method)\n\"\"\"\n }",
            "class Late: Base { func centralManager(_ c: CBCentralManager, didConnect p: CBPeripheral) async {} }",
            "class Late: Base { func centralManager(_ c: CBCentralManager, didConnect p: CBPeripheral) -> Int { 1 } }",
            "class Late: Base { func centralManager<T>(_ c: CBCentralManager, didConnect p: T) {} }",
            "class Late: Base { func centralManager(_ c: CBCentralManager, didMeet p: CBPeripheral) {} }",
            "private class Late: Base { override \(method) }",
        ])
    func nothing(source: String) {
        #expect(found(source).isEmpty)
    }

    @Test("a base class is searched for the protocols that it does not conform to itself")
    func otherProtocol() {
        let source =
            "class Late: Base, CBPeripheralDelegate { \(Self.method)\n func peripheralDidUpdateName(_ p: CBPeripheral) {} }"
        #expect(found(source) == Self.one)
    }

    @Test("the conditions of #if come along, nested, negated and in several lines")
    func conditions() {
        let source = """
            #if os(Linux) &&
                !DEBUG // }
            class Late: Base {
                #if A
                \(Self.method)
                #elseif B
                \(Self.method)
                #else
                \(Self.method)
                #endif
            }
            #endif
            class Other: Base { \(Self.method) }
            """
        let outer = "( os(Linux) && "
        let lines = found(source)
        #expect(lines.count == 4)
        #expect(lines.prefix(3).allSatisfy { $0.hasPrefix("Late.centralManager(_:didConnect:) if \(outer)") })
        #expect(lines[0].hasSuffix(" & ( A)"))
        #expect(lines[1].hasSuffix(" & !(( A)) && ( B)"))
        #expect(lines[2].hasSuffix(" & !(!(( A)) && ( B))"))
        #expect(lines[3] == "Other.centralManager(_:didConnect:)")
    }

    @Test("what other files cannot name or call is reported with its reason")
    func hidden() {
        #expect(
            found("private class A: Base { \(Self.method) }") == ["A.centralManager(_:didConnect:) but it is private"])
        #expect(
            found("fileprivate enum O { struct I { class A: Base { \(Self.method) } } }")
                == ["O.I.A.centralManager(_:didConnect:) but it is private"])
        #expect(
            found(
                "private extension O { class A: Base { \(Self.method) } }\nextension O { class B: Base { \(Self.method) } }"
            )
                == ["O.A.centralManager(_:didConnect:) but it is private", "O.B.centralManager(_:didConnect:)"])
        #expect(
            found("func f() { class A: Base { \(Self.method) } }")
                == ["A.centralManager(_:didConnect:) but it is declared in a function"])
        #expect(
            found("class A<T>: Base {}\nextension A where T == Int { \(Self.method) }")
                == ["A.centralManager(_:didConnect:) but it is declared with a where clause"])
        #expect(
            found("class B: Base {}", "@RadioActor class B: Base {}\nclass A: B { \(Self.method) }").count == 1)
        #expect(
            found("@RadioActor class A: Base { \(Self.method) }\nclass B: A { override \(Self.method) }")
                == ["A.centralManager(_:didConnect:) but it is isolated to RadioActor"])
        let other = "class A: Base { func centralManager(_ c: CBCentralManager, didConnect p: Int) {} }"
        #expect(
            found(other).first?.contains(" but its parameters do not have the types of CBCentralManagerDelegate")
                == true)
        // A type of the target's own with the name of one of Core Bluetooth.
        #expect(found("class CBPeripheral {}\nclass A: Base { \(Self.method) }").first?.contains("but") == true)
    }

    @Test("of two methods with the same labels, the types decide")
    func overloads() {
        var sources = DelegateSources()
        sources.read(
            """
            class Late: Base {
                func peripheral(_ p: CBPeripheral, didUpdateValueFor c: CBCharacteristic, error: Error?) {}
                func peripheral(_ p: CBPeripheral, didUpdateValueFor d: CBDescriptor, error: (any Swift.Error)?) {}
            }
            """)
        #expect(sources.methods.map { $0.method.parameters[1].type } == ["CBCharacteristic", "CBDescriptor"])
    }

    @Test(
        "broken sources end, without a trap",
        arguments: [
            "", "class", "class A", "class A:", "class A: B {", "class A: B { func",
            "class A: B { func centralManager(",
            "}}}}", "#if", "#else\n#endif\n#endif", "#if A\n}\n#else\n}\n#endif", "\"", "\"\"\"", "\"\\(", "/*",
            "/* /*",
            "#\"", "#/", "@", "@A(", "`", "typealias", "typealias A =", "typealias A = A", "extension",
            "class A<B<C: D {",
            "class A: B { func centralManager(_ c: A<A<A<, didConnect: [[[[) {} }", "\u{FEFF}class", "\0",
            "class A: B { func centralManager(_ c: \(String(repeating: "(", count: 4000)), didConnect p: P) {} }",
            String(repeating: "\"\\(", count: 4000), String(repeating: "class A: B { ", count: 2000),
            String(repeating: "#if A\n", count: 2000),
        ])
    func broken(source: String) {
        _ = found(source)
        // And whatever part of it.
        let valid = "#if A\nclass Late: Base { let a = \"\\(b)\" \n\(Self.method) }\n#endif"
        for count in 0..<valid.count { _ = found(String(valid.prefix(count))) }
    }

    @Test("the table has a protocol for each method, and the conditions around both")
    func table() {
        var sources = DelegateSources()
        sources.read("#if A\nclass Late: Base { \(Self.method) }\n#endif\nprivate class B: Base { \(Self.method) }")
        let table = TableWriter.table(of: sources.methods)
        #expect(table.contains("extension Late: nonisolated _CBDelegateMethod1 {}\n#endif"))
        #expect(!table.contains("_CBDelegateMethod2"))
        #expect(table.contains("hiddenIn: \"B\", because: \"it is private\""))
        #expect(table.components(separatedBy: "#if ( A)\n").count == 3)
        #expect(TableWriter.table(of: []).contains("reserveCapacity(0)"))
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}
