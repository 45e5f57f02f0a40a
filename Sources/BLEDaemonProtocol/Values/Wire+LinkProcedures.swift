import BLEHost
import BLEPackets

extension WireRequest.OneOf_Command {
    /// A procedure of a link, as the client requests it.
    init(_ procedure: LinkProcedure, on link: LinkID) {
        var wire = WireLinkProcedure()
        wire.link = link.wire
        switch procedure {
        case .readRSSI:
            self = .readRssi(.with { $0.link = link.wire })
            return
        case .updateParameters(let wished):
            self = .updateParameters(
                .with {
                    $0.link = link.wire
                    $0.parameters = WireConnectionParameters(wished)
                })
            return
        case .readRemoteVersion: wire.readRemoteVersion = WireNothing()
        case .readRemoteFeatures: wire.readRemoteFeatures = WireNothing()
        case .setDataLength(let octets, let microseconds):
            wire.setDataLength.octets = UInt32(octets)
            wire.setDataLength.microseconds = UInt32(microseconds)
        case .readPHY: wire.readPhy = WireNothing()
        case .setPHY(let transmit, let receive):
            wire.setPhy.transmit = UInt32(transmit.rawValue)
            wire.setPhy.receive = UInt32(receive.rawValue)
        case .setSubrate(let parameters):
            wire.setSubrate.minimumFactor = UInt32(parameters.minimumFactor)
            wire.setSubrate.maximumFactor = UInt32(parameters.maximumFactor)
            wire.setSubrate.maximumLatency = UInt32(parameters.maximumLatency)
            wire.setSubrate.continuationNumber = UInt32(parameters.continuationNumber)
            wire.setSubrate.supervisionTimeout = UInt32(parameters.supervisionTimeout.rawValue)
        case .readTransmitPower(let phy): wire.readTransmitPower = UInt32(phy.rawValue)
        case .readRemoteTransmitPower(let phy): wire.readRemoteTransmitPower = UInt32(phy.rawValue)
        case .reportTransmitPower(let local, let remote):
            wire.reportTransmitPower.local = local
            wire.reportTransmitPower.remote = remote
        case .monitorPathLoss(let zones):
            wire.monitorPathLoss = WireMonitorPathLoss()
            if let zones { wire.monitorPathLoss.zones = WirePathLossZones(zones) }
        case .setAuthenticatedPayloadTimeout(let timeout):
            wire.authenticatedPayloadTimeoutMicroseconds = UInt64(clamping: timeout.rawValue)
        }
        self = .procedure(wire)
    }
}

extension LinkProcedure {
    /// The engine checks what contradicts the specification.
    init(_ wire: WireLinkProcedure) throws(WireError) {
        switch wire.procedure {
        case .readRemoteVersion: self = .readRemoteVersion
        case .readRemoteFeatures: self = .readRemoteFeatures
        case .setDataLength(let length):
            self = .setDataLength(
                octets: UInt16(clamping: length.octets), microseconds: UInt16(clamping: length.microseconds))
        case .readPhy: self = .readPHY
        case .setPhy(let phys):
            self = .setPHY(transmit: PHYSet(wire: phys.transmit), receive: PHYSet(wire: phys.receive))
        case .setSubrate(let wished):
            self = .setSubrate(
                SubrateParameters(
                    minimumFactor: UInt16(clamping: wished.minimumFactor),
                    maximumFactor: UInt16(clamping: wished.maximumFactor),
                    maximumLatency: UInt16(clamping: wished.maximumLatency),
                    continuationNumber: UInt16(clamping: wished.continuationNumber),
                    supervisionTimeout: SupervisionTimeout(rawValue: UInt16(clamping: wished.supervisionTimeout))))
        case .readTransmitPower(let phy): self = .readTransmitPower(phy: PowerPHY(rawValue: UInt8(clamping: phy)))
        case .readRemoteTransmitPower(let phy):
            self = .readRemoteTransmitPower(phy: PowerPHY(rawValue: UInt8(clamping: phy)))
        case .reportTransmitPower(let sides): self = .reportTransmitPower(local: sides.local, remote: sides.remote)
        case .monitorPathLoss(let monitor):
            self = .monitorPathLoss(zones: monitor.hasZones ? try PathLossZones(monitor.zones) : nil)
        case .authenticatedPayloadTimeoutMicroseconds(let timeout):
            self = .setAuthenticatedPayloadTimeout(Microseconds(rawValue: Int64(clamping: timeout)))
        case nil: throw .invalidField
        }
    }
}

extension PHYSet {
    init(wire: UInt32) { self.init(rawValue: UInt8(clamping: wire)) }
}

extension WirePathLossZones {
    init(_ zones: PathLossZones) {
        self.init()
        if let high = zones.high { self.high = UInt32(high) }
        highHysteresis = UInt32(zones.highHysteresis)
        low = UInt32(zones.low)
        lowHysteresis = UInt32(zones.lowHysteresis)
        minimumEvents = UInt32(zones.minimumEvents)
    }
}

extension PathLossZones {
    init(_ wire: WirePathLossZones) throws(WireError) {
        guard let low = UInt8(exactly: wire.low), let lowHysteresis = UInt8(exactly: wire.lowHysteresis),
            let high = UInt8(exactly: wire.high), let highHysteresis = UInt8(exactly: wire.highHysteresis),
            let events = UInt16(exactly: wire.minimumEvents)
        else { throw .invalidField }
        self.init(low: low, high: wire.hasHigh ? high : nil, minimumEvents: events)
        self.lowHysteresis = lowHysteresis
        self.highHysteresis = highHysteresis
    }
}

