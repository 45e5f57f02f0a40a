import BLEHost
import BLEMessages
import MessageDrawing

/// Commands that are drawn from the octets of an input, by the descriptions of the messages.
extension FuzzedHost {
    /// Draws a value from the next counted octets.
    /// - Returns: `nil` where they give no values that go together.
    private mutating func draw<M: Message>(_ input: inout FuzzInput) -> M? {
        try? M.drawn(from: input.counted()[...], known: known, isRecording: true)
    }

    /// What the engine has given numbers to, by the names of their fields.
    private var known: [String: [UInt64]] {
        let octet = UInt64(cryptoProvider.octet)
        let given: [String: [UInt64]] = [
            "link": links.map(\.bits),
            "operation": operations.suffix(64).map(\.rawValue),
            "number": channels.map { UInt64($0.number) },
            "question": requests.map(\.bits) + pairingQuestions.map(\.rawValue),
            "value": (0..<4).map { Self.peer($0).value },
            "spsm": [0x27, 0x80],
            // Those of a key that the crypto provider made.
            "random_number": [0, octet &* 0x0101_0101_0101_0101],
            "encrypted_diversifier": [0, octet &* 0x0101],
        ]
        return given.merging(DrawnRequest.valid) { $1 }
    }

    mutating func submitOperation(_ input: inout FuzzInput) {
        guard let link = pick(links, input.byte()), let operation: GATTOperation = draw(&input) else { return }
        submit(.link(link, .gatt(operation)))
    }

    mutating func submitProcedure(_ input: inout FuzzInput) {
        guard let link = pick(links, input.byte()), let procedure: LinkProcedure = draw(&input) else { return }
        submit(.link(link, .procedure(procedure)))
    }

    mutating func submitRadioCommand(_ input: inout FuzzInput) {
        if let command: RadioCommand = draw(&input) { submit(.radio(command)) }
    }

    mutating func submitServerCommand(_ input: inout FuzzInput) {
        if let command: ServerCommand = draw(&input) { submit(.server(command)) }
    }

    mutating func submitChannelCommand(_ input: inout FuzzInput) {
        if let command: ChannelCommand = draw(&input) { submit(.channel(command)) }
    }

    mutating func submitSecurityCommand(_ input: inout FuzzInput) {
        if let command: SecurityCommand = draw(&input) { submit(.security(command)) }
    }

    /// Any command but the one after which the engine does nothing: a step of the transport has that.
    mutating func submitCommand(_ input: inout FuzzInput) {
        if let command: HostCommand = draw(&input), command != .stop { submit(command) }
    }
}
