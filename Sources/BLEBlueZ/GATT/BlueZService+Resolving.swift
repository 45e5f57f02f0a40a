import BLEHost
import BLEPackets

/// Finding out what devices offer, and showing it as objects.
extension BlueZService {
    mutating func startResolving(_ path: String) {
        guard devices[path] != nil else { return }
        var discovery = DatabaseDiscovery(round: nextNumber())
        let requests = discovery.begin()
        devices[path]?.discovery = discovery
        submit(requests, of: path)
    }

    private mutating func submit(_ requests: [DatabaseDiscovery.Request], of path: String) {
        guard let device = devices[path], let link = device.link, let round = device.discovery?.round else { return }
        for request in requests {
            submit(
                .link(link, .gatt(request.operation)), to: device.adapter,
                .discovery(path, round: round, request.step))
        }
    }

    mutating func discovered(
        _ path: String, round: UInt64, _ step: DiscoveryStep, _ result: Result<HostResult, HostFailure>
    ) {
        guard let device = devices[path], device.discovery?.round == round else { return }
        var found: GATTResult?
        if case .success(.gatt(let answer)) = result { found = answer }
        if case .mtu(let mtu) = found { mtuChanged(path, Int(mtu)) }
        switch devices[path]?.discovery?.receive(found, for: step) {
        case .goOn(let requests): submit(requests, of: path)
        case .found(let services):
            devices[path]?.discovery = nil
            resolved(path, services)
        // What a device is without its services nobody can use.
        case .failed:
            devices[path]?.discovery = nil
            // A central need not offer anything.
            if device.isCentral { answerPairCalls(path) } else { startDisconnecting(path) }
        case nil: break
        }
    }

    mutating func mtuChanged(_ path: String, _ mtu: Int) {
        guard devices[path]?.attMTU != mtu else { return }
        devices[path]?.attMTU = mtu
        guard let database = devices[path]?.database else { return }
        for inner in database.paths where database.characteristic(inner) != nil {
            tree.set([("MTU", .uint16(UInt16(clamping: mtu)))], InterfaceName.characteristic, of: inner)
        }
    }

    private mutating func resolved(_ path: String, _ services: [RemoteDatabase.Service]) {
        guard let device = devices[path] else { return }
        if device.database?.services != services {
            if device.areServicesResolved {
                devices[path]?.areServicesResolved = false
                tree.set([("ServicesResolved", .boolean(false))], InterfaceName.device, of: path)
            }
            removeAttributeObjects(of: path)
            let database = RemoteDatabase(services, of: path)
            devices[path]?.database = database
            for inner in database.paths {
                guard let interface = database.interface(of: inner, device: path, mtu: device.attMTU) else { continue }
                tree.add(inner, [interface])
            }
        } else {
            for inner in device.database?.paths ?? [] where device.database?.characteristic(inner) != nil {
                tree.set(
                    [("MTU", .uint16(UInt16(clamping: device.attMTU)))], InterfaceName.characteristic, of: inner)
            }
        }
        devices[path]?.areServicesResolved = true
        devices[path]?.add(services.filter(\.isPrimary).map(\.uuid))
        if let known = devices[path] {
            devices[path]?.record.uuids = known.uuids
            tree.set(
                [("UUIDs", known.uuidsValue), ("ServicesResolved", .boolean(true))], InterfaceName.device, of: path)
        }
        answerPairCalls(path)
        resumeSessions(of: path)
        readOwnValues(path)
    }

    /// Removes the objects of what a device offers, children first.
    mutating func removeAttributeObjects(of path: String) {
        endUse(ofAttributesOf: path)
        for inner in devices[path]?.database?.pathsChildrenFirst ?? [] { tree.remove(inner) }
        devices[path]?.database = nil
    }

    // MARK: What the service itself reads

