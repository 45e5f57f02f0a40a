import BLEHost
import BLEPackets

/// What central managers ask for: scans, connections, retrieval (SPEC CEN-4 to CEN-9, CEN-22 to CEN-24, REC-1 to REC-7).
extension AppLifecycle {
    mutating func performCentral(_ request: ClientRequest, _ index: Int, at now: Instant) {
        // These need no Bluetooth.
        switch request {
        case .retrievePeripherals(let query, let identifiers):
            var known: [PeripheralDescription] = []
            for identifier in identifiers {
                guard let address = identities.address(of: identifier, app: managers[index].app) else { continue }
                keepIdentity(identifier, app: managers[index].app)
                known.append(describe(identifier, address, index))
            }
            return tell(.retrieved(query, known), index, at: now)
        case .retrieveConnectedPeripherals(let query, let services):
            return tell(.retrieved(query, connected(with: services, index)), index, at: now)
        // A wish outlasts Bluetooth (SPEC 5.5 rule 6), and so it must be possible to withdraw it then.
        case .letGo(let identifier): return cancelConnection(identifier, index, at: now)
        default: break
        }
        guard state(managers[index].app) == .poweredOn else {
            return log(.notPoweredOn(.central), managers[index].app)
        }
        switch request {
        case .scan(let options): scan(options, index, at: now)
        case .stopScan:
            managers[index].central.scan = nil
            managers[index].queue.removeDiscoveries()
            converge(index, at: now)
        case .connect(let identifier, let options): connect(identifier, options, index, at: now)
        case .cancelConnection(let identifier): cancelConnection(identifier, index, at: now)
        case .registerForConnectionEvents(let filter): managers[index].central.connectionEvents = filter
        case .peripheral(let identifier, let request): perform(request, on: identifier, index, at: now)
        default: break
        }
    }

    // MARK: Scanning

    /// A new scan is a new beginning: what the old one reported is reported again.
    private mutating func scan(_ options: ScanOptions, _ index: Int, at now: Instant) {
        if let running = managers[index].central.runningScan { cancel(running.token) }
        managers[index].central.runningScan = nil
        managers[index].central.scan = options
        if options.services.isEmpty, !apps[managers[index].app].isInForeground {
            log(.backgroundScanWithoutServices, managers[index].app)
        }
        converge(index, at: now)
    }

    mutating func discovered(_ discovery: Discovery, at now: Instant) {
        guard let index = index(of: discovery.client), let address = discovery.address,
            let running = managers[index].central.runningScan, operation(of: running.token) == discovery.scan
        else { return }
        let data = AdvertisingData(
            advertisement: discovery.advertisement.span.bytes, scanResponse: discovery.scanResponse.span.bytes)
        if let name = data.localNameWithoutPadding { identities.setAdvertisedName(name, of: address) }
        let identifier = identify(address, app: managers[index].app)
        tell(
            .discovered(
                describe(identifier, address, index),
                AdvertisementContent(data, discovery, scannedFor: managers[index].central.scan?.services ?? []),
                rssi: discovery.rssi), index, at: now)
    }

    // MARK: Identifiers

    /// The identifier of a device for an app: the same each time, a new one at first sight (SPEC REC-3).
    mutating func identify(_ address: DeviceAddress, app: Int) -> PeerIdentifier {
        if let identifier = identities.identifier(of: address, app: app) {
            identities.use(identifier, app: app)
            return identifier
        }
        let identifier = entropy.nextIdentifier()
        let address = address.withoutIdentityMark
        identities.insert(identifier, address, app: app, isKept: false)
        if address.isLasting { write(IdentityMap.Alias(app: app, identifier: identifier)) }
        forgetOldest()
        return identifier
    }

    func describe(_ identifier: PeerIdentifier, _ address: DeviceAddress, _ index: Int) -> PeripheralDescription {
        var state = PeripheralState.disconnected
        if let session = managers[index].central.index(of: identifier) {
            state = managers[index].central.peripherals[session].link == nil ? .connecting : .connected
        }
        return PeripheralDescription(identifier: identifier, name: identities.name(of: address), state: state)
    }

