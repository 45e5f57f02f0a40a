import BLEPackets
import Testing

@testable import BLEHost

/// One user's client asks for connections to absent devices and cancels them all the time, while another user connects
/// to devices that are there.
@Suite("Connections beside one who asks and cancels")
struct ToggledConnectionTests {
    private static let toggling = ClientID(rawValue: 1)
    private static let honest = ClientID(rawValue: 2)

    /// A controller in whose range some devices advertise every 100 ms. Each of its steps is a millisecond.
    private final class Range {
        let rig = HostRig()
        /// The devices that are there.
        var present: Set<DeviceAddress> = []
        /// Milliseconds since the start, and those in which the controller was trying to connect to `watched`.
        private(set) var time = 0
        private(set) var triedTime = 0
        var watched: DeviceAddress?
        /// Commands for the attempts.
        private(set) var commands = 0
        private var list: [DeviceAddress] = []
        private var attempt: [DeviceAddress] = []
        private var isScanning = false
        private var isEnding = false
        /// How many of the rig's commands were followed.
        private var read = 0
        /// The operations that have ended with a link.
        private var connected: Set<OperationID> = []
        private var handle: UInt16 = 0x40

        init(change: (HostRig) -> Void = { _ in }) {
            change(rig)
            rig.start()
            rig.forget()
            for (client, number) in [(toggling, 1000), (honest, 1001)] as [(ClientID, UInt32)] {
                rig.apply(.user(ClientUser(number), client))
            }
        }

        func step() {
            rig.advance(by: .milliseconds(1))
            time += 1
            if isEnding {
                isEnding = false
                rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
            }
            follow()
            if time % 100 == 0 {
                advertise()
                follow()
            }
            if let watched, attempt.contains(watched) { triedTime += 1 }
            for case .completed(let operation, .success(.connected)) in rig.events { connected.insert(operation) }
            rig.forget()
            read = 0
        }

        func isConnected(_ operation: OperationID) -> Bool { connected.contains(operation) }

        /// Does what the commands that have come say.
        private func follow() {
            for command in rig.commands.dropFirst(read) {
                switch command.opcode {
                case LEClearFilterAcceptList.opcode: list = []
                case LEAddDeviceToFilterAcceptList.opcode: list.append(Self.address(command.parameters))
                case LECreateConnection.opcode:
                    let usesList = command.parameters[4] == InitiatorFilterPolicy.acceptList.rawValue
                    attempt = usesList ? list : [Self.address(Array(command.parameters[5...]))]
                case LECreateConnectionCancel.opcode:
                    isEnding = !attempt.isEmpty
                    attempt = []
                case LESetScanEnable.opcode:
                    isScanning = command.parameters.first == 1
                    continue
                default: continue
                }
                commands += 1
            }
            read = rig.commands.count
        }

        private func advertise() {
            for device in present.sorted(by: { $0.value < $1.value }) {
                if isScanning { rig.receive(HostRig.report(device, type: .connectableUndirected)) }
                guard attempt.contains(device) else { continue }
                attempt = []
                handle += 1
                rig.receive(rig.connectionComplete(device, handle: handle))
                rig.receive(frame: [0x03, 0x17, 0x00], handle: handle)
            }
        }

        private static func address(_ octets: [UInt8]) -> DeviceAddress {
            let value = octets[1..<7].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return DeviceAddress(value: value, kind: octets[0] == 0 ? .public : .random)
        }
    }

    /// How somebody toggles.
    struct Toggle: CustomTestStringConvertible {
        /// Milliseconds between two changes.
        var period: Int
        /// How many devices it asks for in turn.
        var devices = 8
        /// Whether each request is cancelled at once, not by the next change.
        var isShort = true
        /// How many times it does so without a pause.
        var batch = 1
        /// Whether the devices are looked for on different PHYs.
        var phys: [PHYSet] = [.le1M]

        var testDescription: String { "\(period) ms, \(devices) devices, short: \(isShort), \(batch) at once" }

        func act(_ count: Int, _ open: inout OperationID?, on rig: HostRig) {
            for number in count * batch..<(count + 1) * batch {
                if let asked = open.take() {
                    rig.submit(.cancel(asked), from: toggling)
                    if !isShort { continue }
                }
                var request = ConnectRequest(peer: HostRig.peer(1000 + number % devices))
                request.phys = phys[number % phys.count]
                open = rig.submit(.radio(.connect(request)), from: toggling)
                if isShort, let asked = open.take() { rig.submit(.cancel(asked), from: toggling) }
            }
        }
    }

