import BLEPackets

extension RadioCommandSet {
    /// The handle of the one advertising set in use.
    static let advertisingHandle: UInt8 = 0

    /// The commands of Bluetooth 5.0. Advertising still uses legacy PDUs, so that every central receives it.
    static var extended: RadioCommandSet {
        RadioCommandSet(
            setScanParameters: { scan, commands in
                let parameters = LESetExtendedScanParameters.Parameters(
                    type: scan.parameters.isActive ? .active : .passive, interval: scan.parameters.duty.interval,
                    window: scan.parameters.duty.window)
                commands.append(
                    LESetExtendedScanParameters(
                        ownAddressType: scan.ownAddressType,
                        filterPolicy: scan.parameters.filterPolicy, le1M: parameters,
                        leCoded: scan.parameters.isOnCodedPHY ? parameters : nil),
                    purpose: .scan)
            },
            setScanEnabled: { isEnabled, commands in
                commands.append(LESetExtendedScanEnable(isEnabled: isEnabled), purpose: .scan)
            },
            createConnection: { connection, commands in
                // The device is looked for on LE 1M or LE Coded at least (Core 5.4, Vol 4, Part E, 7.8.66).
                let canLook = !connection.phys.isDisjoint(with: [.le1M, .leCoded])
                let phys = canLook ? connection.phys : connection.phys.union(.le1M)
                let parameters = LEExtendedCreateConnection.Parameters(
                    scanInterval: connection.duty.interval, scanWindow: connection.duty.window,
                    connection: LEConnectionParameters(connection.parameters))
                commands.append(
                    LEExtendedCreateConnection(
                        filterPolicy: connection.filterPolicy, ownAddressType: connection.ownAddressType,
                        peerAddress: connection.peer, initiatingPHYs: phys,
                        parameters: Array(repeating: parameters, count: phys.rawValue.nonzeroBitCount)),
                    purpose: .initiate)
            },
            setAdvertisingParameters: { parameters, commands in
                commands.append(LESetExtendedAdvertisingParameters(parameters), purpose: .advertise)
            },
            setAdvertisement: { data, commands in
                commands.append(
                    LESetExtendedAdvertisingData(advertisingHandle: advertisingHandle, data: data),
                    purpose: .advertise)
            },
            setScanResponse: { data, commands in
                commands.append(
                    LESetExtendedScanResponseData(advertisingHandle: advertisingHandle, data: data),
                    purpose: .advertise)
            },
            setAdvertisingEnabled: { wish, commands in
                commands.append(
                    LESetExtendedAdvertisingEnable(
                        isEnabled: wish.isEnabled,
                        sets: [
                            .init(advertisingHandle: advertisingHandle, duration: wish.duration, maximumEvents: 0)
                        ]),
                    purpose: .advertise)
            },
            isExtended: true)
    }
}

extension LESetExtendedAdvertisingParameters {
    init(_ parameters: AdvertisingParameters, handle: UInt8 = RadioCommandSet.advertisingHandle) {
        var properties: ExtendedAdvertisingProperties
        if let target = parameters.target {
            properties = [.connectable, .directed]
            switch target.form {
            case .highDutyCycle: properties.formUnion([.legacy, .highDutyCycleDirected])
            case .lowDutyCycle: properties.insert(.legacy)
            case .extended: break
            }
        } else if parameters.isConnectable {
            properties = .legacyConnectableUndirected
        } else {
            properties = parameters.isScannable ? .legacyScannableUndirected : .legacyNonConnectableUndirected
        }
        let interval = ExtendedAdvertisingInterval(rawValue: UInt32(parameters.interval.rawValue))
        self.init(
            advertisingHandle: handle, properties: properties, minimumInterval: interval,
            maximumInterval: interval, ownAddressType: parameters.ownAddressType)
        if let target = parameters.target { peerAddress = target.peer.withoutIdentityMark }
    }
}
