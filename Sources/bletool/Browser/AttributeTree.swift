import BLE
import BLEScripts

/// What a device offers, as a tree of rows that are opened and closed: services, what they include, characteristics,
/// descriptors.
struct AttributeTree {
    struct Node {
        enum Kind: Equatable {
            case service(Service)
            case include(IncludedService)
            case characteristic(Characteristic)
            case descriptor(Descriptor)
        }

        var kind: Kind
        /// 0 for services.
        var depth: Int
        /// The place of the node that this one is in.
        var parent: Int?
        var hasChildren = false
        var isOpen = false
    }

    /// A device with more characteristics begins as a list of its services.
    static let mostOpened = 64

    private(set) var nodes: [Node] = []
    /// The places of the nodes that are not in a closed one.
    private(set) var visible: [Int] = []

    // What the targets of commands mean: the first attribute with a UUID, in the order in which commands search.
    private var characteristics: [BluetoothUUID: AttributeHandle] = [:]
    private var members: [Member: AttributeHandle] = [:]
    private var descriptors: [BluetoothUUID: AttributeHandle] = [:]

    private struct Member: Hashable {
        var service: BluetoothUUID
        var uuid: BluetoothUUID
    }

    init(_ contents: [ServiceContents] = []) {
        let opensServices = contents.reduce(0) { $0 + $1.characteristics.count } <= Self.mostOpened
        for service in contents {
            let place = nodes.count
            nodes.append(Node(kind: .service(service.service), depth: 0, isOpen: opensServices))
            for included in service.includedServices { add(.include(included), in: place) }
            for found in service.characteristics {
                let characteristic = found.characteristic
                let home = nodes.count
                add(.characteristic(characteristic), in: place)
                for descriptor in found.descriptors { add(.descriptor(descriptor), in: home) }
                // Commands look for primary services only.
                guard service.service.isPrimary else { continue }
                let member = Member(service: service.service.uuid, uuid: characteristic.uuid)
                if members[member] == nil { members[member] = characteristic.valueHandle }
                if characteristics[characteristic.uuid] == nil {
                    characteristics[characteristic.uuid] = characteristic.valueHandle
                }
                for descriptor in found.descriptors where descriptors[descriptor.uuid] == nil {
                    descriptors[descriptor.uuid] = descriptor.handle
                }
            }
        }
        findVisible()
    }

    private mutating func add(_ kind: Node.Kind, in parent: Int) {
        nodes[parent].hasChildren = true
        nodes.append(Node(kind: kind, depth: nodes[parent].depth + 1, parent: parent))
    }

    /// Opens a node or closes it.
    mutating func setOpen(_ isOpen: Bool, at place: Int) {
        guard nodes[place].hasChildren, nodes[place].isOpen != isOpen else { return }
        nodes[place].isOpen = isOpen
        findVisible()
    }

    private mutating func findVisible() {
        visible.removeAll(keepingCapacity: true)
        var closedDepth = Int.max
        for (place, node) in nodes.enumerated() where node.depth <= closedDepth {
            visible.append(place)
            closedDepth = node.isOpen ? .max : node.depth
        }
    }

    /// The node whose value has this handle.
    func place(of handle: AttributeHandle) -> Int? { nodes.firstIndex { $0.valueHandle == handle } }

    /// The characteristics in a service, or in that in which a node is.
    func characteristics(around place: Int) -> [Characteristic] {
        var first = place
        while let parent = nodes[first].parent { first = parent }
        return nodes[(first + 1)...].prefix { $0.depth > 0 }.compactMap(\.characteristic)
    }

    /// How a command names the value of a node: as short as its meaning is certain.
    func target(at place: Int) -> String? {
        let node = nodes[place]
        guard let handle = node.valueHandle else { return nil }
        let number = Hexadecimal.number(handle.rawValue, digits: 4)
        switch node.kind {
        case .characteristic(let found):
            if characteristics[found.uuid] == handle { return found.uuid.description }
            guard let parent = node.parent, case .service(let service) = nodes[parent].kind,
                members[Member(service: service.uuid, uuid: found.uuid)] == handle
            else { return number }
            return "\(service.uuid)/\(found.uuid)"
        case .descriptor(let found):
            return descriptors[found.uuid] == handle && characteristics[found.uuid] == nil
                ? found.uuid.description : number
        case .service, .include: return nil
        }
    }
}

extension AttributeTree.Node {
    var characteristic: Characteristic? {
        guard case .characteristic(let found) = kind else { return nil }
        return found
    }

    /// The handle of what is read and written.
    var valueHandle: AttributeHandle? {
        switch kind {
        case .characteristic(let found): found.valueHandle
        case .descriptor(let found): found.handle
        case .service, .include: nil
        }
    }

    var uuid: BluetoothUUID {
        switch kind {
        case .service(let service): service.uuid
        case .include(let included): included.service.uuid
        case .characteristic(let found): found.uuid
        case .descriptor(let found): found.uuid
        }
    }

    /// The UUID and what it is called.
    var title: String {
        switch kind {
        case .service(let service): service.uuid.textWithName + (service.isPrimary ? "" : " (secondary)")
        case .include(let included): "includes \(included.service.uuid.textWithName)"
        case .characteristic(let found): found.uuid.attributeText
        case .descriptor(let found): found.uuid.attributeText
        }
    }

    /// Whether its value may be read: what descriptors allow is not known beforehand.
    var isReadable: Bool { characteristic?.properties.contains(.read) ?? (valueHandle != nil) }

    /// In which ways its value may be written.
    var writeProcedures: [GATTStep.WriteProcedure] {
        guard let properties = characteristic?.properties else { return valueHandle == nil ? [] : [.confirmed] }
        let ways: [(CharacteristicProperties, GATTStep.WriteProcedure)] = [
            (.write, .confirmed), (.writeWithoutResponse, .withoutResponse), (.authenticatedSignedWrites, .signed),
        ]
        return ways.filter { properties.contains($0.0) }.map(\.1)
    }
}
