import BLEBlueZ
import BLETransport
import CSystemd
import Glibc

/// The connection to the bus, with the name `org.bluez`. After `start` it belongs to the loop's thread.
@safe final class BusConnection {
    static let name = "org.bluez"
    private static let busName = "org.freedesktop.DBus"

    private let bus: OpaquePointer
    private let address: String
    private var registration: EventLoop.Registration?
    /// Calls of clients that wait for a reply, by the number that the service knows them by. Only for lookup.
    private var calls: [CallID: OpaquePointer] = unsafe [:]
    private var lastCall: UInt64 = 0
    /// Calls of clients' methods, by their serial number on the bus. Only for lookup.
    private var questions: [UInt64: (id: QuestionID, client: String)] = [:]
    private var serials: [QuestionID: UInt64] = [:]
    /// The users of clients, by unique name: no name is used twice. Only for lookup.
    private var users: [String: UInt32] = [:]
    /// Calls of clients whose users are asked for, and these questions by their serial numbers. Only for lookup.
    private var parked: [String: [OpaquePointer]] = unsafe [:]
    private var userQuestions: [UInt64: String] = [:]
    /// Clients whose end is reported.
    private var watched: Set<String> = []
    /// Questions to the bus whether a client is still there, by their serial numbers.
    private var presences: [UInt64: String] = [:]
    private var receive: ((BlueZInput) -> Void)?
    private var ended: ((String) -> Void)?
    /// Makes the client's end of a socket when a reply has one.
    var makeSocket: ((SocketID) -> Int32?)?

    private init(_ bus: OpaquePointer, _ address: String) {
        unsafe self.bus = bus
        self.address = address
    }

    // MARK: Opening

    /// Connects to a bus and takes the name there.
    /// - Parameter address: `nil`: the system bus.
    static func open(_ address: String?) throws -> BusConnection {
        var bus: OpaquePointer?
        let place = address ?? "the system bus"
        func check(_ result: Int32, _ what: String) throws {
            guard result < 0 else { return }
            throw Failure(
                status: .noBus,
                message: "the bus cannot be used (\(place)): \(what): \(reason(-result)); start dbus-daemon, or name "
                    + "another bus (--bus)")
        }
        if let address {
            // libsystemd passes over what it does not know, and says that it was refused.
            guard address.split(separator: ";").contains(where: isKnown) else {
                throw Failure(
                    status: .noBus,
                    message: "‘\(address)’ is not the address of a bus: name one such as "
                        + "unix:path=/run/dbus/system_bus_socket (--bus)")
            }
            try check(unsafe sd_bus_new(&bus), "connect")
            try check(unsafe sd_bus_set_address(bus, address), "address")
            try check(unsafe sd_bus_set_bus_client(bus, 1), "connect")
            // Replies have the ends of sockets.
            try check(unsafe sd_bus_negotiate_fds(bus, 1), "connect")
            try check(unsafe sd_bus_start(bus), "connect")
        } else {
            try check(unsafe sd_bus_open_system(&bus), "connect")
        }
        guard let bus = unsafe bus else { throw Failure(status: .noBus, message: "the bus cannot be used (\(place))") }
        var unique: UnsafePointer<CChar>?
        try check(unsafe sd_bus_get_unique_name(bus, &unique), "connect")
        let connection = unsafe BusConnection(bus, place)
        try connection.takeName()
        return connection
    }

    private static func isKnown(_ address: Substring) -> Bool {
        ["unix:", "tcp:", "unixexec:", "x-machine-unix:"].contains { address.hasPrefix($0) }
    }

    private func takeName() throws {
        let result = unsafe sd_bus_request_name(bus, Self.name, 0)
        guard result < 0 else { return }
        guard result == -EEXIST || result == -EALREADY else {
            throw Failure(
                status: .noBus,
                message: "the bus (\(address)) does not give the name \(Self.name): \(Self.reason(-result)); install "
                    + "Tools/dbus/org.bluez.conf, and run as the user that it names")
        }
        let process = ownerOfName
        let program = process.flatMap { Self.program(of: $0) }
        let owner = process.map { "process \($0)" + (program.map { " (\($0))" } ?? "") } ?? "another process"
        let remedy = program == "bluetoothd" ? " (systemctl stop bluetooth)" : ""
        throw Failure(
            status: .nameTaken,
            message: "\(owner) owns \(Self.name) on the bus (\(address)): stop it first\(remedy)")
    }