    /// The device's name, and the state of its battery.
    private mutating func readOwnValues(_ path: String) {
        guard let device = devices[path], let link = device.link, let database = device.database else { return }
        let wanted: [(UInt16, UInt16, Work.OwnRead)] = [
            (0x2A00, 0x1800, .name), (0x2A01, 0x1800, .appearance), (0x2A19, 0x180F, .battery),
        ]
        for (uuid, service, purpose) in wanted {
            guard let characteristic = database.characteristic(uuid, in: service),
                characteristic.properties.contains(.read), purpose != .name || device.name == nil
            else { continue }
            submit(
                .link(link, .gatt(.read(characteristic.valueHandle))), to: device.adapter,
                .ownRead(path, characteristic.valueHandle, purpose))
            if purpose == .battery, let mode = characteristic.properties.subscriptionMode,
                let configuration = characteristic.configuration
            {
                let operation = GATTOperation.subscribe(
                    characteristic.valueHandle, configuration: configuration, mode: mode)
                submit(.link(link, .gatt(operation)), to: device.adapter, .nothing)
            }
        }
        let changed = database.characteristic(0x2A05, in: 0x1801)
        if let changed, let configuration = changed.configuration {
            let operation = GATTOperation.subscribe(
                changed.valueHandle, configuration: configuration, mode: .indications)
            submit(.link(link, .gatt(operation)), to: device.adapter, .nothing)
        }
    }

    mutating func hasRead(
        _ path: String, _ handle: AttributeHandle, _ purpose: Work.OwnRead, _ result: Result<HostResult, HostFailure>
    ) {
        guard case .success(.gatt(.value(let value))) = result, let device = devices[path] else { return }
        switch purpose {
        case .name:
            let name = String(decoding: value.prefix { $0 != 0 }, as: UTF8.self)
            guard !name.isEmpty, device.name == nil else { return }
            devices[path]?.name = name
            devices[path]?.record.name = name
            let alias = devices[path].map { BusValue.string($0.alias) }
            tree.set([("Name", .string(name)), ("Alias", alias)], InterfaceName.device, of: path)
        case .appearance:
            guard value.count >= 2 else { return }
            let appearance = UInt16(value[0]) | UInt16(value[1]) << 8
            // Zero is ‘unknown’.
            guard appearance != 0 || device.record.appearance != nil else { return }
            devices[path]?.record.appearance = appearance
            tree.set(
                [
                    ("Appearance", .uint16(appearance)),
                    ("Icon", DeviceIcon.name(of: appearance).map { BusValue.string($0) }),
                ], InterfaceName.device, of: path)
        case .battery:
            guard device.isConnected else { return }
            devices[path]?.batteryHandle = handle
            showBattery(path, value)
        }
    }

    private mutating func showBattery(_ path: String, _ value: [UInt8]) {
        guard let percentage = value.first, percentage <= 100 else { return }
        if tree.interface(InterfaceName.battery, of: path) != nil {
            tree.set([("Percentage", .byte(percentage))], InterfaceName.battery, of: path)
        } else {
            tree.add(
                path,
                [
                    ObjectTree.Interface(
                        name: InterfaceName.battery,
                        properties: [
                            ("Percentage", .byte(percentage)), ("Source", .string("GATT Battery Service")),
                        ])
                ])
        }
    }

    // MARK: Notifications

    mutating func received(_ notification: GATTNotification, on link: LinkID, at number: Int) {
        guard let path = adapters[number]?.links[link], let device = devices[path] else { return }
        if notification.handle == device.batteryHandle { showBattery(path, notification.value) }
        guard let database = device.database, let inner = database.path(ofValue: notification.handle) else { return }
        if database.characteristic(inner)?.uuid == BluetoothUUID(UInt16(0x2A05)) { startResolving(path) }
        let use = database.uses[inner]
        if let socket = use?.notifySocket {
            emit(.send(socket, notification.value))
        } else if let use, !use.sessions.isEmpty || !use.waiting.isEmpty {
            // Also a value that equals the last one is told.
            tree.set(
                [("Value", .octets(notification.value))], InterfaceName.characteristic, of: inner, always: ["Value"])
            if notification.isIndication { return confirmWhenPassedOn(notification.handle, link, number) }
        }
        if notification.isIndication { confirm(notification.handle, link, number) }
    }

    /// The peer may go by the confirmation: clients have the value before. What the bus answers after the signal, it
    /// answers when it has passed the signal on.
    private mutating func confirmWhenPassedOn(_ handle: AttributeHandle, _ link: LinkID, _ number: Int) {
        ask(
            BusRequest(
                destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
                member: "GetId", arguments: []), .passedOn(handle, link, number))
    }

    mutating func confirm(_ handle: AttributeHandle, _ link: LinkID, _ number: Int) {
        guard adapters[number]?.links[link] != nil else { return }
        submit(.link(link, .gatt(.confirm(handle))), to: number, .nothing)
    }
}
