import BLE
import BLEScripts
import BLEText

/// The links of the devices that were opened: does what their pages want, and tells what happens.
actor DeviceLinks {
    /// Gets the device, the number of the attempt to connect, and what has happened.
    typealias Report = @Sendable (DeviceAddress, Int, LinkEvent) -> Void

    /// How often the signal of the device that is shown is measured.
    private static let measuringInterval = Duration.seconds(2)
    /// How long the controller may take to report one thing; some never do.
    private static let patience = Duration.seconds(2)

    /// A link, or an attempt at one.
    private struct OpenLink {
        let number: Int
        var peripheral: Peripheral?
        var database: PeerDatabase?
        /// What ends with the link.
        var tasks: [Task<Void, Never>] = []
        var subscriptions: [AttributeHandle: Task<Void, Never>] = [:]
        var watchesChanges = false
        var phys: (transmit: PHY, receive: PHY)?
    }

    private let session: Session
    private let report: Report
    private var adapter: Adapter?
    private var links: [DeviceAddress: OpenLink] = [:]
    private var watched: DeviceAddress?
    private var measuring: Task<Void, Never>?
    private var events: Task<Void, Never>?
    /// Why no link may be made: the bonds cannot be read.
    private let refusal: Failure?

    /// - Parameter refusal: why no link may be made; `nil` where one may.
    init(_ session: Session, refusal: Failure?, report: @escaping Report) {
        self.session = session
        self.refusal = refusal
        self.report = report
    }

    // MARK: The adapter

    /// Uses an adapter from now on; the links of an earlier one are gone with it.
    func use(_ adapter: Adapter) async {
        lose("the adapter was gone")
        self.adapter = adapter
        let changes = await adapter.events()
        events?.cancel()
        events = Task { [weak self] in
            do {
                for try await event in changes { await self?.handle(event) }
            } catch {
                // The scan says so.
            }
        }
    }

    /// The adapter is gone.
    func lose(_ reason: String) {
        adapter = nil
        for device in Array(links.keys) { end(device, saying: reason) }
    }

    /// Ends everything that is under way; the adapter closes the links.
    func end() {
        measuring?.cancel()
        events?.cancel()
        for device in Array(links.keys) { remove(device) }
    }

    private func handle(_ event: AdapterEvent) {
        guard case .phyChanged(let link, let transmit, let receive) = event else { return }
        for (device, open) in links where open.peripheral?.link == link {
            links[device]?.phys = (transmit, receive)
        }
    }

    // MARK: What pages want

    func perform(_ task: LinkTask, on device: DeviceAddress) {
        switch task {
        case .connect(let number): connect(to: device, number)
        case .disconnect:
            guard let open = remove(device), let peripheral = open.peripheral else { return }
            Task { try? await peripheral.disconnect() }
        case .discover: run(on: device) { try await self.discover($0) }
        case .read(let handles): run(on: device) { try await self.read(handles, $0) }
        case .write(let handle, let octets, let procedure):
            run(on: device, about: handle) { link in
                try await link.peripheral.write(octets, to: handle, procedure)
                link.report(.written(handle, octets: octets.count))
            }
        case .subscribe(let found):
            run(on: device, about: found.valueHandle) { try await self.subscribe(to: found, $0) }
        case .unsubscribe(let found):
            guard let number = links[device]?.number else { return }
            links[device]?.subscriptions.removeValue(forKey: found.valueHandle)?.cancel()
            report(device, number, .unsubscribed(found.valueHandle, nil))
        case .pair: run(on: device) { try await self.pair($0) }
        }
    }

    /// What an operation needs of a link.
    private struct UsedLink: Sendable {
        let device: DeviceAddress
        let number: Int
        let peripheral: Peripheral
        let database: PeerDatabase
        let report: @Sendable (LinkEvent) -> Void
    }

    /// Does something on a link; what fails is told in words.
    private func run(
        on device: DeviceAddress, about handle: AttributeHandle? = nil,
        _ body: @escaping @Sendable (UsedLink) async throws -> Void
    ) {
        guard let open = links[device], let peripheral = open.peripheral, let database = open.database else { return }
        let (report, number) = (report, open.number)
        let link = UsedLink(device: device, number: number, peripheral: peripheral, database: database) {
            report(device, number, $0)
        }
        Task {
            do { try await body(link) } catch {
                let text = await self.words(for: error)
                link.report(handle.map { .failed($0, text) } ?? .note(text))
                await self.renew(after: error, link)
            }
        }
    }

    private func words(for error: any Error) async -> String {
        let cause = await adapter?.cause(of: error) ?? error
        return session.explaining(cause).message.printable(limit: 512)
    }

    // MARK: Connecting

    private func connect(to device: DeviceAddress, _ number: Int) {
        remove(device)
        if let refusal { return report(device, number, .ended(refusal.message.printable)) }
        guard let adapter else { return report(device, number, .ended("the adapter is away")) }
        links[device] = OpenLink(number: number)
        let search = PeerSearch(limit: Seconds.connectTimeout.duration)
        let connecting = Task { [session] in
            do {
                let peripheral = try await session.connect(to: .address(device), through: adapter, search)
                await self.connected(peripheral, to: device, number, adapter)
            } catch {
                let text = await self.words(for: error)
                self.end(device, number, saying: text)
            }
        }
        links[device]?.tasks.append(connecting)
    }

    private func connected(
        _ peripheral: Peripheral, to device: DeviceAddress, _ number: Int, _ adapter: Adapter
    ) async {
        let database = PeerDatabase(peripheral, await session.databaseMemory(of: peripheral, through: adapter))
        guard links[device]?.number == number else {
            // The page was closed meanwhile.
            try? await peripheral.disconnect()
            return
        }
        links[device]?.peripheral = peripheral
        links[device]?.database = database
        report(device, number, .connected)
        let waiting = Task {
            guard let reason = try? await peripheral.waitForDisconnection() else { return }
            let text = await self.words(for: BLEError.linkLost(reason))
            self.end(device, number, saying: reason == .releasedByClient ? "the link was closed" : text)
        }
        links[device]?.tasks.append(waiting)
        if watched == device { measure(device) }
        perform(.discover, on: device)
    }

    /// There is no link any more.
    private func end(_ device: DeviceAddress, _ number: Int? = nil, saying text: String) {
        guard let open = links[device], number == nil || open.number == number else { return }
        remove(device)
        report(device, open.number, .ended(text))
    }

    @discardableResult
    private func remove(_ device: DeviceAddress) -> OpenLink? {
        guard let open = links.removeValue(forKey: device) else { return nil }
        for task in open.tasks + open.subscriptions.values { task.cancel() }
        return open
    }

    // MARK: Attributes

    private func discover(_ link: UsedLink) async throws {
        link.report(.discovered(try await link.database.contents(of: nil)))
    }

    /// After an error that says that the attributes have changed, they are discovered again.
    private func renew(after error: any Error, _ link: UsedLink) async {
        guard case BLEError.att(.databaseOutOfSync, _) = error, links[link.device]?.number == link.number else {
            return
        }
        await link.database.forget()
        link.report(.note("the device has changed its services"))
        perform(.discover, on: link.device)
    }

    private func read(_ handles: [AttributeHandle], _ link: UsedLink) async throws {
        for handle in handles {
            do { link.report(.value(handle, try await link.peripheral.read(handle))) } catch {
                link.report(.failed(handle, await words(for: error)))
                guard links[link.device]?.number == link.number else { return }
                await renew(after: error, link)
            }
        }
    }

    private func subscribe(to found: Characteristic, _ link: UsedLink) async throws {
        let handle = found.valueHandle
        let (notifications, remark) = try await link.database.subscribe(to: found)
        guard links[link.device]?.number == link.number else { return }
        let reading = Task {
            do {
                for try await value in notifications { link.report(.notified(handle, value.bytes)) }
            } catch BLEError.notSubscribed {
                link.report(.unsubscribed(handle, "the device has changed its services"))
            } catch {
                // The link itself reports its end, once.
            }
        }
        links[link.device]?.subscriptions.updateValue(reading, forKey: handle)?.cancel()
        link.report(.subscribed(handle))
        if let remark { link.report(.note(remark)) }
        try await watchChanges(link)
    }

    /// Subscribes to Service Changed, once: a device without it never changes its services.
    private func watchChanges(_ link: UsedLink) async throws {
        guard links[link.device]?.watchesChanges == false else { return }
        links[link.device]?.watchesChanges = true
        guard let changes = try? await link.peripheral.serviceChanges() else { return }
        let watching = Task {
            do {
                for try await _ in changes {
                    await link.database.forget()
                    try await self.discover(link)
                }
            } catch {
                // The link itself reports its end.
            }
        }
        links[link.device]?.tasks.append(watching)
    }

    private func pair(_ link: UsedLink) async throws {
        guard session.rawAdapter == nil, let adapter else {
            throw Failure("on raw: the kernel does the pairing; use the user channel (-t user:N)", status: .usage)
        }
        let summary = try await link.peripheral.pair()
        link.report(.note(BondOutput.text(summary)))
        await session.remember(.address(link.device), of: link.peripheral, through: adapter, isNew: true)
    }

    // MARK: How the link runs

    /// Measures the signal of this device until another is shown.
    func watch(_ device: DeviceAddress?) {
        watched = device
        measuring?.cancel()
        if let device, links[device]?.peripheral != nil { measure(device) }
    }

    private func measure(_ device: DeviceAddress) {
        guard let open = links[device], let peripheral = open.peripheral else { return }
        measuring?.cancel()
        measuring = Task {
            var tellsSignal = true
            if let phys = try? await within(Self.patience, { try await peripheral.readPHY() }) {
                self.keep(phys, of: device, open.number)
            }
            while !Task.isCancelled {
                var rssi: Int8?
                if tellsSignal {
                    do { rssi = try await within(Self.patience) { try await peripheral.readRSSI() } } catch {
                        // One that cannot tell it now cannot later.
                        tellsSignal = false
                    }
                }
                await self.tell(rssi, of: device, open.number, peripheral)
                try? await Task.sleep(for: Self.measuringInterval)
            }
        }
    }

    private func keep(_ phys: (transmit: PHY, receive: PHY), of device: DeviceAddress, _ number: Int) {
        if links[device]?.number == number { links[device]?.phys = phys }
    }

    private func tell(_ rssi: Int8?, of device: DeviceAddress, _ number: Int, _ peripheral: Peripheral) async {
        guard let information = await peripheral.information, let adapter else { return }
        let security = await peripheral.security
        let identity = security?.identity ?? peripheral.address
        let isBonded = await adapter.bonds.contains { $0.identity == identity }
        let phys = links[device]?.phys
        report(
            device, number,
            .facts(
                LinkFacts(
                    mtu: information.attMTU, parameters: information.parameters, transmitPHY: phys?.transmit,
                    receivePHY: phys?.receive, rssi: rssi == 127 ? nil : rssi, security: security, isBonded: isBonded)))
    }
}

/// Waits for what a controller reports, but not for long.
private func within<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withTimeout(limit, overdue: Failure(BLEError.procedureTimeout), body)
}