    private mutating func connected(with services: [BluetoothUUID], _ index: Int) -> [PeripheralDescription] {
        // Every peripheral has the Generic Access service (Core 5.4, Vol 3, Part C, 12), whether anybody looked for it or not.
        let isForAll = services.contains(BluetoothUUID(UInt16(0x1800)))
        return links.filter { link in
            isForAll && link.role == .central || link.services.contains { services.contains($0) }
        }.map { link in
            let identifier = identify(link.address, app: managers[index].app)
            return describe(identifier, link.address, index)
        }
    }

    // MARK: Connecting

    private mutating func connect(
        _ identifier: PeerIdentifier, _ options: ConnectOptions, _ index: Int, at now: Instant
    ) {
        guard let address = identities.address(of: identifier, app: managers[index].app) else {
            return tell(.connectionFailed(identifier, .coreBluetooth(.unknownDevice)), index, at: now)
        }
        keepIdentity(identifier, app: managers[index].app)
        if let session = managers[index].central.index(of: identifier) {
            managers[index].central.peripherals[session].options = options
            needsJournal = true
            if managers[index].central.peripherals[session].link != nil { tellConnected(index, session, at: now) }
            return
        }
        let delay = Microseconds.microseconds(max(0, min(options.startDelayMilliseconds, .max / 1000)) * 1000)
        managers[index].central.peripherals.append(
            PeripheralSession(
                identifier: identifier, address: address, options: options,
                state: .connecting(nil, notBefore: delay > .zero ? now.advanced(by: delay) : nil)))
        converge(index, at: now)
    }

    private mutating func tellConnected(_ index: Int, _ session: Int, at now: Instant) {
        let peripheral = managers[index].central.peripherals[session]
        tell(
            .connected(
                describe(peripheral.identifier, peripheral.address, index), maximumWriteLength: peripheral.writeLimits),
            index, at: now)
    }

    /// The engine has a link for a manager.
    mutating func connected(_ information: LinkInformation, _ client: ClientID, at now: Instant) {
        note(information)
        guard let index = index(of: client),
            let session = managers[index].central.peripherals.firstIndex(where: {
                $0.address == information.peer.withoutIdentityMark
            })
        else {
            // Nobody wants it any more.
            submit(.disconnect(information.id), from: client)
            return
        }
        managers[index].central.peripherals[session].state = .connected(information.id)
        managers[index].central.peripherals[session].attMTU = information.attMTU
        managers[index].central.peripherals[session].forgetDatabase()
        needsJournal = true
        let address = managers[index].central.peripherals[session].address
        if managers[index].id != nil { raiseAlert(.connection, address) }
        tellConnected(index, session, at: now)
    }

    /// A device that a manager is connected to is wanted under the other identifier that the app has of it: it was heard
    /// under an address of which nobody knew yet whose it is.
    mutating func connectedUnderAnotherName(
        _ link: LinkID, _ client: ClientID, _ identifier: PeerIdentifier, _ token: CommandToken, at now: Instant
    ) {
        guard let index = index(of: client), let session = managers[index].central.index(of: identifier),
            case .connecting(token, _) = managers[index].central.peripherals[session].state,
            let shared = links.first(where: { $0.id == link }),
            shared.address == managers[index].central.peripherals[session].address
        else { return }
        managers[index].central.peripherals[session].state = .connected(link)
        managers[index].central.peripherals[session].attMTU = shared.attMTU
        managers[index].central.peripherals[session].forgetDatabase()
        needsJournal = true
        tellConnected(index, session, at: now)
    }

    /// How long after failing to establish a link, its quick retries included, the device is tried again.
    private static let establishmentPause = Microseconds.microseconds(500_000)

    mutating func connectionFailed(
        _ client: ClientID, _ identifier: PeerIdentifier, _ token: CommandToken, _ failure: HostFailure, at now: Instant
    ) {
        guard let index = index(of: client), let session = managers[index].central.index(of: identifier),
            case .connecting(token, _) = managers[index].central.peripherals[session].state
        else { return }
        switch failure {
        case .controllerLost, .controllerUnresponsive, .cancelled, .invalidRequest(.stopped):
            // It stands, and is given to the engine again when the controller is back (SPEC 5.5 rule 6).
            managers[index].central.peripherals[session].state = .connecting(nil, notBefore: nil)
        case .connectionFailed(let status) where status == .connectionFailedToBeEstablished:
            // The device went away in between, or the controller does not wait for it: the request stands (SPEC CEN-9).
            managers[index].central.peripherals[session].state = .connecting(
                nil, notBefore: now.advanced(by: Self.establishmentPause))
        default:
            managers[index].central.peripherals.remove(at: session)
            needsJournal = true
            tell(.connectionFailed(identifier, failure.connectionError), index, at: now)
        }
    }

