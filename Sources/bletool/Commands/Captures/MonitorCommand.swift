import ArgumentParser
import BLE
import BLECapture
import BLEDecoder
import BLETransport
import Glibc

struct MonitorCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Show what crosses HCI, of every adapter and program, as it happens.",
        discussion: """
            Reads the kernel's monitor channel, as btmon does, and disturbs nothing. With -t, only that adapter. Keys and \
            passkeys are never shown; a file of -w holds every octet. Runs until ^C. Requires root or CAP_NET_RAW.

              bletool monitor
              bletool -t hci1 -w traffic.btsnoop monitor --kind att
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup var selection: PacketSelection

    func run(in session: Session) async throws {
        let console = session.console
        if let transport = session.transport, !transport.leadsToKernel {
            throw Failure(
                "\(transport) is not one of the kernel's adapters; -w captures what crosses it", status: .usage)
        }
        let frames: MonitorFrames
        do throws(TransportError) {
            frames = try MonitorFrames(adapter: session.transport?.kernelIndex)
        } catch {
            throw Failure.notOpened(error)
        }
        console.adapter = session.transport?.adapterName
        let tap = try session.capturePath.map { try CaptureTap(path: $0) }
        var decoder = CaptureDecoder(
            style: console.isJSON ? .json : .text(isColoured: console.showsColours), filter: selection.filter)
        let outcome = Result {
            do throws(CaptureError) {
                var reader = try CaptureReader(fileDescriptor: frames.output, isCancelled: { Task.isCancelled })
                while let record = try reader.next() {
                    if let direction = record.direction {
                        tap?.observe(
                            record.bytes,
                            direction: direction == .hostToController ? .hostToController : .controllerToHost,
                            unixMicroseconds: UInt64(clamping: record.timestampMicroseconds))
                    }
                    decoder.decode(record)
                    console.write(decoder.output)
                    decoder.removeOutput()
                    if console.outputHasEnded { break }
                }
            } catch {
                // ^C ends the wait for the next frame.
                if !Task.isCancelled { throw Failure("the monitor channel: \(error)") }
            }
        }
        if let error = frames.end() { throw Failure.notOpened(error) }
        try tap?.finish()
        try outcome.get()
    }
}
