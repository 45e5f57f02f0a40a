import BLEHost

/// Which call is for whom.
extension BlueZService {
    mutating func receive(_ call: BusCall) {
        guard clients.began(call) else { return emit(.refuse(call.id, .limitsExceeded)) }
        guard !Self.wishes.contains(call.member) || clients.mayWish(call.sender) else {
            return refuse(call, .tooManyWishes)
        }
        guard tree.contains(call.path) else { return receiveElsewhere(call) }
        let interfaces = descriptions(of: call.path)
        // Without an interface the first that has the method is meant.
        let interface =
            call.interface == nil
            ? interfaces.first { $0.accepts(call) } : interfaces.first { $0.name == call.interface }
        guard let interface, interface.accepts(call) else { return refuse(call, .unknownMethod(call)) }
        switch interface.name {
        case InterfaceName.introspectable: introspect(call, interfaces)
        case InterfaceName.properties: receiveProperties(call)
        case InterfaceName.objectManager: reply(to: call, [tree.managedObjects])
        case InterfaceName.agentManager: receiveAgentManager(call)
        case InterfaceName.adapter: receiveAdapter(call)
        case InterfaceName.device: receiveDevice(call)
        case InterfaceName.bearer: receiveBearer(call)
        case InterfaceName.characteristic: receiveCharacteristic(call)
        case InterfaceName.descriptor: receiveDescriptor(call)
        case InterfaceName.gattManager: receiveGATTManager(call)
        case InterfaceName.advertisingManager: receiveAdvertisingManager(call)
        case InterfaceName.monitorManager: receiveMonitorManager(call)
        default: refuse(call, .unknownMethod(call))
        }
    }

    /// Methods for something that ends with the client.
    private static let wishes: Set<String> = [
        "StartDiscovery", "SetDiscoveryFilter", "StartNotify", "AcquireNotify", "AcquireWrite", "RegisterAgent",
        Application.method, Advertisement.method, MonitorApplication.method,
    ]

    /// The interfaces of an object, with those that every object has.
    private func descriptions(of path: String) -> [InterfaceDescription] {
        let own = tree.interfaces(of: path).compactMap { InterfaceDescription.all[$0.name] }
        var names = [InterfaceName.introspectable]
        if own.contains(where: { !$0.properties.isEmpty }) { names.append(InterfaceName.properties) }
        return names.compactMap { InterfaceDescription.all[$0] } + own
    }

    private mutating func introspect(_ call: BusCall, _ interfaces: [InterfaceDescription]) {
        reply(to: call, [.string(Introspection.xml(of: interfaces, children: tree.children(of: call.path)))])
    }

    /// A path without an object: one above objects can be introspected, so that browsers find the way.
    private mutating func receiveElsewhere(_ call: BusCall) {
        let children = tree.children(of: call.path)
        guard !children.isEmpty, call.member == "Introspect", call.arguments.isEmpty,
            call.interface == nil || call.interface == InterfaceName.introspectable
        else { return refuse(call, children.isEmpty ? .unknownObject(call.path) : .unknownMethod(call)) }
        reply(to: call, [.string(Introspection.xml(of: [], children: children))])
    }

    // MARK: Properties

    private mutating func receiveProperties(_ call: BusCall) {
        let name = call.text(at: 0)
        guard let interface = tree.interface(name, of: call.path), let description = InterfaceDescription.all[name]
        else {
            // Interfaces without properties are there all the same.
            if call.member == "GetAll", descriptions(of: call.path).contains(where: { $0.name == name }) {
                return reply(to: call, [.properties([])])
            }
            return refuse(call, .noSuchInterface(name))
        }
        switch call.member {
        case "GetAll": reply(to: call, [.properties(interface.properties)])
        case "Get":
            let property = call.text(at: 1)
            guard let value = interface.value(of: property) else { return refuse(call, .noSuchProperty(property)) }
            reply(to: call, [.variant(value)])
        default: set(call, description)
        }
    }

