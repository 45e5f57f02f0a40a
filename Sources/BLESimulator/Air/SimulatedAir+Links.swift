import BLEPackets

/// Links: connection events, supervision and the control procedures of the link layer.
extension SimulatedAir {
    /// The number of missed events after which a link that was never established ends (Core 5.4, Vol 6, Part B, 4.5).
    private static let establishmentEvents: Int64 = 6
    /// The maximum number of waiting fragments on one side of a link; a host that obeys its credits stays far below.
    private static let greatestQueue = 4096

    func connect(
        _ central: any AirStation, to peripheral: any AirStation, at address: DeviceAddress, set: UInt8,
        with initiation: Initiation, _ advertisement: AirAdvertisement
    ) {
        let link = AirLink(
            identifier: nextLinkIdentifier(), central: central.index, peripheral: peripheral.index,
            parameters: LinkParameters(initiation.parameters), anchor: nowMicroseconds + 2_500,
            phy: advertisement.secondaryPHY ?? .le1M, isUnanswered: initiation.isUnheard,
            clock: clock(of: central.index))
        central.links.append(link)
        central.connected(link, as: .central, to: address, set: nil)
        if initiation.isUnheard {
            link.isReachable = false
        } else {
            peripheral.links.append(link)
            peripheral.connected(link, as: .peripheral, to: initiation.ownAddress, set: set)
            let capabilities = (central.capabilities, peripheral.capabilities)
            if capabilities.0.features.contains(.dataPacketLengthExtension),
                capabilities.1.features.contains(.dataPacketLengthExtension),
                max(capabilities.0.transmitOctets, capabilities.1.transmitOctets) > 27
            {
                link.procedures.append((2, .dataLength))
            }
        }
        supervise(link, lastHeard: link.anchor)
        plan(link)
    }

    // MARK: Connection events

    /// Sends a part of an L2CAP frame, fragmented for the link layer.
    func enqueue(_ bytes: [UInt8], isStart: Bool, from side: LinkSide, on link: AirLink, isHostPacket: Bool) {
        guard link.isOpen else { return }
        let size = Int(link.transmitOctets(side))
        var rest = bytes[...]
        var isStart = isStart
        repeat {
            let piece = rest.prefix(size)
            rest = rest.dropFirst(size)
            let fragment = AirFragment(
                bytes: Array(piece), isStart: isStart, endsHostPacket: isHostPacket && rest.isEmpty)
            isStart = false
            if side == .central {
                guard link.toPeripheral.count < Self.greatestQueue else { return }
                link.toPeripheral.append(fragment)
            } else {
                guard link.toCentral.count < Self.greatestQueue else { return }
                link.toCentral.append(fragment)
            }
        } while !rest.isEmpty
        plan(link)
    }

    func begin(_ procedure: LinkProcedure, on link: AirLink, events: Int = 1) {
        link.procedures.append((events, procedure))
        plan(link)
    }

    /// Plans the next connection event if there is data for it, or if it may be lost.
    private func plan(_ link: AirLink) {
        guard link.isOpen, link.isReachable, link.plannedEvent == nil, link.hasWork || losesPackets else { return }
        let time = link.event(after: nowMicroseconds)
        link.plannedEvent = time
        let number = link.planNumber
        agenda.schedule(at: time) { [unowned self] in
            guard link.isOpen, link.planNumber == number else { return }
            link.plannedEvent = nil
            play(link)
            plan(link)
        }
    }

    private func play(_ link: AirLink) {
        guard let central = station(link.central), let peripheral = station(link.peripheral),
            areInRange(central, peripheral)
        else { return }
        if losesPacket() {
            supervise(link, lastHeard: link.event(notAfter: nowMicroseconds - 1))
            return
        }
        if link.isSilent {
            link.isSilent = false
            link.supervisionNumber &+= 1
        }
        link.isEstablished = true
        let limit = min(
            central.capabilities.packetsPerConnectionEvent, peripheral.capabilities.packetsPerConnectionEvent)
        var sentByCentral = 0
        var sentByPeripheral = 0
        for _ in 0..<max(1, limit) {
            guard link.isOpen, !link.isDataPaused, !link.toPeripheral.isEmpty || !link.toCentral.isEmpty else { break }
            if let fragment = link.toPeripheral.popFirst() {
                peripheral.received(fragment, on: link)
                if fragment.endsHostPacket { sentByCentral += 1 }
            }
            if link.isOpen, let fragment = link.toCentral.popFirst() {
                central.received(fragment, on: link)
                if fragment.endsHostPacket { sentByPeripheral += 1 }
            }
        }
        if sentByCentral > 0, link.isOpen { central.sent(sentByCentral, on: link) }
        if sentByPeripheral > 0, link.isOpen { peripheral.sent(sentByPeripheral, on: link) }
        playProcedures(of: link, central, peripheral)
    }

