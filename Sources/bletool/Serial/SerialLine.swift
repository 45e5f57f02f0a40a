import BLE
import BLEJSON

/// The local side of a serial line: what waits in both directions, bounded, whatever becomes of links.
struct SerialLine: Sendable {
    /// So much of the input is read ahead of what the device takes.
    static let inputLimit = 65536
    /// When so much waits for the local end, the other side is asked to pause; and to go on when little is left.
    static let highWater = 256 * 1024
    static let lowWater = 32 * 1024
    /// A device that cannot be asked loses what exceeds this.
    static let outputLimit = 4 << 20
    /// Confirmation is asked for after so many octets.
    static let window = 16 * 1024

    let console: Console
    let end: SerialEnd
    /// After the end of the input: how long to wait for more from the device.
    let linger: Duration
    let tally = SerialTally()
    /// What goes to the device.
    let input = OctetBuffer()
    /// What comes from it.
    let output = OctetBuffer()

    /// Carries octets while `links` makes links to use them, and tells figures at the end.
    /// - Parameters:
    ///   - ready: called when the local end can be used.
    ///   - links: takes from `input` and calls `deliver`, until the task is cancelled or the input has ended.
    func run(ready: () -> Void, _ links: @escaping @Sendable () async throws -> Void) async throws {
        defer { end.close() }
        ready()
        guard await end.begin() else { return }
        defer { tally.report(console) }
        // Whether the whole ends with the task.
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                await end.read(into: input, limit: Self.inputLimit)
                return false
            }
            group.addTask {
                // What nobody takes any more must not hold up what is still to be sent.
                var isTaken = true
                while let octets = await output.next(atMost: 65536) {
                    if isTaken { isTaken = await end.write(octets) }
                    tally.written(octets.count, isTaken: isTaken)
                }
                return false
            }
            group.addTask {
                await end.refuseOthers()
                return false
            }
            group.addTask {
                try await links()
                return true
            }
            defer { group.cancelAll() }
            while let hasEnded = try await group.next() { if hasEnded { return } }
        }
    }

    /// Waits until the program on this side has gone, and nothing of it is left to be sent. Standard input says nothing of
    /// the kind: its end is no hang-up.
    func hangUp() async {
        await input.wait { [isStandard = end.isStandard] count, isFinished in
            !isStandard && isFinished && count == 0
        }
    }

    /// Octets of the device.
    func deliver(_ octets: [UInt8]) {
        guard output.count + octets.count <= Self.outputLimit else {
            if tally.figures.dropped == 0 {
                console.note("octets of the device are lost: they are not taken as fast as it sends them")
            }
            return tally.dropped(octets.count)
        }
        tally.arrived(octets.count)
        output.append(octets)
    }

    /// After the end of the input: waits until the device has sent nothing for a while, and all has been written.
    func waitForSilence() async {
        var received = -1
        while received != tally.figures.received || tally.figures.unwritten > 0, !Task.isCancelled {
            received = tally.figures.received
            try? await Task.sleep(for: linger)
        }
    }

    func reportOpened(_ peer: DeviceAddress, chunk: Int, isConfirmed: Bool) {
        tally.linkOpened()
        console.report(
            [
                "event": "serialOpened", "peer": .string(peer.addressText), "addressType": .string(peer.kindText),
                "chunk": JSONValue(chunk), "confirmed": JSONValue(isConfirmed),
            ],
            note: "connected to \(peer): \(chunk) octets in each value"
                + (isConfirmed ? "" : "; what is sent is not confirmed"))
    }

    /// - Parameter isConfirmed: whether the other side confirms what is sent.
    func reportLost(_ reason: String, isConfirmed: Bool) {
        let waiting = tally.linkLost()
        let unconfirmed = isConfirmed ? waiting : nil
        console.report(
            [
                "event": "serialLost", "message": .string(reason),
                "unconfirmed": unconfirmed.map { JSONValue($0) } ?? .null,
                "waiting": JSONValue(input.count),
            ],
            note: reason
                + (waiting == 0
                    ? ""
                    : isConfirmed
                        ? "; \(waiting) octets that were sent are not confirmed: they may have arrived, and are not "
                            + "sent again"
                        : "; the last octets that were sent may not have arrived: nothing confirms them"))
    }
}
