import BLEGateway
import BLEHost
import BLEMessages
import BLEPackets

extension ProxySession {
    /// What a client asks about a device (`BluetoothDeviceRequestType`).
    private enum DeviceRequestType: UInt32 {
        case connectWithoutMode = 0
        case disconnect = 1
        case pair = 2
        case unpair = 3
        case connectWithCache = 4
        case connectWithoutCache = 5
        case clearCache = 6
    }

    /// Errors in messages that are neither ATT's nor HCI's.
    private enum NativeError {
        /// There is no link to the device.
        static let notConnected: Int64 = -1
        /// Any other cause, as ESP-IDF says it.
        static let other: Int64 = 0x85
    }

    mutating func handleBluetooth(
        _ type: MessageType, _ content: ArraySlice<UInt8>, _ now: Instant
    ) throws(MessageError) {
        switch type {
        case .subscribeAdvertisementsRequest: subscribe(true)
        case .unsubscribeAdvertisementsRequest: subscribe(false)
        case .subscribeConnectionsFreeRequest:
            wantsSlots = true
            if let slots { sendSlots(slots, now) }
        case .scannerSetModeRequest:
            let mode = try ScannerSetModeRequest(octets: content).mode
            if mode <= 1 { wish(.scan(isActive: mode == 1)) }
        case .deviceRequest: handle(try DeviceRequest(octets: content), now)
        case .getServicesRequest:
            let address = try AddressMessage(octets: content).address
            perform(.discoverServices, address, .services(address))
        case .readRequest, .readDescriptorRequest:
            let request = try HandleMessage(octets: content)
            guard let handle = handle(request.handle, of: request.address, now) else { return }
            perform(.read(handle), request.address, .read(request.address, request.handle))
        case .writeRequest:
            let request = try WriteRequest(octets: content)
            guard let handle = handle(request.handle, of: request.address, now) else { return }
            perform(
                .write(handle, request.data, withResponse: request.wantsResponse), request.address,
                .write(request.address, request.handle))
        case .writeDescriptorRequest:
            let request = try ValueMessage(octets: content)
            guard let handle = handle(request.handle, of: request.address, now) else { return }
            perform(
                .write(handle, request.content, withResponse: true), request.address,
                .write(request.address, request.handle))
        case .notifyRequest:
            let request = try NotifyRequest(octets: content)
            guard let handle = handle(request.handle, of: request.address, now) else { return }
            perform(
                request.content ? .receive(handle) : .stopReceiving(handle), request.address,
                .notify(request.address, request.handle))
        case .setConnectionParametersRequest: handle(try SetConnectionParametersRequest(octets: content), now)
        default: break
        }
    }

    private mutating func subscribe(_ wants: Bool) {
        wantsAdvertisements = wants
        wish(.subscription)
    }

    private mutating func perform(_ operation: LinkOperation, _ address: UInt64, _ pending: Pending) {
        wish(.link(.perform(operation, on: address, tag: nextTag(pending))))
    }

    /// - Returns: `nil`, after an answer, if no attribute has such a handle.
    private mutating func handle(_ number: UInt32, of address: UInt64, _ now: Instant) -> AttributeHandle? {
        if number > 0, let handle = UInt16(exactly: number) { return AttributeHandle(rawValue: handle) }
        let error = Int64(ATTError.invalidHandle.rawValue)
        send(.errorResponse, ErrorResponse(address: address, handle: number, content: error), now)
        return nil
    }

    // MARK: Devices

    private mutating func handle(_ request: DeviceRequest, _ now: Instant) {
        let address = request.address
        switch DeviceRequestType(rawValue: request.type) {
        case .connectWithCache, .connectWithoutCache:
            guard request.hasAddressType, request.addressType <= 3, address >> 48 == 0 else {
                return send(.deviceConnectionResponse, DeviceConnectionResponse(address: address), now)
            }
            devices.insert(address)
            let kind: DeviceAddress.Kind = request.addressType % 2 == 0 ? .public : .random
            wish(.link(.connect(DeviceAddress(value: address, kind: kind))))
        case .disconnect: wish(.link(.disconnect(address)))
        case .pair:
            guard description.allowsPairing else {
                let refused = Int64(HCIStatus.pairingNotAllowed.rawValue)
                return send(.pairingResponse, OutcomeResponse(address: address, error: refused), now)
            }
            perform(.pair, address, .pair(address))
        case .unpair:
            guard description.allowsPairing else {
                let refused = Int64(HCIStatus.pairingNotAllowed.rawValue)
                return send(.unpairingResponse, OutcomeResponse(address: address, error: refused), now)
            }
            wish(.link(.forgetBond(address, tag: nextTag(.unpair(address)))))
        case .clearCache:
            // The services of a device are discovered each time.
            send(.clearCacheResponse, OutcomeResponse(address: address, isSuccess: true), now)
        case .connectWithoutMode, nil:
            send(.deviceConnectionResponse, DeviceConnectionResponse(address: address), now)
        }
    }

    private mutating func handle(_ request: SetConnectionParametersRequest, _ now: Instant) {
        let (low, high) = (UInt16(exactly: request.minimumInterval), UInt16(exactly: request.maximumInterval))
        guard let low, let high, low <= high, let latency = UInt16(exactly: request.latency),
            let timeout = UInt16(exactly: request.timeout)
        else { return refuse(request, now) }
        let wanted = ConnectionParameterRequest(
            interval: ConnectionInterval(rawValue: low)...ConnectionInterval(rawValue: high),
            peripheralLatency: latency, supervisionTimeout: SupervisionTimeout(rawValue: timeout))
        guard wanted.isValid else { return refuse(request, now) }
        perform(.updateParameters(wanted), request.address, .parameters(request.address))
    }

