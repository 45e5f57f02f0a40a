import BLEHost
import BLEPackets

/// The peripheral role: services that centrals use, and the advertising by which they find this device.
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
    /// Starts collecting events of the peripheral role. Create the sequence before you advertise, or you miss the first
    /// events.
    ///
    /// Events that are not consumed in time are dropped, oldest first, and counted, unless they need an answer.
    public func serverEvents() -> ServerEvents {
        let (events, source) = ServerEvents.make()
        let token = addServerObserver(source)
        source.continuation.onTermination = { _ in Task { await self.removeServerObserver(token) } }
        return events
    }

    /// Adds a service to the local database; it cannot be changed afterwards (SPEC PER-6, PER-7).
    /// - Throws: `BLEError.publishing` with the reason.
    public func publish(_ service: GATTServiceDefinition) async throws -> GATTPublishedService {
        try await answer(to: .publish(service))
    }

    /// Removes a service from the local database and notifies centrals.
    /// - Parameter handle: the first handle of the service.
    /// - Throws: `BLEError.publishing`.
    public func removeService(_ handle: AttributeHandle) async throws {
        _ = try await result(of: .server(.removeService(handle)))
    }

    /// Changes the device name in the Generic Access service; cut at 248 octets.
    public func setDeviceName(_ name: String) async { _ = await perform(.server(.setDeviceName(name))) }

    /// Answers a request of a central: each needs exactly one answer, within 30 s (SPEC PER-16).
    /// - Returns: `false` if the answer came too late or for the second time.
    @discardableResult
    public func respond(to question: GATTRequestID, with answer: GATTAnswer) async -> Bool {
        (try? await self.answer(to: .respond(to: question, with: answer))) ?? false
    }

    /// Sends a value to the centrals that subscribed to it (SPEC PER-21). It is cut to MTU − 3 octets.
    /// - Parameter links: only these; `nil` for all.
    /// - Returns: `false` if the queue is full; `GATTServerEvent.readyToUpdate` reports once when there is room again
    ///   (SPEC PER-22).
    @discardableResult
    public func updateValue(_ value: [UInt8], of handle: AttributeHandle, to links: [LinkID]? = nil) async -> Bool {
        (try? await answer(to: .updateValue(value, of: handle, to: links))) ?? false
    }

    /// Advertises until the task is cancelled (SPEC PER-11, PER-12).
    ///
    /// Returns when a central connects, if the request says that advertising ends then.
    ///
    /// To advertise to one bonded device only:
    ///
    ///     try await adapter.advertise(
    ///         AdvertiseRequest(
    ///             .packed(localName: nil, serviceUUIDs: []),
    ///             target: AdvertisingTarget(peer: bond.identity, form: .highDutyCycle)))
    /// - Throws: `CancellationError` when the task was cancelled, `BLEError.connectionFailed`
    ///   when directed advertising at the high duty cycle got no response, or the controller's error.
    public func advertise(_ request: AdvertiseRequest) async throws {
        _ = try await result(of: .radio(.advertise(request)))
    }

    /// Asks a central for lower latency or for less energy (SPEC 2.4).
    ///
    /// The central may refuse it. If both sides support the link layer's procedure, that is used, otherwise L2CAP's
    /// Connection Parameter Update Request (Core 5.4, Vol 3, Part A, 4.20).
    /// - Returns: the parameters that the central has set.
    /// - Throws: `BLEError.parametersRejected`, and `BLEError.notConnected` if the link is gone.
    @discardableResult
    public func setDesiredConnectionLatency(
        _ latency: ConnectionLatency, for link: LinkID
    ) async throws -> ConnectionParameters {
        try await answer(to: .updateParameters(latency.parameters, on: link))
    }

    /// Asks a central that the link uses a share of its connection events only (Core 5.4, Vol 6, Part B, 5.1.19).
    /// - Returns: what both sides agreed on.
    /// - Throws: `BLEError.controllerRefused` if it is not possible or the central does not accept it.
    @discardableResult
    public func setSubrate(_ parameters: SubrateParameters, for link: LinkID) async throws -> LinkSubrate {
        try await answer(to: .setSubrate(parameters, on: link))
    }

    /// Disconnects a central.
    /// - Throws: `BLEError.notConnected`.
    public func disconnect(_ link: LinkID) async throws {
        _ = try await result(of: .link(link, .disconnect))
    }
}