    private func playProcedures(of link: AirLink, _ central: any AirStation, _ peripheral: any AirStation) {
        let procedures = link.procedures
        link.procedures = []
        for (eventsLeft, procedure) in procedures {
            if eventsLeft > 1 {
                link.procedures.append((eventsLeft - 1, procedure))
            } else if link.isOpen {
                complete(procedure, on: link, central, peripheral)
            }
        }
    }

    private func complete(
        _ procedure: LinkProcedure, on link: AirLink, _ central: any AirStation, _ peripheral: any AirStation
    ) {
        func station(_ side: LinkSide) -> any AirStation { side == .central ? central : peripheral }
        switch procedure {
        case .terminate(let side, let reason):
            close(link, reason: .connectionTerminatedByLocalHost, peerReason: reason, by: side)
        case .update(let parameters, let side):
            let isChange = link.parameters != parameters
            link.parameters = parameters
            link.anchor = nowMicroseconds
            // New parameters end subrating (Core 5.4, Vol 6, Part B, 5.1.1).
            link.subrateFactor = 1
            link.continuationNumber = 0
            station(side).updated(link, status: .success)
            if isChange { station(side.other).updated(link, status: .success) }
        case .parameterRequest(let request, let side):
            switch station(side.other).parametersRequested(request, on: link) {
            case .accept: begin(.update(LinkParameters(request), by: side), on: link, events: 6)
            case .reject(let status): begin(.parameterReject(status, to: side), on: link)
            case .later: break
            }
        case .parameterReject(let status, let side):
            station(side).updated(link, status: status)
        case .features(let side):
            station(side).featuresRead(station(side.other).capabilities.features, on: link)
        case .version(let side):
            station(side).versionRead(of: station(side.other).capabilities, on: link)
        case .dataLength:
            settleDataLength(of: link, central, peripheral)
        case .phy(let request, let side):
            settlePHY(of: link, request: request, of: station(side), station(side.other))
        case .subrate(let request, let side):
            settleSubrate(of: link, request, by: side, station(side), station(side.other))
        case .power(let phy, let side):
            station(side).powerRead(station(side.other).transmitPower, phy: phy, on: link)
        case .encryptionRequest: requestKey(for: link, of: peripheral)
        case .encryptionReply(let key): settleEncryption(of: link, key: key)
        }
    }

    private func settleDataLength(of link: AirLink, _ central: any AirStation, _ peripheral: any AirStation) {
        let (a, b) = (central.capabilities, peripheral.capabilities)
        guard a.features.contains(.dataPacketLengthExtension), b.features.contains(.dataPacketLengthExtension) else {
            return
        }
        let down = min(central.transmitOctets(on: link), b.receiveOctets)
        let up = min(peripheral.transmitOctets(on: link), a.receiveOctets)
        guard down != link.centralTransmitOctets || up != link.peripheralTransmitOctets else { return }
        link.centralTransmitOctets = down
        link.peripheralTransmitOctets = up
        central.dataLengthChanged(on: link)
        peripheral.dataLengthChanged(on: link)
    }

