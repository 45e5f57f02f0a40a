import BLEHost
import BLEPackets

/// Monitors of advertisements (`AdvertisementMonitorManager1`): they scan passively.
extension BlueZService {
    var monitorProperties: [(name: String, value: BusValue)] {
        [("SupportedMonitorTypes", .strings(["or_patterns"])), ("SupportedFeatures", .strings([]))]
    }

    private static let monitorLimit = 256

    mutating func receiveMonitorManager(_ call: BusCall) {
        guard let number = adapterNumber(call.path) else { return refuse(call, .unknownObject(call.path)) }
        switch registration(call, in: \.monitors, at: number) {
        case .new(let place):
            // Its monitors are not waited for.
            registered(place, in: \.monitors)
            let path = call.text(at: 0)
            askForObjects(call.sender, path, .monitors(path: path, number))
        case .end(let place):
            dropQuestions(of: call.sender, .monitors(path: call.text(at: 0), number))
            releaseMonitors(of: monitors.remove(at: place))
            updateScan(at: number)
            endWish(of: call.sender)
            reply(to: call)
        case nil: break
        }
    }

    private mutating func releaseMonitors(of application: MonitorApplication) {
        for monitor in application.monitors { tell("Release", [], application.client, monitor.path) }
    }

    /// The client shows its monitors.
    mutating func monitorsShown(
        _ client: String, _ path: String, _ number: Int, _ answer: Result<[BusValue], BusError>
    ) {
        guard let place = monitors.place(client, path, number), case .success(let values) = answer else { return }
        for object in Application.objects(in: values.first) {
            if let properties = object.interfaces[InterfaceName.monitor] { add(object.path, properties, place) }
        }
        monitors[place].isActive = true
        updateScan(at: number)
    }

    /// A client has added a monitor, or taken one away.
    mutating func monitorAdded(_ client: String, _ path: String, _ properties: [String: BusValue]) {
        for place in monitors.indices where monitors[place].client == client {
            guard path.hasPrefix(monitors[place].path) else { continue }
            // It may come before the answer that shows those from before, and need not be in it.
            monitors[place].isActive = true
            add(path, properties, place)
            return updateScan(at: monitors[place].number)
        }
    }

    mutating func monitorRemoved(_ client: String, _ path: String) {
        for place in monitors.indices where monitors[place].client == client {
            monitors[place].monitors.removeAll { $0.path == path }
            updateScan(at: monitors[place].number)
        }
    }

    private mutating func add(_ path: String, _ properties: [String: BusValue], _ place: Int) {
        let client = monitors[place].client
        guard !monitors[place].monitors.contains(where: { $0.path == path }),
            monitors[place].monitors.count < Self.monitorLimit
        else { return }
        guard let monitor = AdvertisementMonitor(path: path, properties) else {
            return tell("Release", [], client, path)
        }
        monitors[place].monitors.append(monitor)
        tell("Activate", [], client, path)
    }

    private mutating func tell(_ member: String, _ arguments: [BusValue], _ client: String, _ path: String) {
        tell(member, arguments, client, path, InterfaceName.monitor)
    }

    func wantsPassiveScan(at number: Int) -> Bool {
        monitors.contains { $0.number == number && $0.isActive && !$0.monitors.isEmpty }
    }

    // MARK: Devices

    /// Whether a monitor wants to know of a device that was received.
    func monitorsWant(_ discovery: Discovery, at number: Int) -> Bool {
        monitors.contains { application in
            application.number == number
                && application.monitors.contains { monitor in
                    if let high = monitor.highThreshold, Int16(discovery.rssi) < high,
                        discovery.address.flatMap({ device(at: $0, number) }).map({ monitor.found[$0] == nil }) ?? true
                    {
                        return false
                    }
                    return monitor.matches(discovery.advertisement, discovery.scanResponse)
                }
        }
    }

    /// A device was received, and its object is there.
    mutating func monitorsHeard(_ discovery: Discovery, _ path: String, at number: Int) {
        for place in monitors.indices where monitors[place].number == number {
            for index in monitors[place].monitors.indices { heard(discovery, path, place, index) }
        }
    }

    private mutating func heard(_ discovery: Discovery, _ path: String, _ place: Int, _ index: Int) {
        let monitor = monitors[place].monitors[index]
        guard monitor.matches(discovery.advertisement, discovery.scanResponse) else { return }
        if let low = monitor.lowThreshold, Int16(discovery.rssi) < low { return }
        guard monitor.found[path] == nil else {
            monitors[place].monitors[index].found[path] = now
            return
        }
        if let high = monitor.highThreshold {
            guard Int16(discovery.rssi) >= high else { return }
            let since = monitor.candidates[path] ?? now
            monitors[place].monitors[index].candidates[path] = since
            // With a threshold, a device must be near for a while.
            guard since.advanced(by: monitor.highTimeout) <= now else { return }
        }
        monitors[place].monitors[index].candidates[path] = nil
        monitors[place].monitors[index].found[path] = now
        tell("DeviceFound", [.path(path)], monitors[place].client, monitor.path)
    }

    /// When the first device of a monitor with a threshold is lost unless it is received again.
    var monitorDeadline: Instant? {
        var next: Instant?
        for monitor in monitors.lazy.flatMap(\.monitors) where monitor.lowThreshold != nil {
            for seen in monitor.found.values { next = earliest(next, seen.advanced(by: monitor.lowTimeout)) }
        }
        return next
    }

    mutating func loseMonitoredDevices() {
        for place in monitors.indices {
            for index in monitors[place].monitors.indices {
                let monitor = monitors[place].monitors[index]
                guard monitor.lowThreshold != nil else { continue }
                let lost = monitor.found.filter { $0.value.advanced(by: monitor.lowTimeout) <= now }.keys.sorted()
                for path in lost { lose(path, place, index) }
            }
        }
    }

    /// The object of a device goes.
    mutating func monitorsLose(_ path: String) {
        for place in monitors.indices {
            for index in monitors[place].monitors.indices
            where monitors[place].monitors[index].found[path] != nil {
                lose(path, place, index)
            }
        }
    }

    private mutating func lose(_ path: String, _ place: Int, _ index: Int) {
        monitors[place].monitors[index].found[path] = nil
        monitors[place].monitors[index].candidates[path] = nil
        tell("DeviceLost", [.path(path)], monitors[place].client, monitors[place].monitors[index].path)
    }

    // MARK: The end

    /// A client has left the bus.
    mutating func endMonitors(of client: String) {
        guard monitors.contains(where: { $0.client == client }) else { return }
        let numbers = Set(monitors.filter { $0.client == client }.map(\.number))
        monitors.removeAll { $0.client == client }
        for number in numbers.sorted() { updateScan(at: number) }
    }

    /// The daemon is gone.
    mutating func endMonitors(at number: Int) {
        while let place = monitors.firstIndex(where: { $0.number == number }) {
            let application = monitors.remove(at: place)
            releaseMonitors(of: application)
            endWish(of: application.client)
        }
    }
}
