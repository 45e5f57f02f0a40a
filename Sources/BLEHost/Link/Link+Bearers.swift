import BLEPackets

/// The enhanced attribute bearers of a link (Core 5.4, Vol 3, Part F, 3.2.11; Part G, 5.3 and 5.4).
extension Link {
    // MARK: Opening

    /// A client asks for so many bearers, on a link that others may use, too.
    func wantBearers(_ count: UInt8?) {
        guard let count, count > 0 else { return }
        var settings = bearers.settings ?? EnhancedBearerSettings()
        settings.opened = max(settings.opened, min(Int(count), 5))
        bearers.settings = settings
    }

    /// The link is encrypted: opens bearers, once, if both sides want them.
    func openBearers(into effects: inout Effects) {
        guard Features.enhancedBearers, let settings = bearers.settings, settings.opened > 0, bearers.opening == .idle,
            security.keyInUse != nil, !security.isGated, !isClosing
        else { return }
        let operation = effects.nextOperation()
        bearers.opening = .readingServer(operation)
        start(
            .readUsingUUID(.serverSupportedFeatures, .all), operation: operation, client: .attributeBearers,
            into: &effects)
    }

    /// One of our requests was answered: the next step. Without enhanced bearers, the unenhanced one does everything.
    private func bearersAnswered(_ result: Result<GATTResult, GATTFailure>, into effects: inout Effects) {
        let operation = effects.nextOperation()
        let request: GATTOperation
        switch (bearers.opening, result) {
        case (.readingServer, .success(.attributeValues(let found))):
            guard let features = found.first?.value.first, features & 0x01 != 0 else {
                bearers.opening = .done
                return
            }
            bearers.opening = .readingClient(operation)
            request = .readUsingUUID(.clientSupportedFeatures, .all)
        case (.readingClient, .success(.attributeValues(let found))):
            guard let own = found.first else { return connectBearers(isRetry: false, into: &effects) }
            // Bits 1 and 2: enhanced bearers, and several values in one PDU. A bit that is set stays set.
            var value = own.value.isEmpty ? [0] : own.value
            guard value[0] & 0x06 != 0x06 else { return connectBearers(isRetry: false, into: &effects) }
            value[0] |= 0x06
            bearers.opening = .writing(operation)
            request = .write(own.handle, value: value)
        case (.readingClient, _), (.writing, _):
            // Bearers may be opened even if the peer does not keep our features.
            return connectBearers(isRetry: false, into: &effects)
        case (.readingServer, _), (.idle, _), (.connecting, _), (.waiting, _), (.done, _):
            bearers.opening = .done
            return
        }
        start(request, operation: operation, client: .attributeBearers, into: &effects)
    }

    private func connectBearers(isRetry: Bool, into effects: inout Effects) {
        bearers.opening = .done
        guard let settings = bearers.settings, security.keyInUse != nil, !isClosing else { return }
        // Those that the peer has opened meanwhile serve both sides.
        let count = settings.opened - bearers.open.count
        guard count > 0 else { return }
        let operation = effects.nextOperation()
        bearers.opening = .connecting(operation, isRetry: isRetry)
        signalling.openEnhancedChannels(
            count, EnhancedBearers.spsm, settings.channel, operation: operation, client: .attributeBearers,
            at: effects.now)
        performChannelActions(into: &effects)
    }

    private func bearersConnected(_ failure: ChannelFailure?, into effects: inout Effects) {
        guard case .connecting(_, let isRetry) = bearers.opening else { return }
        bearers.opening = .done
        guard failure == .refused(.noResourcesAvailable), !isRetry else { return }
        // Perhaps both sides asked at the same time. The central may ask again at once, the peripheral must wait
        // (Core 5.4, Vol 3, Part G, 5.4).
        guard role == .peripheral else { return connectBearers(isRetry: true, into: &effects) }
        let events = 2 * (Int64(parameters.peripheralLatency) + 1)
        let wait = max(100_000, events * Int64(parameters.interval.rawValue) * 1250)
        bearers.opening = .waiting(until: effects.now.advanced(by: .microseconds(wait)))
    }

    func advanceBearers(into effects: inout Effects) {
        guard Features.enhancedBearers, case .waiting(let limit) = bearers.opening, limit <= effects.now else { return }
        connectBearers(isRetry: true, into: &effects)
    }

