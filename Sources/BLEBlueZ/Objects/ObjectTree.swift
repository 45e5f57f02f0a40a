/// The objects of the service, with the values of their properties: the one place where they are, so that what clients
/// read and what signals say agree. Changes are noted as signals.
struct ObjectTree {
    /// An interface of an object.
    struct Interface {
        var name: String
        /// In the order in which they are shown. Optional ones that are absent are not here.
        var properties: [(name: String, value: BusValue)] = []

        func value(of name: String) -> BusValue? { properties.first { $0.name == name }?.value }
    }

    /// A property that changes; `nil`: it is gone.
    typealias Change = (name: String, value: BusValue?)

    /// Only for lookup.
    private var objects: [String: [Interface]] = [:]
    /// What has changed, oldest first.
    private(set) var signals: [BusSignal] = []

    mutating func takeSignals() -> [BusSignal] {
        defer { signals.removeAll(keepingCapacity: true) }
        return signals
    }

    var isQuiet: Bool { signals.isEmpty }

    func contains(_ path: String) -> Bool { objects[path] != nil }

    func interfaces(of path: String) -> [Interface] { objects[path] ?? [] }

    func interface(_ name: String, of path: String) -> Interface? { objects[path]?.first { $0.name == name } }

    func value(of property: String, _ interface: String, at path: String) -> BusValue? {
        self.interface(interface, of: path)?.value(of: property)
    }

    /// All paths, those of parents before those of their children.
    var paths: [String] { objects.keys.sorted() }

    /// The names of the nodes directly below a path, in alphabetical order.
    func children(of path: String) -> [String] {
        let prefix = path == "/" ? "/" : path + "/"
        var names: Set<Substring> = []
        for other in objects.keys where other.hasPrefix(prefix) && other.utf8.count > prefix.utf8.count {
            if let name = other.dropFirst(prefix.count).split(separator: "/", maxSplits: 1).first { names.insert(name) }
        }
        return names.map(String.init).sorted()
    }

    // MARK: Changes

    /// Adds an object, or interfaces to one.
    mutating func add(_ path: String, _ interfaces: [Interface]) {
        let isNew = objects[path] == nil
        objects[path, default: []] += interfaces
        signals.append(
            BusSignal(
                path: "/", interface: InterfaceName.objectManager, member: "InterfacesAdded",
                arguments: [.path(path), Self.shown(interfaces, isWhole: isNew)]))
    }

    /// Adds an object that no signal reports: those that are there from the beginning.
    mutating func addSilently(_ path: String, _ interfaces: [Interface]) { objects[path] = interfaces }

    /// Removes an object.
    mutating func remove(_ path: String) {
        guard let interfaces = objects.removeValue(forKey: path) else { return }
        noteRemoval(of: path, Self.accompanied(interfaces.map(\.name)))
    }

    /// Removes an interface of an object that stays.
    mutating func remove(_ interface: String, of path: String) {
        guard let place = objects[path]?.firstIndex(where: { $0.name == interface }) else { return }
        objects[path]?.remove(at: place)
        noteRemoval(of: path, [interface])
    }

    private mutating func noteRemoval(of path: String, _ names: [String]) {
        signals.append(
            BusSignal(
                path: "/", interface: InterfaceName.objectManager, member: "InterfacesRemoved",
                arguments: [.path(path), .strings(names)]))
    }

    /// Changes properties, with one signal for those that have another value than before.
    /// - Parameter always: properties that the signal shows even if they have not changed.
    mutating func set(_ changes: [Change], _ interface: String, of path: String, always: Set<String> = []) {
        guard let place = objects[path]?.firstIndex(where: { $0.name == interface }),
            var changed = objects[path]?[place]
        else { return }
        var shown: [(name: String, value: BusValue)] = []
        var invalidated: [String] = []
        for change in changes {
            let property = changed.properties.firstIndex { $0.name == change.name }
            switch (property, change.value) {
            case (nil, nil): continue
            case (let property?, nil):
                changed.properties.remove(at: property)
                invalidated.append(change.name)
            case (nil, let value?):
                changed.properties.append((change.name, value))
                shown.append((change.name, value))
            case (let property?, let value?):
                guard changed.properties[property].value != value || always.contains(change.name) else { continue }
                changed.properties[property].value = value
                shown.append((change.name, value))
            }
        }
        guard !shown.isEmpty || !invalidated.isEmpty else { return }
        objects[path]?[place] = changed
        signals.append(
            BusSignal(
                path: path, interface: InterfaceName.properties, member: "PropertiesChanged",
                arguments: [.string(interface), .properties(shown), .strings(invalidated)]))
    }

    /// Reports what is no change of an object.
    mutating func report(_ signal: BusSignal) { signals.append(signal) }

    // MARK: As values

    /// The value of `GetManagedObjects`: all but the object that answers it.
    var managedObjects: BusValue {
        .dictionary(
            of: "oa{sa{sv}}",
            paths.filter { $0 != "/" }.map { BusValue.Entry(.path($0), Self.shown(objects[$0] ?? [], isWhole: true)) })
    }

    /// - Parameter isWhole: whether these are all interfaces of an object, and not added to it.
    private static func shown(_ interfaces: [Interface], isWhole: Bool) -> BusValue {
        var entries = interfaces.map {
            BusValue.Entry(.string($0.name), .properties($0.properties))
        }
        if isWhole {
            let empty = BusValue.properties([])
            entries.insert(BusValue.Entry(.string(InterfaceName.introspectable), empty), at: 0)
            if interfaces.contains(where: { !(InterfaceDescription.all[$0.name]?.properties.isEmpty ?? true) }) {
                entries.append(BusValue.Entry(.string(InterfaceName.properties), empty))
            }
        }
        return .dictionary(of: "sa{sv}", entries)
    }

    private static func accompanied(_ names: [String]) -> [String] {
        [InterfaceName.introspectable] + names + [InterfaceName.properties]
    }
}