    /// The process that owns the name.
    private var ownerOfName: pid_t? {
        var credentials: OpaquePointer?
        let mask = UInt64(SD_BUS_CREDS_PID)
        guard unsafe sd_bus_get_name_creds(bus, Self.name, mask, &credentials) >= 0 else { return nil }
        defer { unsafe sd_bus_creds_unref(credentials) }
        var process: pid_t = 0
        return unsafe sd_bus_creds_get_pid(credentials, &process) >= 0 ? process : nil
    }

    /// The name of a process's program; `nil`: it cannot be read, or is no name.
    private static func program(of process: pid_t) -> String? {
        let file = unsafe Glibc.open("/proc/\(process)/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { Glibc.close(file) }
        var octets = [UInt8](repeating: 0, count: 64)
        let count = unsafe Glibc.read(file, &octets, octets.count)
        guard count > 1 else { return nil }
        let name = octets.prefix(count - 1)
        // A process chooses its name: nothing that moves a terminal's cursor.
        return name.allSatisfy { 0x20..<0x7F ~= $0 } ? String(decoding: name, as: UTF8.self) : nil
    }

    private static func reason(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

    // MARK: Life

    /// - Parameters:
    ///   - receive: gets what happens on the bus.
    ///   - ended: the bus is gone; gets the reason.
    func start(
        on loop: EventLoop, receive: @escaping (BlueZInput) -> Void, ended: @escaping (String) -> Void
    ) throws(TransportError) {
        self.receive = receive
        self.ended = ended
        registration = try loop.register(unsafe sd_bus_get_fd(bus), for: .readable) { [unowned self] _ in
            process(loop)
        }
        // What came before the loop runs.
        loop.runLater { [weak self] in self?.process(loop) }
    }

    /// What is handled before other descriptors have their turn: a client that floods delays nobody.
    private static let messagesOfTurn = 32
    private static let turnMicroseconds: UInt64 = 5_000

    private func process(_ loop: EventLoop) {
        guard registration != nil else { return }
        let end = loop.nowMicroseconds + Self.turnMicroseconds
        for _ in 0..<Self.messagesOfTurn where loop.nowMicroseconds < end {
            var message: OpaquePointer?
            let result = unsafe sd_bus_process(bus, &message)
            if result < 0 { return lost(Self.reason(-result)) }
            if let message = unsafe message {
                unsafe receive(message)
                unsafe sd_bus_message_unref(message)
            } else if result == 0 {
                return settle()
            }
        }
        settle()
        loop.runAfterReady { [weak self] in self?.process(loop) }
    }

    /// Waits for room as long as something is to be written.
    func settle() {
        let events = unsafe sd_bus_get_events(bus)
        if events < 0 { return lost(Self.reason(-events)) }
        registration?.setInterest(events & POLLOUT != 0 ? [.readable, .writable] : .readable)
    }

    private func lost(_ reason: String) {
        registration?.cancel()
        registration = nil
        ended?("the connection to the bus (\(address)) has ended: \(reason)")
        ended = nil
    }

    /// Gives the name back, and writes what waits.
    func close() {
        registration?.cancel()
        registration = nil
        unsafe sd_bus_release_name(bus, Self.name)
        unsafe sd_bus_flush(bus)
        unsafe sd_bus_close(bus)
    }

    // MARK: Receiving

    private func receive(_ message: OpaquePointer) {
        var type: UInt8 = 0
        guard unsafe sd_bus_message_get_type(message, &type) >= 0 else { return }
        switch Int(type) {
        case Int(SD_BUS_MESSAGE_METHOD_CALL): unsafe receiveCall(message)
        case Int(SD_BUS_MESSAGE_METHOD_RETURN), Int(SD_BUS_MESSAGE_METHOD_ERROR):
            unsafe receiveAnswer(message, isError: Int(type) == Int(SD_BUS_MESSAGE_METHOD_ERROR))
        case Int(SD_BUS_MESSAGE_SIGNAL): unsafe receiveSignal(message)
        default: break
        }
    }

    private func receiveCall(_ message: OpaquePointer) {
        guard let sender = unsafe Self.text(sd_bus_message_get_sender(message)),
            let path = unsafe Self.text(sd_bus_message_get_path(message)),
            let member = unsafe Self.text(sd_bus_message_get_member(message))
        else { return }
        guard let user = users[sender] else { return unsafe park(message, of: sender) }
        lastCall += 1
        let id = CallID(rawValue: lastCall)
        let arguments: [BusValue]
        do throws(BusReadingError) { arguments = try unsafe BusReader.arguments(of: message) } catch {
            unsafe refuse(message, error.busError)
            return
        }
        if unsafe sd_bus_message_get_expect_reply(message) > 0 { unsafe calls[id] = sd_bus_message_ref(message) }
        receive?(
            .called(
                BusCall(
                    id: id, sender: sender, user: user, path: path,
                    interface: unsafe Self.text(sd_bus_message_get_interface(message)), member: member,
                    arguments: arguments)))
    }

    /// Calls of a client wait until the bus has said whose it is. Nothing else waits for that.
    private func park(_ message: OpaquePointer, of client: String) {
        if unsafe parked[client] == nil { askForUser(of: client) }
        guard unsafe parked[client, default: []].count < Self.parkedLimit else {
            return unsafe refuse(message, .limitsExceeded)
        }
        unsafe parked[client, default: []].append(sd_bus_message_ref(message))
    }

    private static let parkedLimit = 256
    private static let usersLimit = 1024

    private func askForUser(of client: String) {
        let question = BusRequest(
            destination: Self.busName, path: "/org/freedesktop/DBus", interface: Self.busName,
            member: "GetConnectionUnixUser", arguments: [.string(client)])
        if let serial = send(question, wantsAnswer: true) { userQuestions[serial] = client }
    }

    /// - Parameter user: `nil`: the client has left, and is nobody.
    private func learned(_ user: UInt32?, of client: String) {
        if users.count >= Self.usersLimit { users.removeAll() }
        users[client] = user ?? .max
        let waiting = unsafe parked.removeValue(forKey: client) ?? []
        for place in unsafe waiting.indices {
            unsafe receiveCall(waiting[place])
            unsafe sd_bus_message_unref(waiting[place])
        }
    }

    private func receiveAnswer(_ message: OpaquePointer, isError: Bool) {
        var serial: UInt64 = 0
        guard unsafe sd_bus_message_get_reply_cookie(message, &serial) >= 0,
            let sender = unsafe Self.text(sd_bus_message_get_sender(message))
        else { return }
        if sender == Self.busName, let client = presences.removeValue(forKey: serial) {
            if let answer = try? unsafe BusReader.arguments(of: message), answer == [.boolean(false)] { left(client) }
            return
        }
        if sender == Self.busName, let client = userQuestions.removeValue(forKey: serial) {
            let answer = isError ? nil : try? unsafe BusReader.arguments(of: message)
            if case .uint32(let user)? = answer?.first { learned(user, of: client) } else { learned(nil, of: client) }
            return
        }
        // Others may guess the number.
        guard let question = questions[serial]?.id, questions[serial]?.client == sender else { return }
        questions[serial] = nil
        serials[question] = nil
        guard isError else {
            let arguments: Result<[BusValue], BusError>
            do throws(BusReadingError) { arguments = .success(try unsafe BusReader.arguments(of: message)) } catch {
                arguments = .failure(error.busError)
            }
            receive?(.answered(question, arguments))
            return
        }
        let error = unsafe sd_bus_message_get_error(message)
        let name = unsafe error.flatMap { unsafe Self.text($0.pointee.name) } ?? "org.freedesktop.DBus.Error.Failed"
        let text = unsafe error.flatMap { unsafe Self.text($0.pointee.message) } ?? ""
        receive?(.answered(question, .failure(BusError(name: name, text: text))))
    }

    private func receiveSignal(_ message: OpaquePointer) {
        guard let sender = unsafe Self.text(sd_bus_message_get_sender(message)),
            let member = unsafe Self.text(sd_bus_message_get_member(message)),
            let arguments = try? unsafe BusReader.arguments(of: message)
        else { return }
        guard sender == Self.busName else {
            guard watched.contains(sender), let path = unsafe Self.text(sd_bus_message_get_path(message)),
                let interface = unsafe Self.text(sd_bus_message_get_interface(message))
            else { return }
            let signal = BusSignal(path: path, interface: interface, member: member, arguments: arguments)
            receive?(.signalled(sender, signal))
            return
        }
        guard member == "NameOwnerChanged", arguments.count == 3, case .string(let name) = arguments[0],
            case .string("") = arguments[2]
        else { return }
        left(name)
    }

    private static func text(_ text: UnsafePointer<CChar>?) -> String? {
        unsafe text.map { unsafe String(cString: $0) }
    }

    // MARK: Sending

    /// Carries out what the service wants done on the bus.
    func perform(_ effect: BlueZEffect) {
        switch effect {
        case .reply(let call, let values): reply(call, values)
        case .refuse(let call, let error):
            guard let message = unsafe calls.removeValue(forKey: call) else { break }
            unsafe refuse(message, error)
            unsafe sd_bus_message_unref(message)
        case .signal(let signal): send(signal)
        case .ask(let question, let request):
            guard let serial = send(request, wantsAnswer: true) else {
                let error = BusError(name: "org.freedesktop.DBus.Error.Failed", text: "the call cannot be sent")
                receive?(.answered(question, .failure(error)))
                break
            }
            questions[serial] = (question, request.destination)
            serials[question] = serial
        case .dropQuestion(let question):
            if let serial = serials.removeValue(forKey: question) { questions[serial] = nil }
        case .tell(let request): _ = send(request, wantsAnswer: false)
        case .watch(let client): setWatch(client, true)
        case .unwatch(let client): setWatch(client, false)
        default: break
        }
    }

    private func reply(_ call: CallID, _ values: [BusValue]) {
        guard let message = unsafe calls.removeValue(forKey: call) else { return }
        defer { unsafe sd_bus_message_unref(message) }
        var answer: OpaquePointer?
        let isMade = unsafe sd_bus_message_new_method_return(message, &answer) >= 0
        defer { unsafe sd_bus_message_unref(answer) }
        if isMade, let made = unsafe answer, unsafe append(values, to: made), unsafe sd_bus_send(bus, made, nil) >= 0 {
            return
        }
        // A socket that could not be made or passed on: each call has an end, and so has what it began.
        unsafe refuse(message, BusError(name: "org.bluez.Error.Failed", text: "The reply cannot be sent"))
        for case .descriptor(let socket) in values { receive?(.socketClosed(socket)) }
    }

    private func refuse(_ message: OpaquePointer, _ error: BusError) {
        var answer: OpaquePointer?
        let result = unsafe error.name.withCString { name in
            unsafe error.text.withCString { text in
                var made = unsafe sd_bus_error(name: name, message: text, _need_free: 0)
                return unsafe sd_bus_message_new_method_error(message, &answer, &made)
            }
        }
        guard result >= 0 else { return }
        unsafe sd_bus_send(bus, answer, nil)
        unsafe sd_bus_message_unref(answer)
    }

    private func send(_ signal: BusSignal) {
        var message: OpaquePointer?
        let result = unsafe sd_bus_message_new_signal(bus, &message, signal.path, signal.interface, signal.member)
        guard result >= 0, let made = unsafe message else { return }
        if unsafe append(signal.arguments, to: made) { unsafe sd_bus_send(bus, made, nil) }
        unsafe sd_bus_message_unref(made)
    }

    /// - Returns: the serial number of the call; `nil` if it cannot be sent.
    private func send(_ request: BusRequest, wantsAnswer: Bool) -> UInt64? {
        var message: OpaquePointer?
        let result = unsafe sd_bus_message_new_method_call(
            bus, &message, request.destination, request.path, request.interface, request.member)
        guard result >= 0, let made = unsafe message else { return nil }
        defer { unsafe sd_bus_message_unref(made) }
        unsafe sd_bus_message_set_expect_reply(made, wantsAnswer ? 1 : 0)
        guard unsafe append(request.arguments, to: made) else { return nil }
        var serial: UInt64 = 0
        guard wantsAnswer else { return unsafe sd_bus_send(bus, made, nil) >= 0 ? serial : nil }
        return unsafe sd_bus_send(bus, made, &serial) >= 0 ? serial : nil
    }

    private func append(_ values: [BusValue], to message: OpaquePointer) -> Bool {
        var writer = unsafe BusWriter(message) { [makeSocket] in makeSocket?($0) }
        return writer.append(values)
    }

    /// Asks the bus to report the end of a client, or not to any more.
    private func setWatch(_ client: String, _ isWatched: Bool) {
        guard isWatched ? watched.insert(client).inserted : watched.remove(client) != nil else { return }
        let rules = [
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                + "member='NameOwnerChanged',arg0='\(client)'",
            "type='signal',sender='\(client)',interface='org.freedesktop.DBus.Properties'",
            "type='signal',sender='\(client)',interface='org.freedesktop.DBus.ObjectManager'",
        ]
        for rule in rules {
            _ = send(
                BusRequest(
                    destination: Self.busName, path: "/org/freedesktop/DBus", interface: Self.busName,
                    member: isWatched ? "AddMatch" : "RemoveMatch",
                    arguments: [.string(rule)]),
                wantsAnswer: false)
        }
        // It may have left before the bus knew the rule.
        guard isWatched else { return }
        let question = BusRequest(
            destination: Self.busName, path: "/org/freedesktop/DBus", interface: Self.busName, member: "NameHasOwner",
            arguments: [.string(client)])
        if let serial = send(question, wantsAnswer: true) { presences[serial] = client }
    }

    private func left(_ client: String) {
        guard watched.contains(client) else { return }
        setWatch(client, false)
        receive?(.clientLeft(client))
    }
}
