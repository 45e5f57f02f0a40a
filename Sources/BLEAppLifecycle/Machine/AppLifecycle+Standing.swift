import BLEHost
import BLEPackets

/// What the engine is to do for a manager as things stand: its app in front or behind, without a process, Bluetooth on or off
/// (SPEC 5.4). Everything comes from here, so that nothing is forgotten when the standing changes.
extension AppLifecycle {
    mutating func converge(_ index: Int, at now: Instant) {
        convergeRadio(index)
        if managers[index].role == .central { convergeConnections(index, at: now) } else { convergeServices(index) }
        needsJournal = true
    }

    /// Scanning and advertising.
    mutating func convergeRadio(_ index: Int) {
        let client = managers[index].client
        switch (managers[index].central.runningScan, wantedScan(index)) {
        case (nil, let wanted?):
            let token = submit(.scan(wanted), from: client, for: .scan(client))
            managers[index].central.runningScan = (token, wanted)
        case (let running?, nil):
            cancel(running.token)
            managers[index].central.runningScan = nil
        case (let running?, let wanted?) where running.request != wanted:
            guard let operation = operation(of: running.token) else { return }
            submit(.changeScan(operation, wanted), from: client)
            managers[index].central.runningScan?.request = wanted
        default: break
        }
        switch (managers[index].server.runningAdvertisement, wantedAdvertisement(index)) {
        case (nil, let wanted?):
            let token = submit(.advertise(wanted), from: client, for: .advertise(client))
            managers[index].server.runningAdvertisement = (token, wanted)
        case (let running?, nil):
            cancel(running.token)
            managers[index].server.runningAdvertisement = nil
        case (let running?, let wanted?) where running.request != wanted:
            guard let operation = operation(of: running.token) else { return }
            submit(.changeAdvertising(operation, wanted), from: client)
            managers[index].server.runningAdvertisement?.request = wanted
        default: break
        }
    }

    private func isOn(_ index: Int) -> Bool { state(managers[index].app) == .poweredOn }

    /// Whether the app of a manager may use the radio now, and whether it does so from behind. What is preserved goes on as
    /// if the app were in the background (SPEC 5.4).
    private func standing(_ index: Int) -> (mayUseRadio: Bool, isInBackground: Bool) {
        let app = apps[managers[index].app]
        if managers[index].id == nil { return (true, true) }
        if app.isInForeground { return (true, false) }
        return (app.manifest.backgroundModes.contains(BackgroundModes(managers[index].role)), true)
    }

    private func wantedScan(_ index: Int) -> ScanRequest? {
        guard let scan = managers[index].central.scan, isOn(index) else { return nil }
        let (mayScan, isInBackground) = standing(index)
        // In the background only who names services hears anything (SPEC BGC-5), and each device once (SPEC BGC-3).
        guard mayScan, !isInBackground || !scan.services.isEmpty else { return nil }
        var request = ScanRequest(
            allowsDuplicates: scan.allowsDuplicates && !isInBackground, serviceUUIDs: scan.services,
            isInBackground: isInBackground)
        if !scan.services.isEmpty, !scan.solicitedServices.isEmpty {
            request.solicitedServiceUUIDs = scan.solicitedServices
        }
        return request
    }

    private func wantedAdvertisement(_ index: Int) -> AdvertiseRequest? {
        guard let advertisement = managers[index].server.advertisement, isOn(index) else { return nil }
        let (mayAdvertise, isInBackground) = standing(index)
        guard mayAdvertise else { return nil }
        return AdvertiseRequest(
            .packed(localName: advertisement.localName, serviceUUIDs: advertisement.serviceUUIDs),
            isInBackground: isInBackground)
    }

    /// Wishes for connections: given to the engine while Bluetooth is on, and never without its knowing (SPEC CEN-9).
    private mutating func convergeConnections(_ index: Int, at now: Instant) {
        let client = managers[index].client
        let isOn = isOn(index)
        for session in managers[index].central.peripherals.indices {
            let peripheral = managers[index].central.peripherals[session]
            guard case .connecting(let token, let notBefore) = peripheral.state else { continue }
            if isOn, token == nil {
                if let notBefore, notBefore > now { continue }
                let token = submit(
                    .connect(ConnectRequest(peer: peripheral.address)), from: client,
                    for: .connect(client, peripheral.identifier))
                managers[index].central.peripherals[session].state = .connecting(token, notBefore: nil)
            } else if !isOn {
                if let token { cancel(token) }
                // A delay that is over waits for nothing but Bluetooth now.
                guard token != nil || notBefore.map({ $0 <= now }) == true else { continue }
                managers[index].central.peripherals[session].state = .connecting(nil, notBefore: nil)
            }
        }
    }

    private mutating func convergeServices(_ index: Int) {
        let state = state(managers[index].app)
        if state >= .poweredOff { publishServices(index) }
        let app = apps[managers[index].app]
        let isDisabled =
            managers[index].id != nil && app.hasProcess && !app.isInForeground
            && !app.manifest.backgroundModes.contains(.peripheral)
        guard isDisabled != managers[index].server.isDisabled else { return }
        managers[index].server.isDisabled = isDisabled
        submit(.disableServices(isDisabled ? settings.disabledServiceError : nil), from: managers[index].client)
    }
}