    private mutating func refuse(_ request: SetConnectionParametersRequest, _ now: Instant) {
        let error = Int64(HCIStatus.invalidCommandParameters.rawValue)
        send(
            .setConnectionParametersResponse, SetConnectionParametersResponse(address: request.address, error: error),
            now)
    }

    // MARK: What links report

    mutating func received(_ event: LinkEvent, at now: Instant) {
        switch event {
        case .connected(let address, let mtu):
            send(
                .deviceConnectionResponse,
                DeviceConnectionResponse(address: address, isConnected: true, mtu: UInt32(clamping: mtu)), now)
        case .connectionFailed(let address, let failure):
            // Another attempt or link of this client to the device goes on.
            if failure != .inUse { devices.remove(address) }
            let error = Self.connectionError(failure)
            send(.deviceConnectionResponse, DeviceConnectionResponse(address: address, error: error), now)
        case .disconnected(let address, let reason):
            devices.remove(address)
            send(
                .deviceConnectionResponse, DeviceConnectionResponse(address: address, error: Int64(reason)), now)
        case .ended(let tag, _, let result):
            guard let pending = pending.removeValue(forKey: tag) else { return }
            end(pending, result, now)
        case .notified(let address, let handle, let value):
            send(
                .notifyDataResponse, ValueMessage(address: address, handle: UInt32(handle.rawValue), content: value),
                now)
        case .slots(let slots):
            self.slots = slots
            if wantsSlots { sendSlots(slots, now) }
        }
    }

    private mutating func sendSlots(_ slots: LinkSlots, _ now: Instant) {
        send(
            .connectionsFreeResponse,
            ConnectionsFreeResponse(
                free: UInt32(clamping: slots.free), limit: UInt32(clamping: slots.limit), allocated: slots.taken), now)
    }

    private mutating func end(_ pending: Pending, _ result: Result<LinkAnswer, LinkFailure>, _ now: Instant) {
        let failure: LinkFailure? = if case .failure(let failure) = result { failure } else { nil }
        let error = failure.map(Self.error) ?? 0
        func fail(_ address: UInt64, _ handle: UInt32) {
            send(.errorResponse, ErrorResponse(address: address, handle: handle, content: error), now)
        }
        switch pending {
        case .services(let address):
            // A link that was lost has no end of its services.
            if case .success(.services(let services)) = result {
                sendServices(services, of: address, now)
            } else {
                fail(address, 0)
            }
        case .read(let address, let handle):
            guard case .success(.value(let value)) = result else { return fail(address, handle) }
            send(.readResponse, ValueMessage(address: address, handle: handle, content: value), now)
        case .write(let address, let handle):
            guard failure == nil else { return fail(address, handle) }
            send(.writeResponse, HandleMessage(address: address, handle: handle), now)
        case .notify(let address, let handle):
            guard failure == nil else { return fail(address, handle) }
            send(.notifyResponse, HandleMessage(address: address, handle: handle), now)
        case .pair(let address):
            send(.pairingResponse, OutcomeResponse(address: address, isSuccess: failure == nil, error: error), now)
        case .unpair(let address):
            send(.unpairingResponse, OutcomeResponse(address: address, isSuccess: failure == nil, error: error), now)
        case .parameters(let address):
            send(
                .setConnectionParametersResponse, SetConnectionParametersResponse(address: address, error: error), now)
        }
    }

    private mutating func sendServices(_ services: [ServiceContents], of address: UInt64, _ now: Instant) {
        let natives = services.map { NativeService($0, isShort: knowsShortUUIDs) }
        for message in GetServicesResponse.messages(address, natives) {
            guard let content = try? message.encoded(), send(.getServicesResponse, content: content, now) else {
                // More than fits into a frame: no real device has that.
                let error = ErrorResponse(address: address, handle: 0, content: NativeError.other)
                return send(.errorResponse, error, now)
            }
        }
        send(.getServicesDoneResponse, AddressMessage(address: address), now)
    }

    // MARK: Errors

    private static func error(_ failure: LinkFailure) -> Int64 {
        switch failure {
        case .att(let code): Int64(code)
        case .notConnected, .linkLost, .cancelled: NativeError.notConnected
        case .tooManyOperations: Int64(ATTError.insufficientResources.rawValue)
        case .connectionFailed, .noSlot, .inUse, .noAdapter, .timedOut, .other: NativeError.other
        }
    }

    /// The reason of HCI for an attempt that failed.
    private static func connectionError(_ failure: LinkFailure) -> Int64 {
        switch failure {
        // Clients take this as a reason to wait for a slot.
        case .noSlot: 0
        case .connectionFailed(let code), .linkLost(let code), .att(let code): Int64(code)
        case .inUse: Int64(HCIStatus.connectionAlreadyExists.rawValue)
        case .timedOut: Int64(HCIStatus.connectionTimeout.rawValue)
        case .cancelled: Int64(SharedLinks.endedHere)
        case .noAdapter, .notConnected, .tooManyOperations, .other:
            Int64(HCIStatus.connectionFailedToBeEstablished.rawValue)
        }
    }
}