    // MARK: What happens on the channels

    /// Whether what arrives on the bearers waits. For a central it does not: there are bearers on an encrypted link
    /// only, and values arrive while its key is refreshed.
    private var postponesBearers: Bool { role == .peripheral && security.isChanging }

    /// Notes an action of the channels that concerns a bearer.
    func bearersChanged(_ action: CreditBasedChannels.Action, into effects: inout Effects) {
        if postponesBearers, bearers.isFlooded {
            effects.counters.floodedLinks &+= 1
            return end(.remoteDeviceLowResources, into: &effects)
        }
        bearers.receive(action)
        effects.deferred.append((self, .continueBearers))
    }

    func bearersChanged(_ news: EnhancedBearers.News, into effects: inout Effects) {
        guard Features.enhancedBearers else { return }
        bearers.news.append(news)
        effects.deferred.append((self, .continueBearers))
    }

    /// Handles, in order, what was noted.
    func continueBearers(_ rooms: inout Rooms, into effects: inout Effects) {
        guard Features.enhancedBearers else { return }
        // What arrived while the key is being changed must not be judged by the old one.
        while !postponesBearers, !security.isForfeited, let news = bearers.news.popFirst() {
            switch news {
            case .opened(let number, let mtu):
                effects.counters.enhancedBearers &+= 1
                rooms.server.bearerOpened(number, mtu: mtu, on: id)
                gatt.bearerOpened(number, mtu: mtu, at: effects.now)
            case .resized(let number, let mtu):
                rooms.server.mtuChanged(to: mtu, ofBearer: number, on: id)
                gatt.mtuChanged(to: mtu, ofBearer: number)
            case .received(let number, let pdu):
                receiveATT(pdu.span.bytes, onBearer: number, &rooms.server, into: &effects)
                signalling.consumeUnits(1, on: number)
                performChannelActions(into: &effects)
            case .sent(let number):
                if case .server(let tag)? = bearers.removeTag(of: number) {
                    rooms.server.sent(tag, to: id, onBearer: number, at: effects.now)
                }
            case .givenUp(let number):
                effects.counters.failedBearers &+= 1
                signalling.closeBearer(number, at: effects.now)
                performChannelActions(into: &effects)
            case .closed(let number, let end):
                if end == .protocolViolation { effects.counters.failedBearers &+= 1 }
                bearers.open.removeAll { $0.number == number }
                rooms.server.bearerClosed(number, on: id, at: effects.now)
                gatt.bearerClosed(number, at: effects.now)
            case .answered(let result): bearersAnswered(result, into: &effects)
            case .connected(let failure): bearersConnected(failure, into: &effects)
            }
            performClientActions(into: &effects)
        }
    }

    private func receiveATT(
        _ pdu: RawSpan, onBearer number: UInt32, _ server: inout GATTServer, into effects: inout Effects
    ) {
        // While a key is being changed, the last one still protects what arrives.
        guard bearers.contains(number), security.lastKey != nil, !security.isGated else { return }
        guard gatt.receive(pdu, onBearer: number, at: effects.now) else { return }
        let opcode = pdu.byte(at: 0).map { ATTOpcode(rawValue: $0) }
        // Signatures must not be used on encrypted links.
        if opcode == .signedWriteCommand { return server.refuseSignedWrite() }
        server.receive(pdu, from: id, onBearer: number, at: effects.now)
        recordDemander(&server)
        guard opcode == .writeRequest, server.storesPerClient(pdu) else { return }
        security.isRecordDue = true
        effects.deferred.append((self, .storeClientRecord))
    }

    // MARK: Sending

    /// Sends a PDU on an enhanced bearer, as far as the peer grants credits. A peer that grants none while it asks for
    /// more loses the bearer.
    func send(_ pdu: [UInt8], onBearer number: UInt32, tag: ATTSendTag, into effects: inout Effects) {
        guard Features.enhancedBearers, !isClosing,
            let index = bearers.open.firstIndex(where: { $0.number == number })
        else { return }
        guard signalling.sendPDU(pdu, onBearer: number) else {
            return bearersChanged(.givenUp(number: number), into: &effects)
        }
        bearers.open[index].tags.append(tag)
        performChannelActions(into: &effects)
    }
}
