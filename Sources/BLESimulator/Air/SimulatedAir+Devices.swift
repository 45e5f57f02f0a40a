import BLEPackets

/// Operations on the devices of an air, allowed at any time. Identifiers of another air are ignored.
extension SimulatedAir {
    /// Counters of a device.
    public func statistics(of device: SimulatedDeviceID) -> SimulatedDeviceStatistics {
        self.device(device)?.statistics ?? SimulatedDeviceStatistics()
    }

    // MARK: The radio

    /// Removes a device: its peer notices after the supervision timeout (0x08).
    public func remove(_ device: SimulatedDeviceID) { self.device(device)?.remove() }

    /// Moves a device out of range of all others, or back.
    public func setInRange(_ isInRange: Bool, _ device: SimulatedDeviceID) {
        if let device = self.device(device) { move(device) { device.isInRange = isInRange } }
    }

    /// Moves a controller out of range of all others, or back.
    public func setInRange(_ isInRange: Bool, _ controller: SimulatedControllerID) {
        if let controller = self.controller(controller) { move(controller) { controller.isInRange = isInRange } }
    }

    /// Sets the strength at which a device is received. - Parameter rssi: dBm; below the air's sensitivity nothing is
    /// received.
    public func setSignal(_ rssi: Int8, of device: SimulatedDeviceID) {
        if let device = self.device(device) { move(device) { device.signal = rssi } }
    }

    /// Sets the strength at which a controller and a device receive each other.
    /// - Parameter rssi: dBm.
    public func setSignal(_ rssi: Int8, between controller: SimulatedControllerID, and device: SimulatedDeviceID) {
        if let controller = self.controller(controller), let device = self.device(device) {
            move(device) { signals[StationPair(controller.index, device.index)] = rssi }
        }
    }

    /// Sets the strength at which two controllers receive each other; −40 dBm by default.
    /// - Parameter rssi: dBm.
    public func setSignal(_ rssi: Int8, between a: SimulatedControllerID, and b: SimulatedControllerID) {
        if let a = controller(a), let b = controller(b) {
            move(a) { signals[StationPair(a.index, b.index)] = rssi }
        }
    }

    /// Sets the power with which a controller sends; 0 dBm at first. Others receive it as much more strongly or weakly.
    /// - Parameter power: −20 to 10 dBm.
    public func setTransmitPower(_ power: Int8, of controller: SimulatedControllerID) {
        guard let controller = self.controller(controller) else { return }
        let power = max(SimulatedController.leastPower, min(SimulatedController.greatestPower, power))
        guard power != controller.sendingPower else { return }
        controller.sendingPower = power
        controller.reportOwnPower()
        for link in controller.links {
            self.station(link.station(link.side(of: controller.index).other))?.peerPowerChanged(to: power, on: link)
        }
        rangeChanged(of: controller)
        signalChanged(of: controller)
    }

    private func signalChanged(of station: any AirStation) {
        for link in station.links {
            station.signalChanged(on: link)
            self.station(link.station(link.side(of: station.index).other))?.signalChanged(on: link)
        }
    }

    /// Sets the distance of a device, in free space at a transmit power of 0 dBm: −59 dBm at one metre.
    public func setDistance(metres: Double, of device: SimulatedDeviceID) {
        setSignal(Self.signal(atMetres: metres), of: device)
    }

    static func signal(atMetres metres: Double) -> Int8 {
        guard metres > 0.01 else { return -19 }
        // 20 log10(d) = 6.0206 log2(d)
        let loss = 6.0206 * binaryLogarithm(min(metres, 1e6))
        let signal = -59 - loss
        return Int8(clamping: Int(signal < 0 ? signal - 0.5 : signal + 0.5))
    }

    /// The standard library has no logarithm: exponent, then one bit of the fraction for each squaring.
    private static func binaryLogarithm(_ value: Double) -> Double {
        var logarithm = Double(value.exponent)
        var rest = value.significand
        var weight = 0.5
        for _ in 0..<20 {
            rest *= rest
            if rest >= 2 {
                rest /= 2
                logarithm += weight
            }
            weight /= 2
        }
        return logarithm
    }

    private func move(_ station: any AirStation, _ change: () -> Void) {
        change()
        rangeChanged(of: station)
        signalChanged(of: station)
    }

    // MARK: Advertising

    /// Changes what a device advertises, from its next advertising event on.
    public func setAdvertisement(_ advertisement: SimulatedAdvertisement, of device: SimulatedDeviceID) {
        self.device(device)?.setAdvertisement(advertisement)
    }

    /// Switches a device's advertising off, or on again. It always pauses while the device is connected.
    public func setAdvertising(_ isOn: Bool, of device: SimulatedDeviceID) {
        self.device(device)?.setAdvertising(isOn)
    }

    // MARK: The link

    /// Makes a device disconnect.
    /// - Parameter reason: what the central reports.
    public func disconnect(_ device: SimulatedDeviceID, reason: HCIStatus = .remoteUserTerminatedConnection) {
        self.device(device)?.disconnect(reason)
    }

    /// Lets a device send a PDU of ATT by itself; nothing is sent while it has no link.
    public func sendAttributePDU(_ pdu: [UInt8], from device: SimulatedDeviceID) {
        self.device(device)?.send(pdu, on: .attributeProtocol)
    }

    /// Lets a device ask its central for other connection parameters, by L2CAP.
    public func requestParameters(_ request: L2CAPConnectionParameterUpdateRequest, from device: SimulatedDeviceID) {
        self.device(device)?.requestParameters(request)
    }

    /// Makes a device send an unsolicited payload on an L2CAP channel.
    public func send(_ payload: [UInt8], on channel: L2CAPChannelIdentifier, from device: SimulatedDeviceID) {
        self.device(device)?.send(payload, on: channel)
    }

    /// Makes a device send octets as the start of an L2CAP frame, even with a wrong header.
    public func sendFrame(_ octets: [UInt8], from device: SimulatedDeviceID) {
        self.device(device)?.sendFrame(octets)
    }

    // MARK: Attributes

    /// The value of the first characteristic with this UUID; `nil` when the device has none.
    public func value(of characteristic: BluetoothUUID, on device: SimulatedDeviceID) -> [UInt8]? {
        guard let server = self.device(device)?.server, let number = server.number(of: characteristic) else {
            return nil
        }
        return server.value(of: number)
    }

    /// Sets the value of the first characteristic with this UUID.
    /// - Parameter announces: whether a subscriber is notified.
    public func setValue(
        _ value: [UInt8], of characteristic: BluetoothUUID, on device: SimulatedDeviceID, announces: Bool = true
    ) {
        guard let device = self.device(device), let server = device.server,
            let number = server.number(of: characteristic)
        else { return }
        server.setValue(value, of: number)
        if announces { device.announce(value, from: number) }
    }

    /// Changes the errors and closures of the first characteristic with this UUID. Its UUID, properties, permissions,
    /// descriptors and value do not change.
    public func changeCharacteristic(
        _ characteristic: BluetoothUUID, on device: SimulatedDeviceID,
        _ change: (inout SimulatedCharacteristic) -> Void
    ) {
        guard let server = self.device(device)?.server, let number = server.number(of: characteristic) else { return }
        change(&server.characteristics[number])
    }

    /// Replaces the services of a device, except the generic ones, and indicates Service Changed to a subscriber.
    public func replaceServices(_ services: [SimulatedService], on device: SimulatedDeviceID) {
        self.device(device)?.replaceServices(services)
    }
}