// MARK: Results

extension WireCompleted {
    /// - Returns: whether the result is that of a procedure.
    mutating func set(procedure result: HostResult) -> Bool {
        switch result {
        case .remoteVersion(let version):
            remoteVersion.version = UInt32(version.version)
            remoteVersion.company = UInt32(version.companyIdentifier)
            remoteVersion.subversion = UInt32(version.subversion)
        case .remoteFeatures(let features): remoteFeatures = features.rawValue
        case .dataLength(let length): dataLength = WireDataLength(length)
        case .phy(let transmit, let receive): phys = WirePHYs(transmit, receive)
        case .subrate(let subrate): self.subrate = WireSubrate(subrate)
        case .transmitPower(let power): transmitPower = WireTransmitPower(power)
        case .done, .connected, .gatt, .published, .listening, .channel, .channels, .accepted, .paired, .outOfBandData,
            .rssi, .connectionParameters, .hciAnswer:
            return false
        }
        return true
    }
}

extension RemoteVersion {
    init(_ wire: WireRemoteVersion) {
        self.init(
            version: UInt8(clamping: wire.version), companyIdentifier: UInt16(clamping: wire.company),
            subversion: UInt16(clamping: wire.subversion))
    }
}

extension WireDataLength {
    init(_ length: DataLength) {
        self.init()
        transmitOctets = UInt32(length.maxTransmitOctets)
        transmitMicroseconds = UInt32(length.maxTransmitMicroseconds)
        receiveOctets = UInt32(length.maxReceiveOctets)
        receiveMicroseconds = UInt32(length.maxReceiveMicroseconds)
    }
}

extension DataLength {
    init(_ wire: WireDataLength) {
        self.init(
            maxTransmitOctets: UInt16(clamping: wire.transmitOctets),
            maxTransmitMicroseconds: UInt16(clamping: wire.transmitMicroseconds),
            maxReceiveOctets: UInt16(clamping: wire.receiveOctets),
            maxReceiveMicroseconds: UInt16(clamping: wire.receiveMicroseconds))
    }
}

extension WirePHYs {
    init(_ transmit: PHY, _ receive: PHY) {
        self.init()
        self.transmit = UInt32(transmit.rawValue)
        self.receive = UInt32(receive.rawValue)
    }

    var both: (transmit: PHY, receive: PHY) {
        (PHY(rawValue: UInt8(clamping: transmit)), PHY(rawValue: UInt8(clamping: receive)))
    }
}

extension WireSubrate {
    init(_ subrate: LinkSubrate) {
        self.init()
        factor = UInt32(subrate.factor)
        continuationNumber = UInt32(subrate.continuationNumber)
        latency = UInt32(subrate.latency)
        supervisionTimeout = UInt32(subrate.supervisionTimeout.rawValue)
    }
}

extension LinkSubrate {
    init(_ wire: WireSubrate) {
        self.init(
            factor: UInt16(clamping: wire.factor), continuationNumber: UInt16(clamping: wire.continuationNumber),
            latency: UInt16(clamping: wire.latency),
            supervisionTimeout: SupervisionTimeout(rawValue: UInt16(clamping: wire.supervisionTimeout)))
    }
}

extension WireTransmitPower {
    init(_ power: TransmitPower) {
        self.init()
        phy = UInt32(power.phy.rawValue)
        if let level = power.level { self.level = Int32(level) }
        if let maximum = power.maximum { self.maximum = Int32(maximum) }
        isLeast = power.isLeast
        isGreatest = power.isGreatest
    }
}

extension TransmitPower {
    init(_ wire: WireTransmitPower) {
        self.init(
            phy: PowerPHY(rawValue: UInt8(clamping: wire.phy)), level: wire.hasLevel ? Int8(clamping: wire.level) : nil,
            maximum: wire.hasMaximum ? Int8(clamping: wire.maximum) : nil, isLeast: wire.isLeast,
            isGreatest: wire.isGreatest)
    }
}

// MARK: Reports

extension WireLinkReport {
    init(_ report: LinkReport, on link: LinkID) {
        self.init()
        self.link = link.wire
        switch report {
        case .transmitPower(let power, let isPeers):
            if isPeers { peersPower = WireTransmitPower(power) } else { ownPower = WireTransmitPower(power) }
        case .pathLoss(let loss):
            pathLoss.zone = UInt32(loss.zone.rawValue)
            if let decibels = loss.decibels { pathLoss.decibels = UInt32(decibels) }
        case .unauthenticated: unauthenticated = WireNothing()
        }
    }
}

extension LinkReport {
    init(_ wire: WireLinkReport) throws(WireError) {
        switch wire.report {
        case .ownPower(let power): self = .transmitPower(TransmitPower(power), isPeers: false)
        case .peersPower(let power): self = .transmitPower(TransmitPower(power), isPeers: true)
        case .pathLoss(let loss):
            guard let zone = PathLoss.Zone(rawValue: UInt8(clamping: loss.zone)) else { throw .invalidField }
            self = .pathLoss(PathLoss(zone: zone, decibels: loss.hasDecibels ? UInt8(clamping: loss.decibels) : nil))
        case .unauthenticated: self = .unauthenticated
        case nil: throw .invalidField
        }
    }
}
