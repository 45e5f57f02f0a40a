import BLEAppLifecycle
import BLEPackets
import BLESecurity
import BLESimulator
import Foundation
import Testing

@testable import CoreBluetooth

/// Two apps that pair, each with somebody who is asked (SPEC 1.12).
@Suite("A person's part in pairing")
struct PairingTests {
    /// Who is asked: answers as the test says, and writes down what the questions were.
    private final class Person: CBPairingAgent {
        private let written = Locked<[String]>([])
        private let shown = Locked<UInt32?>(nil)
        private let reads: Person?
        private let answer: Bool

        /// - Parameter reads: whose screen is read where a passkey is to be typed.
        init(reads: Person? = nil, says answer: Bool = true) {
            self.reads = reads
            self.answer = answer
        }

        var lines: [String] { written.current }
        private func note(_ line: String) { written.with { $0.append(line) } }

        func display(passkey: UInt32, for peer: CBPairingPeer) async {
            note("display")
            shown.with { $0 = passkey }
        }

        func enterPasskey(for peer: CBPairingPeer) async -> UInt32? {
            note("enter \(peer)")
            guard let reads else { return answer ? 0 : nil }
            // The only other way out is the cancellation of the question.
            guard (try? await waitUntil("a passkey") { reads.shown.current != nil }) != nil,
                let passkey = reads.shown.current
            else {
                note("withdrawn")
                return nil
            }
            return answer ? passkey : (passkey + 1) % 1_000_000
        }

        func compare(_ number: UInt32, with peer: CBPairingPeer) async -> Bool {
            note("compare")
            shown.with { $0 = number }
            return answer
        }

        func consents(to peer: CBPairingPeer) async -> Bool {
            note("consent")
            return answer
        }

        func ended(_ error: (any Error)?, with peer: CBPairingPeer) async {
            note(error == nil ? "paired" : "not paired")
        }

        var number: UInt32? { shown.current }

        func wait(for line: String) async throws {
            try await waitUntil("\(line) in \(lines)") { lines.contains(line) }
        }
    }

    private let stage: Stage
    private let server: PeripheralProbe
    private let client: CentralProbe

    init() throws {
        stage = try Stage { _ in }
        server = PeripheralProbe(stage.launch("org.example.server") { $0.cryptoProvider = SwiftCryptoProvider() })
        client = CentralProbe(stage.launch("org.example.client") { $0.cryptoProvider = SwiftCryptoProvider() })
    }

    private func setAgent(
        _ agent: Person?, _ capability: CBPairingCapability, of system: LocalSystem, consent: Bool = false,
        demands: Bool = false
    ) {
        CBApplication(system: { system }).setPairingAgent(
            agent, capability: capability, asksConsent: consent, requiresAuthentication: demands)
    }

    /// The client reads a value that the server shows to paired centrals alone.
    /// - Returns: what the client's delegate is told.
    private func read() async throws -> String { try await read(client, server) }

    private func read(_ client: CentralProbe, _ server: PeripheralProbe) async throws -> String {
        server.onRead = { manager, request in
            request.value = Data([0x5E])
            manager.respond(to: request, withResult: .success)
        }
        try await server.publish("FFF0", [("FFF1", .read, .readEncryptionRequired, nil)])
        try await client.find("FFF0")
        try await client.connect(stopsScan: false)
        try await client.explore("FFF0")
        await client.run { client.peripheral.readValue(for: client.characteristic("FFF1")) }
        return try await client.wait(for: "value", seconds: 40)
    }

    @Test("both sides are asked: the central shows a code, which is typed on the peripheral (SPEC SEC-2, SEC-3, SEC-4)")
    func passkey() async throws {
        let shows = Person()
        let types = Person(reads: shows)
        setAgent(shows, .display, of: client.system, demands: true)
        setAgent(types, .keyboard, of: server.system)
        #expect(try await read() == "value FFF1 5e")
        try await shows.wait(for: "paired")
        try await types.wait(for: "paired")
        #expect(shows.lines == ["display", "paired"])
        #expect(types.lines.count == 2 && types.lines[0].hasPrefix("enter "))
    }

    @Test("an app gets error 14 for a device that has lost the keys of its bond, and nothing that this device says")
    func lostKeys() async throws {
        let stage = try Stage { _ in }
        func launch(_ name: String) -> PeripheralProbe {
            PeripheralProbe(
                stage.launch(name) {
                    $0.cryptoProvider = SwiftCryptoProvider()
                    $0.ownAddress = .random(DeviceAddress(value: 0xC0DE_0000_0098, kind: .random))
                })
        }
        let bonded = launch("org.example.bonded")
        let client = CentralProbe(stage.launch("org.example.client") { $0.cryptoProvider = SwiftCryptoProvider() })
        #expect(try await read(client, bonded) == "value FFF1 5e")
        await bonded.system.kill()
        try await client.wait(for: "disconnected")
        client.clear()
        // Another device under its address, open to everybody.
        let stranger = launch("org.example.stranger")
        try await stranger.publish("FFF0", [("FFF1", .read, .readable, Data([0xBA]))])
        await client.run { client.manager.connect(client.peripheral) }
        try await client.wait(for: "connected")
        await client.run { client.peripheral.discoverServices([CBUUID(string: "FFF0")]) }
        #expect(try await client.wait(for: "disconnected").contains("CBErrorDomain 14"))
        #expect(!stranger.lines.contains { $0.hasPrefix("read") })
    }

