import BLEChips
import BLEPackets
import Glibc
import Testing

@testable import BLETransport

/// A chip behind a pseudo-terminal, on a thread of its own. It answers a command only if it came at the speed at which
/// the chip is, as a real one would.
private final class TerminalChip: @unchecked Sendable {
    // Written by the chip's thread only, read after `join`.
    private(set) var transcript: [String] = []
    private let terminal: PseudoTerminal
    private var speed: UInt32 = 115_200
    private var thread = pthread_t()

    init(_ terminal: PseudoTerminal) { self.terminal = terminal }

    /// Plays a Broadcom chip until Reset has come `resets` times.
    func start(resets: Int) {
        let box = unsafe Unmanaged.passRetained(Work { [self] in play(resets: resets) })
        unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, unsafe box.toOpaque())
    }

    func join() { pthread_join(thread, nil) }

    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    private func play(resets: Int) {
        var remaining = resets
        while remaining > 0 {
            // A host that has given up must not keep the test; its task may wait for its turn for a minute.
            var waiting = pollfd(fd: terminal.controller, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waiting, 1, 500_000) > 0 else { return }
            let header = readBytes(4, from: terminal.controller)
            guard header.count == 4, header[0] == 1 else { return }
            let parameters = readBytes(Int(header[3]), from: terminal.controller)
            let opcode = UInt16(header[1]) | UInt16(header[2]) << 8
            let isHeard = terminal.speed == speed
            transcript.append("\(String(opcode, radix: 16)) \(isHeard ? "at" : "not at") \(speed)")
            guard isHeard else { return }
            if opcode == 0x0C03 { remaining -= 1 }
            answer(opcode, Self.answer(opcode))
            switch opcode {
            case 0xFC18: speed = parameters.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
            case 0xFC4E: speed = 115_200
            default: break
            }
        }
    }

    private func answer(_ opcode: UInt16, _ octets: [UInt8]) {
        var packet: [UInt8] = [0x04, 0x0E, UInt8(3 + octets.count), 1]
        packet += [UInt8(truncatingIfNeeded: opcode), UInt8(opcode >> 8)]
        packet += octets
        writeAll(packet, to: terminal.controller)
    }

    private static func answer(_ opcode: UInt16) -> [UInt8] {
        switch opcode {
        case 0x1001: [0, 7, 0, 0, 7, 0x0F, 0, 0x09, 0x22]
        case 0x0C14: [0] + Array("BCM43430A1".utf8) + [0]
        case 0x1009: [0, 1, 2, 3, 4, 5, 6]
        default: [0]
        }
    }
}

