import ArgumentParser
import BLE
import BLEDecoder
import Glibc

struct MonitorCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Show what crosses HCI, as it happens: of bled, or of every adapter and program.",
        discussion: """
            Shows the traffic of all adapters of bled if bled runs; with -t bled:SOCKET, that of one. Keys are shown, and \
            captured with -w, as zeros. Otherwise it reads the kernel's monitor channel, as btmon does, and disturbs \
            nothing; with -t, only that adapter; there a file of -w holds every octet. Keys and passkeys are never \
            shown. Runs until ^C unless --duration is given. Requires an operator of bled (root, its user, the group of \
            bled --operators), for the kernel's channel root or CAP_NET_RAW.

              bletool monitor
              bletool -t bled -w traffic.btsnoop monitor
              bletool -t hci1 -w traffic.btsnoop monitor --kind att --duration 60
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    // The simulator's packets are in no kernel: a capture has them.
    static var trial: String { "bletool -t sim -w sim.pcapng lescan --duration 5, then bletool decode sim.pcapng" }

    @OptionGroup var selection: PacketSelection

    @Option("Stop after this many seconds.", "seconds", parsing: .unconditional) var duration: Seconds?

    func run(in session: Session) async throws {
        if session.daemonSocket != nil {
            return try await withDeadline(after: duration?.duration) { try await showDaemon(session) }
        }
        let console = session.console
        if let transport = session.transport, !transport.leadsToKernel {
            throw Failure(
                "\(transport) is not one of the kernel's adapters; -w captures what crosses it", status: .usage)
        }
        console.adapter = session.transport?.adapterName
        let tap = try session.capturePath.map { try CaptureTap(path: $0) }
        var decoder = CaptureDecoder(
            style: console.isJSON ? .json : .text(isColoured: console.showsColours), filter: selection.filter)
        // No task waits for the time: reading blocks a thread of the pool, which may be the only one.
        let end = duration.map { ContinuousClock.now + $0.duration }
        let isOver: @Sendable () -> Bool = { Task.isCancelled || end.map { ContinuousClock.now >= $0 } ?? false }
        let outcome = Result {
            try LiveTraffic.ofKernel(adapter: session.transport?.kernelIndex, until: isOver) { record in
                tap?.observe(record)
                decoder.decode(record)
                console.write(decoder.output)
                decoder.removeOutput()
                return !console.outputHasEnded
            }
        }
        try tap?.finish()
        try outcome.get()
    }

    private func showDaemon(_ session: Session) async throws {
        let console = session.console
        console.adapter = try session.chosenTransport().adapterName
        let areSeveral = try session.operatedSockets().count > 1
        let tap = try session.capturePath.map { try CaptureTap(path: $0, hasSeveralAdapters: areSeveral) }
        var decoder = CaptureDecoder(
            style: console.isJSON ? .json : .text(isColoured: console.showsColours), filter: selection.filter)
        let lost: UInt64
        do {
            lost = try await LiveTraffic.ofDaemon(session) { adapters in
                guard areSeveral else { return }
                let names = adapters.map { "\($0.number) is \($0.transport)" }
                console.note("the numbers of the adapters: \(names.joined(separator: ", "))")
            } _: { record in
                tap?.observe(record)
                decoder.decode(record)
                console.write(decoder.output)
                decoder.removeOutput()
                return !console.outputHasEnded
            }
        } catch {
            // What was captured is kept.
            try tap?.finish()
            throw error
        }
        try tap?.finish()
        if lost > 0 { console.note("\(lost) packets were dropped, because they were read too slowly") }
    }
}
