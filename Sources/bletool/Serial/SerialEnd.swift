import BLE
import BLEJSON
import BLEScripts
import BLEText
import Glibc
import Synchronization

/// The end of a serial line on this machine: standard input and output, a pseudo-terminal, or a program that connected
/// by TCP.
final class SerialEnd: Sendable {
    private enum Way: Sendable {
        case standard
        case terminal(PseudoTerminal)
        case network(TCPListener)
        case unix(UnixDoor)
    }

    private let console: Console
    private let way: Way
    /// What a person or a program opens; `nil` for standard input and output.
    let name: String?
    /// The descriptor of the program that is served; negative before there is one.
    private let descriptor: Mutex<Int32>
    private let sieve = Mutex(OctetSieve())

    private init(_ way: Way, name: String?, descriptor: Int32, console: Console) {
        self.way = way
        self.name = name
        self.descriptor = Mutex(descriptor)
        self.console = console
    }

    static func standard(console: Console) -> SerialEnd {
        SerialEnd(.standard, name: nil, descriptor: 0, console: console)
    }

    /// - Throws: `Failure` if the link cannot be made.
    static func terminal(link: String, console: Console) throws -> SerialEnd {
        let terminal = try PseudoTerminal(link: link)
        return SerialEnd(.terminal(terminal), name: link, descriptor: terminal.descriptor, console: console)
    }

    /// - Throws: `Failure` if this program cannot listen there.
    static func network(_ address: ListenAddress, console: Console) throws -> SerialEnd {
        if !address.isLocal {
            console.note(
                "everybody who reaches \(address) can use the device: nothing there is encrypted, and nothing asks who "
                    + "it is")
        }
        do throws(TransportError) {
            switch address.place {
            case .network(let host, let port):
                let listener = try TCPListener(host: host, port: port)
                let actual = ListenAddress(.network(host: host, port: listener.port))
                return SerialEnd(.network(listener), name: actual.description, descriptor: -1, console: console)
            case .unix(let path):
                return SerialEnd(
                    .unix(UnixDoor(try UnixListener(path: path))), name: address.description, descriptor: -1,
                    console: console)
            }
        } catch { throw Failure.notListening(on: address, error) }
    }

    /// Whether octets of the device go to standard output.
    var isStandard: Bool { if case .standard = way { true } else { false } }

    /// Waits for the program that is served; at once where there is none to wait for.
    /// - Returns: `false` when the task is cancelled.
    func begin() async -> Bool {
        while !Task.isCancelled {
            let (listening, client): (Int32, Int32?)
            switch way {
            case .standard, .terminal: return true
            case .network(let listener): (listening, client) = (listener.descriptor, listener.accept())
            case .unix(let door): (listening, client) = (door.descriptor, door.accept())
            }
            if let client {
                descriptor.withLock { $0 = client }
                return true
            }
            guard await DescriptorWait.until(listening, POLLIN) else { return false }
        }
        return false
    }

    /// Turns others away who connect while one is served, until the task is cancelled.
    func refuseOthers() async {
        let note = RareNote(console)
        while !Task.isCancelled {
            let (listening, client): (Int32, Int32?)
            switch way {
            case .standard, .terminal: return
            case .network(let listener): (listening, client) = (listener.descriptor, listener.accept())
            case .unix(let door): (listening, client) = (door.descriptor, door.accept())
            }
            if let client {
                Glibc.close(client)
                note.print("another program connected and was turned away: one is served at a time")
            } else if await !DescriptorWait.until(listening, POLLIN) {
                return
            }
        }
    }

    /// Reads into a buffer until the end, no more than it has room for.
    func read(into buffer: OctetBuffer, limit: Int) async {
        let input = InputOctets(descriptor: descriptor.withLock { $0 })
        while let octets = await input.next() {
            buffer.append(octets)
            await buffer.wait { count, _ in count < limit }
        }
        // A cancelled read has not seen the end.
        if !Task.isCancelled { buffer.finish() }
    }

    /// Writes octets of the device.
    /// - Returns: whether somebody still takes them.
    func write(_ octets: [UInt8]) async -> Bool {
        guard !isStandard else {
            if console.isJSON {
                console.print(["event": "serialData", "value": .string(Hexadecimal.text(octets))], text: "")
            } else {
                sieve.withLock { console.writeForeign(octets, through: &$0) }
            }
            return !console.outputHasEnded
        }
        let descriptor = descriptor.withLock { $0 }
        var rest = octets[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe isSocket
                    ? Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                    : Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                if DescriptorWait.isHungUp(descriptor) { return false }
                guard await DescriptorWait.until(descriptor, POLLOUT) else { return false }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    private var isSocket: Bool {
        switch way {
        case .network, .unix: true
        case .standard, .terminal: false
        }
    }

    /// Removes what was made.
    func close() {
        if isStandard { sieve.withLock { console.endForeign(through: &$0) } }
        switch way {
        case .standard: break
        case .terminal(let terminal): terminal.close()
        case .network, .unix:
            descriptor.withLock { descriptor in
                if descriptor >= 0 { Glibc.close(descriptor) }
                descriptor = -1
            }
            if case .unix(let door) = way { door.close() }
        }
    }
}

/// A Unix socket that several tasks wait at in turn.
final class UnixDoor: Sendable {
    let descriptor: Int32
    private let listener: Mutex<UnixListener>

    init(_ listener: sending UnixListener) {
        descriptor = listener.descriptor
        self.listener = Mutex(listener)
    }

    func accept() -> Int32? { listener.withLock { try? $0.accept()?.descriptor } }
    func close() { listener.withLock { $0.close() } }
}

extension Failure {
    /// This program cannot listen there.
    static func notListening(on address: ListenAddress, _ error: TransportError) -> Failure {
        switch error {
        case .system(_, EADDRINUSE):
            Failure("\(address) is in use by another program: stop that, or name another address", status: .usage)
        case .system(_, EADDRNOTAVAIL):
            Failure("\(address) is not an address of this machine; ‘ip address’ lists those", status: .usage)
        default: Failure("cannot listen on \(address): \(error)", status: .usage)
        }
    }
}