@Suite("Serial chips", .timeLimit(.minutes(10)))
struct ChipTransportTests {
    /// A folder of firmware that is removed at the end.
    private static func withFirmware(_ body: (String) async throws -> Void) async throws {
        let folder = "/tmp/jelling-firmware-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        unsafe mkdir(folder, 0o700)
        unsafe mkdir(folder + "/brcm", 0o700)
        let path = folder + "/brcm/BCM43430A1.hcd"
        let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT, 0o600)
        writeAll([0x4C, 0xFC, 0x05, 0, 0, 0x20, 0, 0xAA, 0x4E, 0xFC, 0x04, 0xFF, 0xFF, 0xFF, 0xFF], to: file)
        close(file)
        defer {
            unsafe unlink(path)
            unsafe rmdir(folder + "/brcm")
            unsafe rmdir(folder)
        }
        try await body(folder)
    }

    private static func open(
        _ terminal: PseudoTerminal, baud: UInt32, _ chip: SerialChip, framing: SerialFraming = .h4, _ folders: [String]
    ) throws(TransportError) -> sending any HCITransport {
        let address = TransportAddress.serialPort(device: terminal.device, baud: baud, framing: framing, chip: chip)
        return try SerialTransports.open(
            terminal.device, baud: baud, hasFlowControl: true, framing: framing, chip: chip, address: address,
            folders: folders)
    }

    @Test("a Broadcom chip gets its firmware, and each command at the speed at which the chip is then")
    func broadcom() async throws {
        let terminal = PseudoTerminal()
        let chip = TerminalChip(terminal)
        chip.start(resets: 3)
        try await Self.withFirmware { folder in
            try await withLoop { loop in
                let user = TransportUser(loop: loop)
                try await user.start(try Self.open(terminal, baud: 921_600, SerialChip(family: .broadcom), [folder]))
                #expect(await user.nextEvents(1) == [.prepared])
                // What comes now belongs to the engine.
                try await user.send([Sample.reset])
                #expect(await user.nextEvents(1) == [.packet(Sample.commandComplete)])
                try await user.close()
                #expect(await user.eventsUntilClosed() == [.closed(nil)])
            }
        }
        chip.join()
        #expect(
            chip.transcript == [
                "c03 at 115200", "1001 at 115200", "c14 at 115200", "fc18 at 115200", "fc2e at 921600",
                "fc4c at 921600", "fc4e at 921600", "c03 at 115200", "fc18 at 115200", "1009 at 921600",
                "c03 at 921600",
            ])
    }

    @Test("a chip of another maker, or none at all, ends the transport with its reason")
    func failures() async throws {
        let terminal = PseudoTerminal()
        let chip = TerminalChip(terminal)
        chip.start(resets: 1)
        try await withLoop { loop in
            let user = TransportUser(loop: loop)
            try await user.start(try Self.open(terminal, baud: 115_200, SerialChip(family: .zephyr), []))
            // It plays a Broadcom chip, which ends with the first Reset.
            let events = await user.eventsUntilClosed()
            guard case .closed(.chipFailed(let failure))? = events.last else {
                Issue.record("it ended with \(events)")
                return
            }
            #expect(failure == .unanswered(HCIOpcode(rawValue: 0x1001)))
            #expect(events.count == 1)
        }
        chip.join()
    }

    @Test("a chip that only the kernel starts is an error before the port is opened")
    func kernelOnly() {
        do throws(TransportError) {
            _ = try Transports.open(
                .serialPort(device: "/dev/nonexistent", baud: 115_200, chip: SerialChip(family: .intel)))
            Issue.record("it was opened")
        } catch {
            #expect(error == .chipFailed(.needsKernelDriver(.intel)))
            #expect(error.description.contains("btattach"))
        }
    }

    @Test("Realtek's chips are spoken to with H5")
    func realtek() async throws {
        let terminal = PseudoTerminal()
        terminal.makeRaw()
        let address = try TransportAddress("uart:\(terminal.device)@115200,chip=realtek")
        #expect(address.description == "uart:\(terminal.device)@115200,h5,chip=realtek")
        try await withLoop { loop in
            let (host, controller) = (TransportUser(loop: loop), TransportUser(loop: loop))
            let peer = ThreeWireTransport(
                descriptor: dup(terminal.controller), isSocket: false, address: .unix(path: "@chip"))
            peer.waitsForPeer = true
            try await controller.start(peer)
            // Last: it waits for its peer only for some seconds, and this task may wait for its turn for longer.
            try await host.start(try Transports.open(address))
            #expect(await controller.nextEvents(2) == [.prepared, .packet(Sample.reset)])
            try await host.close()
            try await controller.close()
        }
    }

    @Test("files of firmware are read from the first folder that has them; what is no file is none")
    func folders() async throws {
        try await Self.withFirmware { folder in
            let names = ["brcm/none.hcd", "brcm/BCM43430A1.hcd"]
            let file = FirmwareFolder.read(names, in: ["/nonexistent", folder])
            #expect(file?.name == "brcm/BCM43430A1.hcd")
            #expect(file?.octets.count == 15)
            #expect(FirmwareFolder.read(["brcm"], in: [folder]) == nil)
            #expect(FirmwareFolder.read(["zero"], in: ["/dev"]) == nil)
        }
    }
}
