/// The part of a device that is a Bluetooth controller: its interfaces and endpoints (Core 5.4, Vol 4, Part B, 2.1).
package struct BluetoothFunction: Hashable {
    /// The value of its configuration.
    let configuration: UInt8
    /// The interface of events and ACL data; commands go to endpoint 0.
    let interface: UInt8
    /// The interface of voice. It is taken too, so that no driver has half of the controller, and stays at its setting
    /// without bandwidth.
    let voiceInterface: UInt8?
    let events: USBEndpoint
    let dataIn: USBEndpoint
    let dataOut: USBEndpoint
    /// `bmRequestType` of commands.
    let commandRequestType: UInt8

    /// Below this a packet would not have the header of ACL data.
    private static let leastPacketByteCount = 4

    /// - Parameters:
    ///   - activeConfiguration: the value of the configuration that is set; 0: none is.
    ///   - isNamed: whether the user has named this very device: then an interface of the vendor's class is taken too, if
    ///     it has the endpoints of a controller.
    /// - Returns: `nil` if the device is no Bluetooth controller, or lacks an endpoint.
    package init?(_ device: USBDescriptors, activeConfiguration: UInt8, isNamed: Bool) {
        let configurations = device.configurations.filter { $0.value != 0 }
        guard
            let configuration = activeConfiguration == 0
                ? configurations.first : configurations.first(where: { $0.value == activeConfiguration })
        else { return nil }
        let isKnown =
            device.kind == .bluetooth
            || KnownUSBDevices.contains(vendor: device.vendor, product: device.product)
        let hasOwnClass = KnownUSBDevices.vendorsWithOwnClass.contains(device.vendor)
        let chosen = configuration.interfaces.lazy.filter { interface in
            guard interface.setting == 0 else { return false }
            return isKnown || interface.kind == .bluetooth || hasOwnClass && interface.kind == .vendorBluetooth
                || isNamed && interface.kind.code == USBClass.vendorCode
        }.compactMap { interface -> (USBInterface, USBEndpoint, USBEndpoint, USBEndpoint)? in
            guard let events = interface.endpoint(.interrupt, isInput: true),
                let dataIn = interface.endpoint(.bulk, isInput: true),
                let dataOut = interface.endpoint(.bulk, isInput: false)
            else { return nil }
            return (interface, events, dataIn, dataOut)
        }.first { chosen in
            [chosen.1, chosen.2, chosen.3].allSatisfy { $0.packetByteCount >= Self.leastPacketByteCount }
        }
        guard let (interface, events, dataIn, dataOut) = chosen else { return nil }
        self.configuration = configuration.value
        self.interface = interface.number
        // Other interfaces, such as those of diagnostics or of a keyboard, are left to others.
        voiceInterface =
            configuration.interfaces.first { other in
                other.number == interface.number &+ 1
                    && other.endpoints.allSatisfy { $0.kind == .isochronous }
                    && configuration.interfaces.contains { setting in
                        setting.number == other.number && !setting.endpoints.isEmpty
                    }
            }?.number
        self.events = events
        self.dataIn = dataIn
        self.dataOut = dataOut
        commandRequestType = KnownUSBDevices.commandRequestType(vendor: device.vendor, product: device.product)
    }
}
