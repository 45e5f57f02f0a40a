import BLEHost
import BLEPackets

/// Applications that offer services (`GattManager1`).
extension BlueZService {
    /// The services that applications offer at an adapter.
    func servedUUIDs(at number: Int) -> [BluetoothUUID] {
        applications.filter { $0.number == number && $0.state == .active }.flatMap(\.services).map(\.uuid)
    }

    mutating func receiveGATTManager(_ call: BusCall) {
        guard let number = adapterNumber(call.path) else { return refuse(call, .unknownObject(call.path)) }
        switch registration(call, in: \.applications, at: number) {
        case .new:
            let path = call.text(at: 0)
            askForObjects(call.sender, path, .application(path: path, number))
        case .end(let place):
            guard applications[place].state == .active else { return refuse(call, .doesNotExist) }
            endApplication(place, isAsked: true)
            endWish(of: call.sender)
            reply(to: call)
        case nil: break
        }
    }

    /// The client shows its objects.
    mutating func applicationShown(
        _ client: String, _ path: String, _ number: Int, _ answer: Result<[BusValue], BusError>
    ) {
        guard let place = applications.place(client, path, number), applications[place].state == .loading else {
            return
        }
        guard case .success(let values) = answer else {
            return failApplication(place, .failed("No object received"))
        }
        do throws(BusError) { try applications[place].take(values.first) } catch {
            return failApplication(place, error)
        }
        applications[place].state = .publishing
        publishNext(place)
    }

    private mutating func failApplication(_ place: Int, _ error: BusError) {
        let application = applications[place]
        endApplication(place, isAsked: true)
        failed(application, error)
    }

    private mutating func publishNext(_ place: Int) {
        let application = applications[place]
        if let service = application.nextService {
            submit(
                .server(.publish(application.definition(of: application.services[service]))),
                to: application.number,
                .publish(application.client, application.path, application.services[service].path))
        } else if application.services.contains(where: { $0.handle == nil }) {
            // Services that include one another.
            failApplication(place, .failed("Failed to create entry in database"))
        } else {
            registered(place)
        }
    }

    mutating func published(
        _ client: String, _ path: String, _ service: String, at number: Int, _ result: Result<HostResult, HostFailure>
    ) {
        guard let place = applications.place(client, path, number),
            let index = applications[place].services.firstIndex(where: { $0.path == service })
        else {
            // The application has gone meanwhile.
            if case .success(.published(let published)) = result {
                submit(.server(.removeService(published.range.first)), to: number, .nothing)
            }
            return
        }
        guard case .success(.published(let published)) = result else {
            return failApplication(place, .failed("Failed to create entry in database"))
        }
        applications[place].published(index, as: published)
        publishNext(place)
    }

    private mutating func registered(_ place: Int) {
        applications[place].state = .active
        let application = applications[place]
        showServedUUIDs(at: application.number)
        for service in application.services {
            if service.wantsHandle, let handle = service.handle {
                tell(handle, to: application, service.path, InterfaceName.service)
            }
            for characteristic in service.characteristics where characteristic.wantsHandle {
                guard let handle = characteristic.valueHandle else { continue }
                tell(
                    AttributeHandle(rawValue: handle.rawValue - 1), to: application, characteristic.path,
                    InterfaceName.characteristic)
            }
        }
        registered(place, in: \.applications)
    }

    /// Sets the property `Handle` of a client's object.
    private mutating func tell(
        _ handle: AttributeHandle, to application: Application, _ path: String, _ interface: String
    ) {
        tell(
            "Set", [.string(interface), .string("Handle"), .variant(.uint16(handle.rawValue))], application.client,
            path, InterfaceName.properties)
    }

    private mutating func showServedUUIDs(at number: Int) {
        guard let adapter = adapters[number] else { return }
        tree.set([("UUIDs", .strings(adapterUUIDs(of: number)))], InterfaceName.adapter, of: adapter.path)
    }

    // MARK: The end

    /// - Parameter isAsked: whether the client is there to be told of it.
    private mutating func endApplication(_ place: Int, isAsked: Bool) {
        let application = applications.remove(at: place)
        for service in application.services.reversed() {
            guard let handle = service.handle else { continue }
            submit(.server(.removeService(handle)), to: application.number, .nothing)
        }
        if application.state == .active { showServedUUIDs(at: application.number) }
        if isAsked { releaseProfile(of: application) }
    }

    private mutating func releaseProfile(of application: Application) {
        guard let profile = application.profile else { return }
        tell("Release", [], application.client, profile, InterfaceName.gattProfile)
    }

    /// A client has left the bus.
    mutating func endServing(of client: String) {
        while let place = applications.firstIndex(where: { $0.client == client }) {
            let call = applications[place].call
            endApplication(place, isAsked: false)
            // Nobody hears it, but each call has an end.
            if let call { refuse(call, .doesNotExist) }
        }
    }

    /// The daemon is gone.
    mutating func endServing(at number: Int) {
        while let place = applications.firstIndex(where: { $0.number == number }) {
            let application = applications.remove(at: place)
            if let call = application.call { refuse(call, .notReady) }
            releaseProfile(of: application)
            endWish(of: application.client)
        }
        servedWrites = servedWrites.filter { $0.value.number != number }
    }
}