    private func settlePHY(
        of link: AirLink, request: PHYPreferences, of asking: any AirStation, _ asked: any AirStation
    ) {
        guard !asked.capabilities.features.isDisjoint(with: [.le2MPHY, .leCodedPHY]) else {
            asking.phyUpdated(on: link, status: .unsupportedRemoteFeature)
            return
        }
        let side = link.side(of: asking.index)
        let answer = asked.phyPreferences(on: link)
        func choose(_ sender: PHYPreferences, _ receiver: PHYPreferences, now phy: PHY) -> PHY {
            let sent: PHYSet = sender.indifference.contains(.transmit) ? [.le1M, .le2M, .leCoded] : sender.transmitPHYs
            let heard: PHYSet =
                receiver.indifference.contains(.receive) ? [.le1M, .le2M, .leCoded] : receiver.receivePHYs
            let common = sent.intersection(heard).intersection(asking.capabilities.phys)
                .intersection(asked.capabilities.phys)
            if sender.indifference.contains(.transmit), receiver.indifference.contains(.receive) { return phy }
            if common.contains(.le2M) { return .le2M }
            if common.contains(.le1M) { return .le1M }
            return common.contains(.leCoded) ? .leCoded : phy
        }
        let before = (link.centralTransmitPHY, link.peripheralTransmitPHY)
        let ours = choose(request, answer, now: link.transmitPHY(side))
        let theirs = choose(answer, request, now: link.transmitPHY(side.other))
        link.centralTransmitPHY = side == .central ? ours : theirs
        link.peripheralTransmitPHY = side == .central ? theirs : ours
        asking.phyUpdated(on: link, status: .success)
        if before != (link.centralTransmitPHY, link.peripheralTransmitPHY) {
            asked.phyUpdated(on: link, status: .success)
        }
    }

    // MARK: The end of a link

    /// Closes a link at both ends.
    /// - Parameters:
    ///   - reason: what the side that ends the link reports.
    ///   - peerReason: what the other side reports.
    func close(_ link: AirLink, reason: HCIStatus, peerReason: HCIStatus, by side: LinkSide) {
        guard link.isOpen else { return }
        link.isOpen = false
        link.toPeripheral.removeAll()
        link.toCentral.removeAll()
        link.procedures = []
        for (end, reason) in [(side, reason), (side.other, peerReason)] {
            guard let station = station(link.station(end)),
                let position = station.links.firstIndex(where: { $0 === link })
            else { continue }
            station.links.remove(at: position)
            station.closed(link, reason: reason)
        }
    }

    /// Updates whether the stations of each link of `station` receive each other.
    func rangeChanged(of station: any AirStation) {
        for link in station.links {
            guard !link.isUnanswered, !link.isAbandoned, let central = self.station(link.central),
                let peripheral = self.station(link.peripheral)
            else { continue }
            let isReachable = areInRange(central, peripheral)
            guard isReachable != link.isReachable else { continue }
            link.isReachable = isReachable
            link.planNumber &+= 1
            link.plannedEvent = nil
            if isReachable {
                plan(link)
            } else {
                supervise(link, lastHeard: link.event(notAfter: nowMicroseconds))
            }
        }
    }

    /// Updates every link after the loss of packets has changed.
    func conditionsChanged() {
        for station in stations {
            rangeChanged(of: station)
            for link in station.links { plan(link) }
        }
    }

    /// A station has gone silent: its peers notice after the supervision timeout.
    func abandonLinks(of station: any AirStation) {
        let links = station.links
        station.links = []
        for link in links where link.isOpen {
            link.planNumber &+= 1
            link.plannedEvent = nil
            link.isReachable = false
            link.isAbandoned = true
            supervise(link, lastHeard: link.event(notAfter: nowMicroseconds))
        }
    }

    /// Ends the link if it stays silent until the supervision timeout. A link that is already silent keeps its
    /// deadline.
    /// - Parameter lastHeard: the last connection event that was received.
    private func supervise(_ link: AirLink, lastHeard: Int64) {
        guard !link.isSilent else { return }
        link.isSilent = true
        let timeout =
            link.isEstablished
            ? Int64(max(link.parameters.supervisionTimeout.microseconds, 100_000))
            : Self.establishmentEvents * link.interval
        let reason: HCIStatus = link.isEstablished ? .connectionTimeout : .connectionFailedToBeEstablished
        let number = link.supervisionNumber
        agenda.schedule(at: max(nowMicroseconds, lastHeard + timeout)) { [unowned self] in
            guard link.isOpen, link.supervisionNumber == number else { return }
            for case (_, .terminate(let side, _)) in link.procedures {
                // The side that disconnected is done, although the peer never received it.
                close(link, reason: .connectionTerminatedByLocalHost, peerReason: reason, by: side)
                return
            }
            close(link, reason: reason, peerReason: reason, by: .central)
        }
    }
}