    @Test("an app connects again to a private device that it has paired with, by the same object (SPEC REC-3, LTA-1)")
    func privateDevice() async throws {
        let stage = try Stage { _ in }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("jelling-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = PeripheralProbe(
            stage.launch("org.example.server") {
                $0.cryptoProvider = SwiftCryptoProvider()
                $0.bondStore = FileBondStore(path: folder + "/server")
                $0.ownAddress = .resolvable(fallback: DeviceAddress(value: 0xC0DE_0000_0099, kind: .random))
            })
        let client = CentralProbe(
            stage.launch("org.example.client") {
                $0.cryptoProvider = SwiftCryptoProvider()
                $0.bondStore = FileBondStore(path: folder + "/client")
                // Two devices have two identities.
                $0.ownAddress = .random(DeviceAddress(value: 0xC0DE_0000_0098, kind: .random))
            })
        #expect(try await read(client, server) == "value FFF1 5e")
        let identifier = await client.run { client.peripheral.identifier }
        for _ in 0..<2 {
            await client.run { client.manager.cancelPeripheralConnection(client.peripheral) }
            try await client.wait(for: "disconnected")
            client.clear()
            await client.run { client.manager.connect(client.peripheral) }
            try await client.wait(for: "connected")
        }
        await client.run { client.manager.scanForPeripherals(withServices: [CBUUID(string: "FFF0")]) }
        try await client.wait(for: "discovered")
        #expect(await client.run { client.peripherals.map(\.identifier) } == [identifier])
    }

    @Test("two phones compare the same number (SPEC SEC-2, SEC-3)")
    func comparison() async throws {
        let here = Person()
        let there = Person()
        setAgent(here, .keyboardDisplay, of: client.system, demands: true)
        setAgent(there, .keyboardDisplay, of: server.system)
        #expect(try await read() == "value FFF1 5e")
        try await there.wait(for: "paired")
        #expect(here.number == there.number && here.number != nil)
    }

    @Test(
        "a code typed wrongly, and a number that is not the same, leave the value closed (SPEC SEC-1, SEC-3)",
        arguments: [CBPairingCapability.keyboard, .keyboardDisplay])
    func refused(capability: CBPairingCapability) async throws {
        let shows = Person()
        let denies = Person(reads: shows, says: false)
        setAgent(shows, .displayYesNo, of: client.system, demands: true)
        setAgent(denies, capability, of: server.system)
        #expect(try await read() == "value FFF1 CBATTErrorDomain 5")
        try await shows.wait(for: "not paired")
        try await denies.wait(for: "not paired")
    }

    @Test(
        "without anyone to ask, devices pair unless a person is required (SPEC SEC-2)",
        arguments: [false, true])
    func nobody(isDemanded: Bool) async throws {
        let person = Person()
        setAgent(person, .keyboardDisplay, of: server.system, demands: isDemanded)
        #expect(try await read() == (isDemanded ? "value FFF1 CBATTErrorDomain 5" : "value FFF1 5e"))
        try await person.wait(for: isDemanded ? "not paired" : "paired")
        #expect(person.lines.count == 1)
    }

    @Test("the user is asked before pairing, and may refuse (SPEC SEC-2)", arguments: [true, false])
    func consent(agrees: Bool) async throws {
        let person = Person(says: agrees)
        setAgent(person, .keyboardDisplay, of: server.system, consent: true)
        #expect(try await read() == (agrees ? "value FFF1 5e" : "value FFF1 CBATTErrorDomain 5"))
        try await person.wait(for: agrees ? "paired" : "not paired")
        #expect(person.lines.first == "consent")
    }

    @Test("a question is withdrawn when the other device goes (SPEC SEC-3)")
    func withdrawn() async throws {
        let blank = Person()
        let types = Person(reads: blank)
        setAgent(Person(), .display, of: client.system, demands: true)
        setAgent(types, .keyboard, of: server.system)
        let reading = Task { try await read() }
        try await waitUntil("the question") { types.lines.contains { $0.hasPrefix("enter") } }
        await client.run { client.manager.cancelPeripheralConnection(client.peripheral) }
        try await types.wait(for: "withdrawn")
        try await types.wait(for: "not paired")
        await client.system.kill()
        reading.cancel()
        _ = try? await reading.value
    }
}

@Suite("Pairing at a terminal")
struct TerminalAgentTests {
    /// What is typed, and what stands on the screen.
    private final class Desk {
        let typed = Pipe()
        let screen = Pipe()
        let agent: TerminalAgent
        let peer = CBPairingPeer(identifier: UUID(), name: "Lock")
        /// Two devices may have one name.
        var name: String { "‘Lock’ (\(peer.identifier.uuidString.prefix(8)))" }

