import Testing

@testable import BLEBlueZ

@Suite("Objects and their properties")
struct ObjectTreeTests {
    private let path = "/org/bluez/hci0"
    private var interface: ObjectTree.Interface {
        ObjectTree.Interface(
            name: InterfaceName.adapter, properties: [("Alias", .string("a")), ("Powered", .boolean(true))])
    }

    @Test("Only what has changed is told, once; what is gone is invalidated")
    func changes() {
        var tree = ObjectTree()
        tree.add(path, [interface])
        #expect(tree.takeSignals().map(\.member) == ["InterfacesAdded"])
        tree.set([("Alias", .string("a"))], InterfaceName.adapter, of: path)
        #expect(tree.isQuiet)
        tree.set([("Alias", .string("a"))], InterfaceName.adapter, of: path, always: ["Alias"])
        tree.set([("Alias", .string("b")), ("Powered", .boolean(true))], InterfaceName.adapter, of: path)
        tree.set([("Alias", nil), ("Name", nil)], InterfaceName.adapter, of: path)
        let signals = tree.takeSignals()
        #expect(signals.map { $0.arguments[1].options?.map(\.name) ?? [] } == [["Alias"], ["Alias"], []])
        #expect(signals.map { $0.arguments[2].texts ?? [] } == [[], [], ["Alias"]])
        #expect(tree.value(of: "Alias", InterfaceName.adapter, at: path) == nil)
        tree.set([("Alias", .string("x"))], InterfaceName.adapter, of: "/nothing")
        #expect(tree.isQuiet)
    }

    @Test("Objects are shown with their parents first, and nodes by their children")
    func paths() {
        var tree = ObjectTree()
        for path in ["/org/bluez/hci0/dev_B", "/org/bluez/hci0", "/org/bluez/hci0/dev_A", "/org/bluez"] {
            tree.addSilently(path, [interface])
        }
        #expect(tree.paths.first == "/org/bluez" && tree.paths[1] == path)
        #expect(tree.children(of: "/") == ["org"] && tree.children(of: path) == ["dev_A", "dev_B"])
        #expect(tree.children(of: "/org/bluez/hci") == [])
        tree.addSilently("/", [])
        guard case .dictionary(_, let entries) = tree.managedObjects else {
            Issue.record("no dictionary")
            return
        }
        #expect(entries.map(\.key) == tree.paths.dropFirst().map { BusValue.path($0) })
        tree.remove(path)
        #expect(!tree.contains(path))
    }
}
