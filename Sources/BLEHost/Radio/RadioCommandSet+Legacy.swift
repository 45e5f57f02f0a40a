import BLEPackets

extension RadioCommandSet {
    /// The commands of Bluetooth 4.0.
    static var legacy: RadioCommandSet {
        RadioCommandSet(
            setScanParameters: { scan, commands in
                commands.append(
                    LESetScanParameters(
                        type: scan.parameters.isActive ? .active : .passive, interval: scan.parameters.duty.interval,
                        window: scan.parameters.duty.window, ownAddressType: scan.ownAddressType,
                        filterPolicy: scan.parameters.filterPolicy),
                    purpose: .scan)
            },
            setScanEnabled: { isEnabled, commands in
                commands.append(LESetScanEnable(isEnabled: isEnabled), purpose: .scan)
            },
            createConnection: { connection, commands in
                commands.append(
                    LECreateConnection(
                        scanInterval: connection.duty.interval, scanWindow: connection.duty.window,
                        filterPolicy: connection.filterPolicy, peerAddress: connection.peer,
                        ownAddressType: connection.ownAddressType,
                        parameters: LEConnectionParameters(connection.parameters)),
                    purpose: .initiate)
            },
            setAdvertisingParameters: { parameters, commands in
                commands.append(LESetAdvertisingParameters(parameters), purpose: .advertise)
            },
            setAdvertisement: { data, commands in
                commands.append(LESetAdvertisingData(data: data), purpose: .advertise)
            },
            setScanResponse: { data, commands in
                commands.append(LESetScanResponseData(data: data), purpose: .advertise)
            },
            setAdvertisingEnabled: { wish, commands in
                commands.append(LESetAdvertisingEnable(isEnabled: wish.isEnabled), purpose: .advertise)
            },
            isExtended: false)
    }
}

extension LESetAdvertisingParameters {
    init(_ parameters: AdvertisingParameters) {
        let type: AdvertisingType
        if let target = parameters.target {
            type =
                target.form == .highDutyCycle ? .connectableDirectedHighDutyCycle : .connectableDirectedLowDutyCycle
        } else if parameters.isConnectable {
            type = .connectableUndirected
        } else {
            type = parameters.isScannable ? .scannableUndirected : .nonConnectableUndirected
        }
        self.init(
            minimumInterval: parameters.interval, maximumInterval: parameters.interval, type: type,
            ownAddressType: parameters.ownAddressType)
        if let target = parameters.target { peerAddress = target.peer.withoutIdentityMark }
    }
}