        init() {
            agent = TerminalAgent(
                input: typed.fileHandleForReading.fileDescriptor, output: screen.fileHandleForWriting.fileDescriptor)
        }

        func type(_ text: String) { typed.fileHandleForWriting.write(Data(text.utf8)) }
        var shown: String { String(decoding: screen.fileHandleForReading.availableData, as: UTF8.self) }
    }

    @Test("a passkey is asked for until it has six digits")
    func passkey() async {
        let desk = Desk()
        desk.type("12345\n+12345\n1234567\nabcdef\n 012345 \nthe next line\n")
        #expect(await desk.agent.enterPasskey(for: desk.peer) == 12345)
        let ask = "Type the passkey that \(desk.name) shows: "
        let explain = "A passkey has six digits; an empty line cancels.\n"
        #expect(desk.shown == String(repeating: ask + explain, count: 4) + ask)
        // What the program reads itself is still there.
        #expect(String(decoding: desk.typed.fileHandleForReading.availableData, as: UTF8.self) == "the next line\n")
    }

    @Test("an empty line and the end of the input give up")
    func givesUp() async {
        let desk = Desk()
        desk.type("\n")
        #expect(await desk.agent.enterPasskey(for: desk.peer) == nil)
        try? desk.typed.fileHandleForWriting.close()
        #expect(await desk.agent.enterPasskey(for: desk.peer) == nil)
    }

    @Test(
        "numbers have six digits, and only yes is yes",
        arguments: [("y", true), ("Yes", true), ("n", false), ("", false)])
    func comparison(line: String, isYes: Bool) async {
        let desk = Desk()
        desk.type(line + "\n")
        #expect(await desk.agent.compare(42, with: desk.peer) == isYes)
        await desk.agent.display(passkey: 7, for: desk.peer)
        #expect(desk.shown == "Does \(desk.name) show 000042? [y/n] Type 000007 on \(desk.name).\n")
    }

    @Test("a question whose pairing has ended does not wait")
    func cancelled() async throws {
        let desk = Desk()
        let (agent, peer) = (desk.agent, desk.peer)
        let question = Task { await agent.enterPasskey(for: peer) }
        #expect(desk.shown == "Type the passkey that \(desk.name) shows: ")
        question.cancel()
        #expect(await question.value == nil)
    }

    @Test("a name with control characters, or one that asks something itself, is shown by its numbers")
    func hostileName() async {
        let desk = Desk()
        let peer = CBPairingPeer(identifier: UUID(), name: "x\u{1B}[2J’ be paired? [y/n]\n\u{202E}\u{200B}")
        desk.type("n\n")
        _ = await desk.agent.consents(to: peer)
        await desk.agent.ended(nil, with: peer)
        let shown = desk.shown
        #expect(shown.contains("‘x\\u{1b}[2J\\u{2019} be paired? [y/n]\\u{a}\\u{202e}\\u{200b}’ ("))
        #expect(shown.unicodeScalars.allSatisfy { $0 == "\n" || !$0.properties.isDefaultIgnorableCodePoint })
        #expect(!shown.contains("\u{1B}") && !"\(peer)".contains("\u{1B}"))
    }

    @Test("what was typed before a question, or for one that has just gone away, answers nothing")
    func typedBefore() async throws {
        var (person, device): (Int32, Int32) = (-1, -1)
        guard unsafe openpty(&person, &device, nil, nil, nil) == 0 else { return #expect(Bool(false), "no terminal") }
        defer {
            close(person)
            close(device)
        }
        _ = fcntl(person, F_SETFL, O_NONBLOCK)
        func type(_ text: String) { _ = unsafe text.withCString { unsafe write(person, $0, strlen($0)) } }
        var screen = ""
        func waitFor(_ text: String) async throws {
            try await waitUntil("“\(text)” in “\(screen)”") {
                var octets = [UInt8](repeating: 0, count: 1024)
                let count = unsafe read(person, &octets, octets.count)
                if count > 0 { screen += String(decoding: octets.prefix(count), as: UTF8.self) }
                return screen.contains(text)
            }
        }
        let agent = TerminalAgent(input: device, output: device, isForeground: { true })
        let peers = ["One", "Two"].map { CBPairingPeer(identifier: UUID(), name: $0) }
        type("y\n")
        try await waitUntil("what was typed") {
            var waiting = pollfd(fd: device, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&waiting, 1, 0) == 1
        }
        let first = Task { await agent.consents(to: peers[0]) }
        try await waitFor("Pair with ‘One’")
        let second = Task { await agent.consents(to: peers[1]) }
        // The first question has not been answered, and goes away while the person types.
        first.cancel()
        try await waitFor("The pairing has ended")
        type("y\n")
        #expect(await first.value == false)
        try await waitFor("Pair with ‘Two’")
        type("n\n")
        #expect(await second.value == false)
    }
}
