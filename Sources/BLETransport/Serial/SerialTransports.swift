import BLEChips

/// Opens serial ports: with the framing of the line, and with a chip that has to be started.
enum SerialTransports {
    static func open(
        _ device: String, baud: UInt32, hasFlowControl: Bool, framing: SerialFraming, chip: SerialChip?,
        address: TransportAddress, folders: [String] = FirmwareFolder.usual
    ) throws(TransportError) -> sending any HCITransport {
        guard let chip else {
            let port = try SerialPort.open(device, baud: baud, hasFlowControl: hasFlowControl)
            switch framing {
            case .h4: return stream(port, address)
            case .h5: return threeWire(port, baud, address)
            }
        }
        let bringUp: ChipBringUp
        do throws(ChipFailure) {
            bringUp = try ChipBringUp(
                settings: ChipSettings(family: chip.family, baud: baud, address: chip.address))
        } catch { throw .chipFailed(error) }
        let parity: SerialPort.Parity = chip.family == .realtek ? .even : .none
        let bootBaud = startsAtBootBaud(chip.family) ? ChipSettings.bootBaud : baud
        let port = try SerialPort.open(device, baud: bootBaud, hasFlowControl: hasFlowControl, parity: parity)
        let descriptor = port.descriptor
        return ChipTransport(
            line(port, bootBaud, framing, address), bringUp: bringUp,
            setBaud: { SerialPort.setBaud($0, of: descriptor, hasFlowControl: hasFlowControl, parity: parity) },
            readFile: { FirmwareFolder.read($0, in: folders) })
    }

    /// Whether the family's chips begin at 115,200 baud and are brought to the wanted speed.
    private static func startsAtBootBaud(_ family: ChipFamily) -> Bool {
        switch family {
        case .broadcom, .realtek, .texasInstruments, .automatic: true
        case .zephyr, .intel, .qualcomm, .mediatek, .nxp: false
        }
    }

    private typealias Port = (descriptor: Int32, cleanUp: (Int32) -> Void)

    private static func line(
        _ port: sending Port, _ baud: UInt32, _ framing: SerialFraming, _ address: TransportAddress
    ) -> sending any ChipTransport.Line {
        switch framing {
        case .h4: stream(port, address)
        case .h5: threeWire(port, baud, address)
        }
    }

    private static func stream(_ port: sending Port, _ address: TransportAddress) -> sending StreamTransport {
        StreamTransport(
            descriptor: port.descriptor, isSocket: false, line: .serial, address: address, cleanUp: port.cleanUp)
    }

    /// - Parameter baud: the speed at the beginning. A chip's later one is greater: what is sent again comes no earlier.
    private static func threeWire(
        _ port: sending Port, _ baud: UInt32, _ address: TransportAddress
    ) -> sending ThreeWireTransport {
        var configuration = ThreeWireConfiguration()
        configuration.baud = baud
        return ThreeWireTransport(
            descriptor: port.descriptor, isSocket: false, configuration: configuration, address: address,
            cleanUp: port.cleanUp)
    }
}
