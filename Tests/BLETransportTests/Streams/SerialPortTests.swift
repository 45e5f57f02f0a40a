import Foundation
import Testing

@testable import BLETransport

@Suite("Serial port", .timeLimit(.minutes(10)))
struct SerialPortTests {
    private func error(opening address: TransportAddress) -> TransportError? {
        do throws(TransportError) {
            _ = try Transports.open(address)
            return nil
        } catch {
            return error
        }
    }

    @Test("packets pass in both directions unchanged, and the port is given back as it was found")
    func exchange() async throws {
        let terminal = PseudoTerminal()
        let before = terminal.settings
        try await withLoop { loop in
            let user = TransportUser(loop: loop)
            try await user.start(
                try Transports.open(.serialPort(device: terminal.device, baud: 1_000_000, hasFlowControl: true)))
            #expect(terminal.settings != before)
            // Bytes that a terminal in its usual mode would echo, translate or take as signals.
            try await user.send([Sample.reset])
            #expect(readBytes(4, from: terminal.controller) == Sample.reset)
            writeAll(Sample.commandComplete, to: terminal.controller)
            #expect(await user.nextEvents(1) == [.packet(Sample.commandComplete)])
            let event: [UInt8] = [0x04, 0xFF, 0x06, 0x03, 0x0A, 0x0D, 0x11, 0x13, 0x1A]
            writeAll(event, to: terminal.controller)
            #expect(await user.nextEvents(1) == [.packet(event)])
            let command: [UInt8] = [0x01, 0x00, 0xFC, 0x05, 0x0A, 0x0D, 0x03, 0x11, 0x7F]
            try await user.send([command])
            #expect(readBytes(command.count, from: terminal.controller) == command)
            try await user.close()
            #expect(await user.eventsUntilClosed() == [.closed(nil)])
        }
        #expect(terminal.settings == before)
    }

    @Test("a line that loses octets is in step again once the controller has answered Reset (A86)")
    func findsItsWayBack() async throws {
        let terminal = PseudoTerminal()
        try await withLoop { loop in
            let user = TransportUser(loop: loop)
            try await user.start(
                try Transports.open(.serialPort(device: terminal.device, baud: 115_200, hasFlowControl: true)))
            for _ in 0..<3 {
                try await user.send([Sample.reset])
                #expect(readBytes(4, from: terminal.controller) == Sample.reset)
                writeAll(Sample.commandComplete, to: terminal.controller)
                #expect(await user.nextEvents(1) == [.packet(Sample.commandComplete)])
                writeAll(Sample.acl, to: terminal.controller)
                #expect(await user.nextEvents(1) == [.packet(Sample.acl)])
                writeAll(Array(Sample.acl.dropFirst(2)), to: terminal.controller)
                #expect(await user.nextEvents(1) == [.lost])
                writeAll(Array("rst:0x1 (POWERON_RESET)\r\n".utf8), to: terminal.controller)
            }
            try await user.close()
            #expect(await user.eventsUntilClosed() == [.closed(nil)])
        }
    }

    @Test("a line on which nobody answers Reset ends with its reason, after 3 s (A86)")
    func nobodyAnswers() async throws {
        let terminal = PseudoTerminal()
        try await withLoop { loop in
            let user = TransportUser(loop: loop)
            try await user.start(
                try Transports.open(.serialPort(device: terminal.device, baud: 115_200, hasFlowControl: true)))
            try await user.send([Sample.reset])
            writeAll([0xE0, 0x3C, 0xF8], to: terminal.controller)
            #expect(await user.eventsUntilClosed() == [.closed(.noResetAnswer(byteCount: 3))])
        }
    }

    @Test("a non-standard speed is set exactly")
    func anySpeed() throws {
        let terminal = PseudoTerminal()
        let address = TransportAddress.serialPort(device: terminal.device, baud: 123_456, hasFlowControl: false)
        #expect(error(opening: address) == nil)
    }

    @Test("a device that is unplugged ends the transport")
    func unplugged() async throws {
        let terminal = PseudoTerminal()
        try await withLoop { loop in
            let user = TransportUser(loop: loop)
            try await user.start(
                try Transports.open(.serialPort(device: terminal.device, baud: 115_200, hasFlowControl: true)))
            terminal.hangUp()
            #expect(await user.eventsUntilClosed() == [.closed(.closedByPeer)])
        }
    }

    @Test("a port in use, one that is not a port and one that does not exist are distinguished (pain 8)")
    func errors() throws {
        let terminal = PseudoTerminal()
        let address = TransportAddress.serialPort(device: terminal.device, baud: 115_200, hasFlowControl: true)
        let first = try Transports.open(address)
        #expect(error(opening: address) == .serialPortBusy(terminal.device, holders: []))
        first.close()
        #expect(error(opening: address) == nil)
        #expect(
            error(opening: .serialPort(device: "/dev/null", baud: 9600, hasFlowControl: true))
                == .notASerialPort("/dev/null"))
        #expect(
            error(opening: .serialPort(device: "/tmp", baud: 9600, hasFlowControl: true)) == .notASerialPort("/tmp"))
        #expect(
            error(opening: .serialPort(device: "/dev/ttyNone0", baud: 9600, hasFlowControl: true))
                == .pathNotFound("/dev/ttyNone0"))
    }

    @Test("the process that holds a port is named (pain 8)")
    func holder() throws {
        let terminal = PseudoTerminal()
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_adddup2(&actions, terminal.observer, 0)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        var child: pid_t = 0
        let arguments = unsafe [strdup("sleep"), strdup("30"), nil]
        defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
        try #require(unsafe posix_spawn(&child, "/bin/sleep", &actions, nil, arguments, nil) == 0)
        defer {
            kill(child, SIGKILL)
            waitpid(child, nil, 0)
        }
        let holder = HoldingProcess(identifier: child, name: "sleep")
        // The child has its name once it has replaced itself, a moment after it was started.
        var tries = 0
        while !HoldingProcesses.withOpenFile(terminal.device).contains(holder), tries < 60_000 {
            tries += 1
            usleep(1_000)
        }
        #expect(tries < 60_000)
        let error = TransportError.serialPortBusy(terminal.device, holders: [holder])
        #expect(error.description.contains("sleep (process \(child))"))
    }
}