    static let toggles = [
        Toggle(period: 50), Toggle(period: 50, isShort: false), Toggle(period: 50, devices: 1),
        Toggle(period: 250, phys: [.le1M, .leCoded]), Toggle(period: 250, isShort: false),
        Toggle(period: 1, batch: 3), Toggle(period: 1, devices: 1, batch: 3),
        Toggle(period: 1, isShort: false, phys: [.le1M, .leCoded]), Toggle(period: 503), Toggle(period: 499),
        Toggle(period: 500, isShort: false),
    ]

    /// Connects to one device after the other.
    /// - Returns: the milliseconds until each link; as many as the limit for one that was not made.
    private func delays(_ range: Range, limit: Int = 5000, _ act: (Int) -> Void) -> [Int] {
        range.present = Set((1...4).map { HostRig.peer($0) })
        for _ in 0..<1000 {
            act(range.time)
            range.step()
        }
        return (1...4).map { number in
            // Not always at the same distance from a change.
            for _ in 0..<137 {
                act(range.time)
                range.step()
            }
            let start = range.time
            let connect = range.rig.submit(
                .radio(.connect(ConnectRequest(peer: HostRig.peer(number)))), from: Self.honest)
            while !range.isConnected(connect), range.time < start + limit {
                act(range.time)
                range.step()
            }
            return range.time - start
        }
    }

    @Test("a device that is there is connected within a good half second, at any rate of changes", arguments: toggles)
    func present(toggle: Toggle) {
        let range = Range()
        var open: OperationID?
        let delays = delays(range) { time in
            if time % toggle.period == 0 { toggle.act(time / toggle.period, &open, on: range.rig) }
        }
        #expect(delays.allSatisfy { $0 <= 650 }, "\(delays)")
        // The first sixteen changes, two in each second afterwards, and the four links.
        let changes = 16 + 2 * range.time / 1000 + 4
        #expect(range.commands <= changes * 5, "\(range.commands) in \(range.time) ms")
    }

    @Test("what others wait for is on the air nearly all the time", arguments: toggles)
    func onAir(toggle: Toggle) {
        let range = Range()
        var open: OperationID?
        for client in [Self.honest, ClientID(rawValue: 3)] {
            let number = Int(client.rawValue)
            range.rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(number)))), from: client)
        }
        range.watched = HostRig.peer(2)
        for _ in 0..<5000 {
            if range.time % toggle.period == 0 { toggle.act(range.time / toggle.period, &open, on: range.rig) }
            range.step()
        }
        #expect(range.triedTime > 4900, "\(range.triedTime)")
        #expect(range.commands <= (16 + 2 * 5) * 6, "\(range.commands)")
    }

    @Test(
        "a scan that begins and ends all the time keeps nobody from connecting where the controller can do only one",
        arguments: [1, 20, 50, 250, 499, 500, 503, 1000])
    func scans(period: Int) {
        let range = Range { $0.supportedStates = 1 << 4 | 1 << 5 }
        var scan: OperationID?
        let delays = delays(range) { time in
            guard time % period == 0 else { return }
            if let asked = scan.take() {
                range.rig.submit(.cancel(asked), from: Self.toggling)
            } else {
                scan = range.rig.submit(.radio(.scan(ScanRequest(isActive: true))), from: Self.toggling)
            }
        }
        #expect(delays.allSatisfy { $0 <= 1200 }, "\(delays)")
        #expect(range.commands <= (16 + 2 * range.time / 1000 + 4) * 5, "\(range.commands) in \(range.time) ms")
    }

    @Test("a link is followed by the next attempt at once, however many changes there were")
    func afterLinks() {
        let range = Range()
        for number in 100..<140 {
            let request = ConnectRequest(peer: HostRig.peer(number))
            let asked = range.rig.submit(.radio(.connect(request)), from: Self.toggling)
            range.step()
            range.rig.submit(.cancel(asked), from: Self.toggling)
            range.step()
        }
        range.present = Set((1...4).map { HostRig.peer($0) })
        let asked = (1...4).map {
            range.rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer($0)))), from: Self.honest)
        }
        let start = range.time
        while !asked.allSatisfy({ range.isConnected($0) }), range.time < start + 12_000 { range.step() }
        #expect(range.time - start <= 500 + 5 * 100, "\(range.time - start)")
    }
}