    /// The app hears of it at once; the link ends when nobody holds it (SPEC CEN-22 to CEN-24).
    private mutating func cancelConnection(_ identifier: PeerIdentifier, _ index: Int, at now: Instant) {
        guard let session = managers[index].central.index(of: identifier) else { return }
        switch managers[index].central.peripherals[session].state {
        case .connecting(let token?, _): cancel(token)
        case .connecting: break
        case .connected(let link):
            let isHeld = managers[index].central.peripherals.contains { $0.link == link && $0.identifier != identifier }
            if !isHeld { submit(.disconnect(link), from: managers[index].client) }
        }
        forgetTasks(of: managers[index].client, on: identifier)
        managers[index].central.peripherals.remove(at: session)
        needsJournal = true
        tell(
            .disconnected(identifier, nil, microseconds: now.microseconds, isReconnecting: false), index, at: now)
    }

    /// A link is gone for a manager that held it.
    mutating func disconnected(_ link: LinkID, _ client: ClientID, _ reason: DisconnectionReason, at now: Instant) {
        guard let index = index(of: client) else { return }
        // More than one where the app has two identifiers of the device.
        while let session = managers[index].central.peripherals.firstIndex(where: { $0.link == link }) {
            disconnected(session, index, client, reason, at: now)
        }
    }

    /// A device does not have the keys of its bond: no app gets anything from it, or goes on with it.
    mutating func peerLostKeys(_ link: LinkID, at now: Instant) {
        guard links.contains(where: { $0.id == link && $0.role == .central }) else { return }
        for (index, _) in holders(of: link) {
            let client = managers[index].client
            guard managers[index].central.peripherals.contains(where: { $0.link == link }) else { continue }
            disconnected(link, client, .controller(.pinOrKeyMissing), at: now)
            submit(.disconnect(link), from: client)
        }
    }

    private mutating func disconnected(
        _ session: Int, _ index: Int, _ client: ClientID, _ reason: DisconnectionReason, at now: Instant
    ) {
        let peripheral = managers[index].central.peripherals[session]
        forgetTasks(of: client, on: peripheral.identifier)
        needsJournal = true
        if reason == .controllerLost, managers[index].id == nil {
            managers[index].central.peripherals[session].state = .connecting(nil, notBefore: nil)
            return converge(index, at: now)
        }
        if managers[index].id != nil { raiseAlert(.disconnection, peripheral.address) }
        // Without the keys the next link would end as this one.
        let hasKeys = reason != .controller(.pinOrKeyMissing)
        let isReconnecting = peripheral.options.reconnectsAutomatically && hasKeys
        if isReconnecting {
            managers[index].central.peripherals[session].state = .connecting(nil, notBefore: nil)
            managers[index].central.peripherals[session].forgetDatabase()
        } else {
            managers[index].central.peripherals.remove(at: session)
        }
        tell(
            .disconnected(
                peripheral.identifier, reason.clientError, microseconds: now.microseconds,
                isReconnecting: isReconnecting), index, at: now)
        converge(index, at: now)
    }
}

extension AdvertisementContent {
    init(_ data: AdvertisingData, _ discovery: Discovery, scannedFor services: [BluetoothUUID]) {
        localName = data.localNameWithoutPadding
        manufacturerData = data.manufacturerData.first.map {
            [UInt8(truncatingIfNeeded: $0.company), UInt8(truncatingIfNeeded: $0.company >> 8)] + $0.data
        }
        serviceData = data.serviceData.map { ServiceData(uuid: $0.uuid, data: $0.data) }
        serviceUUIDs = data.serviceUUIDs
        solicitedServiceUUIDs = data.solicitedServiceUUIDs
        if let area = data.overflowArea {
            overflowServiceUUIDs = services.filter { area.contains($0) && !data.serviceUUIDs.contains($0) }
        }
        txPower = data.txPower ?? (discovery.txPower == 127 ? nil : discovery.txPower)
        isConnectable = discovery.isConnectable
        microseconds = discovery.time.microseconds
    }
}
