import ArgumentParser
import BLE
import BLEJSON
import BLEUSB

struct PowerCommand: ToolCommand {
    enum State: String, ExpressibleByArgument, CaseIterable {
        case on, off, reset
    }

    static let configuration = CommandConfiguration(
        commandName: "power",
        abstract: "Bring an adapter up or take it down, or reset its device; switch Bluetooth of bled off or on.",
        discussion: """
            user:N requires the adapter to be down, raw:N requires it to be up. Without -t, bled if it runs, else the \
            first adapter. Requires root or CAP_NET_ADMIN; with bled, its operators may do it: all links end, and \
            the controller is released until bled is told “on” or starts again. “reset” does what unplugging and \
            plugging in does, for a controller that hangs: a USB reset (also with -t usb), else a turn of its rfkill \
            switch; bled then goes on with what its programs want. The adapter may have another number afterwards.

              bletool -t hci0 power off
              bletool -t bled power off
              bletool -t bled power reset
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument(help: "on, off or reset.") var state: State

    func run(in session: Session) async throws {
        let transport = try session.chosenTransport()
        if case .daemon = transport, state == .reset {
            return try await session.operateAll(.resetDevice) { _, suffix in
                session.console.print(["event": "reset", "index": .null], text: "the device was reset\(suffix)")
            }
        }
        if case .daemon = transport {
            return try await session.operateAll(.power(state == .on)) { _, suffix in
                session.console.print(
                    ["event": "power", "index": .null, "up": .boolean(state == .on)],
                    text: "Bluetooth  \(state.rawValue)\(suffix)")
            }
        }
        if case .usb = transport, state == .reset {
            do throws(TransportError) { try USBTransport.reset(transport) } catch { throw Failure.notOpened(error) }
            return session.console.print(
                ["event": "reset", "index": .null], text: "the device of \(transport) was reset")
        }
        guard let index = transport.kernelIndex else {
            let what = state == .reset ? "no device that can be reset" : "no power switch"
            throw Failure(
                "\(transport) is not one of the kernel's adapters and has \(what): \(transport.cureOfHang)",
                status: .usage)
        }
        session.console.adapter = transport.adapterName
        if state == .reset { return try reset(index, in: session) }
        let adapter: KernelAdapter
        do throws(TransportError) {
            try AdapterPower.set(state == .on, adapter: index)
            adapter = try AdapterList.adapter(index)
        } catch {
            // Here a missing right is no matter of a channel.
            throw Failure.notOpened(error)
        }
        session.console.print(
            ["event": "power", "index": JSONValue(index), "up": .boolean(adapter.isUp)],
            text: "\(adapter.name)  \(adapter.isUp ? "up" : "down")")
    }

    private func reset(_ index: UInt16, in session: Session) throws {
        do throws(TransportError) { _ = try AdapterList.adapter(index) } catch { throw Failure.notOpened(error) }
        do throws(AdapterResetError) {
            if let device = AdapterHardware.read(index).usb {
                try AdapterReset.resetUSB(device)
            } else {
                try AdapterReset.cycleSwitch(ofAdapter: index)
            }
        } catch {
            throw Failure("hci\(index) could not be reset: \(error)")
        }
        session.console.print(
            ["event": "reset", "index": JSONValue(index)], text: "the device of hci\(index) was reset")
    }
}
