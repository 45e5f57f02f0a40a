import BLEHost
import BLEPackets

/// The peripheral role: services that others read, write and subscribe to, and the advertising by which they are found.
///
///     let events = await adapter.serverEvents()
///     let service = try await adapter.publish(
///         GATTServiceDefinition(
///             uuid: BluetoothUUID(UInt16(0x180F)),
///             characteristics: [
///                 GATTCharacteristicDefinition(
///                     uuid: BluetoothUUID(UInt16(0x2A19)), properties: [.read, .notify], permissions: .readable)
///             ]))
///     let advertising = Task {
///         try await adapter.advertise(
///             AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: [BluetoothUUID(UInt16(0x180F))])))
///     }
///     for try await case .gatt(.read(let request)) in events {
///         await adapter.respond(to: request.id, with: .value([87]))
///     }
extension Adapter {
    /// Begins to collect what happens in the peripheral role. Make the sequence before advertising, or the first events
    /// are missed.
    ///
    /// Events that are not consumed in time are dropped, oldest first, and counted, unless they need an answer.
    public func serverEvents() -> ServerEvents {
        let (events, source) = ServerEvents.make()
        let token = addServerObserver(source)
        source.continuation.onTermination = { _ in Task { await self.removeServerObserver(token) } }
        return events
    }

    /// Puts a service into the local database; it cannot be changed afterwards (SPEC PER-6, PER-7).
    /// - Throws: `AdapterError.host(.publishing)` with what is wrong with it.
    public func publish(_ service: GATTServiceDefinition) async throws(AdapterError) -> GATTPublishedService {
        guard case .published(let published) = try await result(of: .publish(service)) else { throw .closed }
        return published
    }

    /// Removes a service from the local database and notifies centrals.
    /// - Parameter handle: the first of its range.
    /// - Throws: `AdapterError.host(.publishing)`.
    public func removeService(_ handle: AttributeHandle) async throws(AdapterError) {
        _ = try await result(of: .removeService(handle))
    }

    /// Changes what the Generic Access service calls this device; cut at 248 octets.
    public func setDeviceName(_ name: String) async { _ = await perform(.setDeviceName(name)) }

    /// Answers a question of a central: each needs exactly one answer, within 30 s (SPEC PER-16).
    /// - Returns: whether the answer was taken; `false` when it came late or for the second time.
    @discardableResult
    public func respond(to question: GATTRequestID, with answer: GATTAnswer) async -> Bool {
        await isAccepted(.respond(question, answer))
    }

    /// Sends a value to the centrals that subscribed to it (SPEC PER-21). It is cut at what one update can carry.
    /// - Parameter links: only these; `nil`: all.
    /// - Returns: `false` when the queue is full; `GATTServerEvent.readyToUpdate` tells once when there is room again
    ///   (SPEC PER-22).
    @discardableResult
    public func updateValue(_ value: [UInt8], of handle: AttributeHandle, to links: [LinkID]? = nil) async -> Bool {
        await isAccepted(.updateValue(handle, value: value, links: links))
    }

    private func isAccepted(_ command: HostCommand) async -> Bool {
        if case .success(.accepted(let isAccepted)) = await perform(command) { isAccepted } else { false }
    }

    /// Advertises until the task is cancelled (SPEC PER-11, PER-12).
    ///
    /// Returns when a central connects, if the request says that advertising ends then.
    ///
    /// To call back one bonded device, and no other:
    ///
    ///     try await adapter.advertise(
    ///         AdvertiseRequest(
    ///             .packed(localName: nil, serviceUUIDs: []),
    ///             target: AdvertisingTarget(peer: bond.identity, form: .highDutyCycle)))
    /// - Throws: `AdapterError.host(.cancelled)` when the task was cancelled, `AdapterError.host(.connectionFailed)`
    ///   when a call at the high duty cycle met no answer, or why the controller refuses.
    public func advertise(_ request: AdvertiseRequest) async throws(AdapterError) {
        _ = try await result(of: .advertise(request))
    }

    /// Asks a central for lower latency or for less energy (SPEC 2.4).
    ///
    /// It is a hint, which the central may refuse. It goes out as the link layer's procedure where both sides know
    /// that, else as L2CAP's Connection Parameter Update Request (Core 5.4, Vol 3, Part A, 4.20).
    /// - Returns: the parameters that the central has set.
    /// - Throws: `AdapterError.host(.rejectedByPeer)`, and `AdapterError.host(.notConnected)` where the link is gone.
    @discardableResult
    public func setDesiredConnectionLatency(
        _ latency: ConnectionLatency, for link: LinkID
    ) async throws(AdapterError) -> ConnectionParameters {
        guard
            case .connectionParameters(let parameters) = try await result(
                of: .updateConnectionParameters(link, latency.parameters))
        else { throw .host(.notConnected) }
        return parameters
    }

    /// Ends a central's link.
    /// - Throws: `AdapterError.host(.notConnected)`.
    public func disconnect(_ link: LinkID) async throws(AdapterError) { _ = try await result(of: .disconnect(link)) }
}