    private mutating func set(_ call: BusCall, _ interface: InterfaceDescription) {
        let name = call.text(at: 1)
        guard let property = interface.property(name) else { return refuse(call, .unknownProperty(name)) }
        guard property.isWritable else { return refuse(call, .propertyReadOnly(name)) }
        guard case .variant(let value) = call.arguments[2], value.signature == property.signature else {
            return refuse(call, .invalidSignature(name))
        }
        switch interface.name {
        case InterfaceName.adapter: setAdapterProperty(name, value, call)
        case InterfaceName.device: setDeviceProperty(name, value, call)
        default: refuse(call, .propertyReadOnly(name))
        }
    }

    // MARK: Clients

    /// A client wants something that ends when it leaves the bus.
    mutating func beginWish(of client: String) {
        if clients.wishes(client) { emit(.watch(client)) }
    }

    mutating func endWish(of client: String) {
        if clients.wishesNoMore(client) { emit(.unwatch(client)) }
    }

    mutating func clientLeft(_ client: String) {
        clients.left(client)
        let open = questions.filter { $0.value.client == client }.keys.sorted { $0.rawValue < $1.rawValue }
        for question in open { receive(.failure(.noReply), to: question) }
        endAgent(of: client)
        endDiscovery(of: client)
        endNotifying(of: client)
        endServing(of: client)
        endAdvertisements(of: client)
        endMonitors(of: client)
    }

    /// Handles a signal of a watched client about its objects.
    mutating func receive(_ signal: BusSignal, from client: String) {
        switch signal.member {
        case "PropertiesChanged":
            guard case .string(let interface)? = signal.arguments.first, signal.arguments.count > 1,
                let changes = signal.arguments[1].options
            else { return }
            switch interface {
            case InterfaceName.characteristic: servedValueChanged(client, signal.path, changes)
            case InterfaceName.advertisement: advertisementChanged(client, signal.path, changes)
            default: break
            }
        case "InterfacesAdded":
            guard case .path(let path)? = signal.arguments.first, signal.arguments.count > 1,
                case .dictionary("sa{sv}", let interfaces) = signal.arguments[1]
            else { return }
            for interface in interfaces where interface.key == .string(InterfaceName.monitor) {
                let properties = Dictionary(interface.value.options?.map { ($0.name, $0.value) } ?? []) { $1 }
                monitorAdded(client, path, properties)
            }
        case "InterfacesRemoved":
            guard case .path(let path)? = signal.arguments.first, signal.arguments.count > 1,
                signal.arguments[1].texts?.contains(InterfaceName.monitor) == true
            else { return }
            monitorRemoved(client, path)
        default: break
        }
    }

    // MARK: Answers of clients

    mutating func receive(_ answer: Result<[BusValue], BusError>, to id: QuestionID) {
        guard let question = questions.removeValue(forKey: id) else { return }
        switch question.purpose {
        case .pairing(let device, let prompt): agentAnswered(answer, to: prompt, device)
        case .application(let path, let number): applicationShown(question.client, path, number, answer)
        case .servedRead(let id, let number): servedRead(id, number, answer)
        case .servedWrite(let id): servedWrite(id, answer)
        case .advertisement(let path, let number): advertisementShown(question.client, path, number, answer)
        case .changedAdvertisement(let path, let number):
            changedAdvertisementShown(question.client, path, number, answer)
        case .monitors(let path, let number): monitorsShown(question.client, path, number, answer)
        case .passedOn(let handle, let link, let number): confirm(handle, link, number)
        }
    }

    mutating func endQuestionsThatTookTooLong() {
        let late = questions.filter { $0.value.deadline <= now }.keys.sorted { $0.rawValue < $1.rawValue }
        for id in late {
            guard let question = questions[id] else { continue }
            emit(.dropQuestion(id))
            // A person need not answer any longer.
            if case .pairing = question.purpose { cancelRequest(of: question.client) }
            receive(.failure(.noReply), to: id)
        }
    }
}
