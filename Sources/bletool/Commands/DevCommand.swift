import ArgumentParser
import BLE
import BLEJSON
import BLEText
import BLEUSB

struct DevCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "List the adapters.",
        discussion: """
            Requires no permission. ‘up’ means that the kernel's own stack uses the adapter: raw:N shares it, user:N \
            requires it to be down. For USB adapters it says which chip the identifiers belong to, the port (bled \
            --adapter port:1-2.3 names it), and whether the kernel may suspend the device while it seems idle \
            (autosuspend), which loses packets. Bluetooth controllers at USB follow, with what opens them without the \
            kernel's stack and who has them now. With a transport that does not lead to the kernel (-t sim, tcp:…), the controller \
            behind it is the only one.

              bletool dev
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    static var trial: String { "bletool -t sim dev" }

    func run(in session: Session) async throws {
        if let transport = session.transport, !transport.leadsToKernel {
            return try await printController(behind: transport, in: session)
        }
        let devices = USBDeviceList().bluetoothDevices()
        var adapters: [KernelAdapter] = []
        do throws(TransportError) { adapters = try AdapterList.adapters() } catch {
            guard !devices.isEmpty else { throw Failure.notOpened(error) }
            session.console.note("\(error)")
        }
        for adapter in adapters {
            let device = DeviceOutput(AdapterHardware.read(adapter.index), adapter)
            var object: JSONValue = [
                "event": "adapter", "index": JSONValue(adapter.index), "name": .string(adapter.name),
                "address": .string(adapter.address.addressText), "up": .boolean(adapter.isUp),
                "bus": .string(adapter.bus.description),
            ]
            for (key, value) in device.members { object = object.adding(key, value) }
            let parts = [
                adapter.name, adapter.address.addressText, adapter.isUp ? "up" : "down", adapter.bus.description,
            ]
            session.console.print(object, text: (parts + device.texts).joined(separator: "  "))
        }
        if adapters.isEmpty, devices.isEmpty {
            session.console.note("no adapter found; plug one in, or try it without: \(Self.trial)")
        }
        for device in devices { print(device, in: session) }
    }

    private func print(_ device: USBBluetoothDevice, in session: Session) {
        let holder =
            switch device.driver {
            case "usbfs"?: "used by a program"
            case let driver?: "the kernel's (\(driver)" + (device.adapter.map { ", \($0))" } ?? ")")
            case nil: "free"
            }
        let name = device.name.map { "  \($0.quoted())" } ?? ""
        session.console.print(
            [
                "event": "usb", "transport": .string("\(device.address)"), "port": .string(device.port),
                "id": .string(device.identifiers), "release": JSONValue(device.release),
                "name": JSONValue(device.name), "driver": JSONValue(device.driver),
                "kernelAdapter": JSONValue(device.adapter),
            ], text: "\(device.address)  \(device.identifiers)  \(holder)\(name)")
    }

    private func printController(behind transport: TransportAddress, in session: Session) async throws {
        let information = try await session.withAdapter { adapter in await adapter.information }
        let address = information.publicAddress ?? information.ownAddress
        session.console.print(
            [
                "event": "adapter", "index": .null, "name": .string(transport.description),
                "address": JSONValue(address?.addressText), "up": .boolean(true), "bus": .string(transport.scheme),
            ], text: "\(transport)  \(address?.addressText ?? "no address")  up  \(transport.scheme)")
    }
}
