import BLEAppLifecycle
import BLEDaemon
import BLEHost
import BLEMessages
import BLEPackets

/// A daemon with four programs, driven by a list of steps: messages, octets, packets of the controller, time, programs
/// that leave, do not read and come back, and what happens to the machine.
///
/// Whatever comes: each request and each operation ends at most once, a tool only names links that were reported to it,
/// one that is no operator removes and names no bonds, every message to a program can be decoded, no limit is exceeded,
/// and the daemon asks for time only when something is due.
struct FuzzedSessions: ~Copyable {
    private static let stepLimit = 400

    private var daemon: FuzzedDaemon

    static func run(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        var run = FuzzedSessions(daemon: FuzzedDaemon(input.byte()))
        var steps = 0
        while !input.isAtEnd, run.daemon.violation == nil, steps < stepLimit {
            run.step(&input)
            run.daemon.settle()
            steps += 1
        }
        for program in run.daemon.engine.programs { run.daemon.apply(.closed(program.id)) }
        run.daemon.settle()
        return run.daemon.violation
    }

    private mutating func step(_ input: inout FuzzInput) {
        let kind = input.byte()
        // The upper half says whose it is.
        let place = Int(kind >> 4) % FuzzedDaemon.kinds.count
        switch kind & 0x0F {
        case 0: daemon.send(FrameReader.frame(message(input.counted(), from: place)), from: place)
        case 1: if let request = request(input.counted(), from: place) { daemon.send(request.framed(), from: place) }
        case 2:
            daemon.send(FrameReader.frame(message(input.read(Int(input.word() & 0x0FFF)), from: place)), from: place)
        case 3: daemon.send(FrameReader.frame(input.counted()), from: place)
        case 4: daemon.send(input.counted(), from: place)
        case 5:
            let choice = input.byte()
            daemon.engine.receive(
                FuzzedHost.connected(
                    handle: handle(choice), peer: Int(choice >> 4), role: choice & 1 == 0 ? .central : .peripheral),
                at: daemon.now)
        case 6:
            daemon.engine.receive(
                FuzzedHost.data(input.counted(), channel: UInt16(input.byte()), handle: handle(input.byte())),
                at: daemon.now)
        case 7:
            let handle = ConnectionHandle(rawValue: handle(input.byte()))
            let end = DisconnectionComplete(
                status: .success, connectionHandle: handle, reason: .remoteUserTerminatedConnection)
            daemon.engine.receive(FuzzedController.packet(end), at: daemon.now)
        case 8: daemon.advance(by: Int64(input.word()) * 1000)
        case 9: daemon.engine.controller.next = .status(input.byte())
        case 10:
            daemon.apply(.closed(daemon.engine.programs[place].id))
            daemon.connect(place)
        case 11: daemon.send(FromClient.appMove(.suspended, tasks: nil).framed(), from: 2)
        case 12: daemon.send(FromClient.appMove(.foreground, tasks: nil).framed(), from: 2)
        case 13:
            daemon.engine.programs[place].reads.toggle()
            daemon.apply(daemon.engine.programs[place].progress())
            daemon.apply(.flushed(daemon.engine.programs[place].id))
        case 14: disturb(input.byte())
        default: daemon.engine.receive(input.counted(), at: daemon.now)
        }
    }

    private func handle(_ choice: UInt8) -> UInt16 {
        choice & 1 == 0 ? FuzzedHost.centralHandle : FuzzedHost.peripheralHandle
    }

    /// What happens to the machine.
    private mutating func disturb(_ choice: UInt8) {
        switch choice % 6 {
        case 0: daemon.engine.closeTransport(at: daemon.now)
        case 1: daemon.apply(.controller(.adapterCame))
        case 2: daemon.apply(.memoryIsShort)
        case 3: daemon.apply(.packet([choice], isFromController: true, unixMicroseconds: 0))
        case 4:
            var limits = FuzzedDaemon.limits
            limits.services = Int(choice)
            daemon.apply(
                .settings(
                    DaemonChange(
                        users: choice & 8 == 0 ? [1000] : [], operatorGroup: nil, limits: limits, overflow: .on)))
        default: daemon.apply(.reload)
        }
    }

    // MARK: Messages

    /// A request that is drawn from these octets.
    private func request(_ octets: [UInt8], from place: Int) -> FromClient? {
        switch FuzzedDaemon.kinds[place].kind {
        case .app: return DrawnRequest.ofApp(octets, from: ManagerID(rawValue: UInt32(octets.count % 2 + 1)))
        case .operator: return DrawnRequest.ofOperator(octets)
        default:
            daemon.engine.programs[place].number += 1
            let program = daemon.engine.programs[place]
            return DrawnRequest.ofTool(program.number, octets, known: program.known)
        }
    }

    /// The content of a request, with what makes it one.
    private func message(_ content: [UInt8], from place: Int) -> [UInt8] {
        switch FuzzedDaemon.kinds[place].kind {
        case .app: return Self.field(3, [0x08, UInt8(content.count % 2 + 1)] + content)
        case .operator: return Self.field(8, content)
        default:
            // Each number once, or the session ends.
            daemon.engine.programs[place].number += 1
            return Self.field(2, [0x08] + Self.varint(daemon.engine.programs[place].number) + content)
        }
    }

    private static func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
        [number << 3 | 2] + varint(UInt64(content.count)) + content
    }

    private static func varint(_ value: UInt64) -> [UInt8] {
        value > 0x7F ? [UInt8(truncatingIfNeeded: value) | 0x80] + varint(value >> 7) : [UInt8(value)]
    }
}
