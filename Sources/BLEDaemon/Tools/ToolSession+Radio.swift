import BLEHost
import BLEMessages
import BLEPackets

/// Tools at the radio: each command is checked to be about what is the client's own.
extension ToolSession {
    mutating func receive(_ command: RadioCommand, _ number: OperationID) {
        switch command {
        case .scan:
            guard radio.scans.count < limits.scans else { return complete(number, .failure(.limitReached)) }
            radio.scans(number)
            submit(.radio(command), number)
        case .connect: submit(.radio(command), number)
        case .changeScan(let target, let change):
            submit(number, for: target) { .radio(.changeScan($0, change)) }
        case .advertise: advertise(.radio(command), number)
        case .changeAdvertising(let target, let change):
            submit(number, for: target) { .radio(.changeAdvertising($0, change)) }
        case .advertiseSet:
            guard radio.sets.count < limits.sets else { return complete(number, .failure(.limitReached)) }
            // Centrals connect by sets, too.
            beginServing()
            radio.advertisesSet(number)
            submit(.radio(command), number)
        case .changeAdvertisingSet(let target, let change):
            submit(number, for: target) { .radio(.changeAdvertisingSet($0, change)) }
        case .followPeriodicAdvertising(let request):
            guard radio.trains.count < limits.trains, request.advertisers.count <= ToolRadio.advertisersOfTrain else {
                return complete(number, .failure(.limitReached))
            }
            radio.follows(number)
            submit(.radio(command), number)
        case .receivePeriodicSyncs(let link, _):
            guard holds(link) else { return complete(number, .failure(.notConnected)) }
            guard radio.trains.count < limits.trains else { return complete(number, .failure(.limitReached)) }
            radio.follows(number)
            submit(.radio(command), number)
        case .transferPeriodicSync(let target, let link, let serviceData):
            guard holds(link) else { return complete(number, .failure(.notConnected)) }
            guard radio.sets.contains(target) || radio.trains.contains(target) else {
                return complete(number, .failure(.invalidRequest(.train)))
            }
            submit(number, for: target) { .radio(.transferPeriodicSync($0, to: link, serviceData: serviceData)) }
        case .classifyChannels:
            // Every link of the controller has to do with what is left.
            guard isOperator else { return complete(number, .failure(.invalidRequest(.notPermitted))) }
            submit(.radio(command), number)
        case .sendSubevents(let subevents, let target):
            guard radio.sets.contains(target) else { return complete(number, .failure(.invalidRequest(.subevents))) }
            submit(number, for: target) { .radio(.sendSubevents(subevents, of: $0)) }
        case .respondInPeriodicAdvertising(let response, let target):
            guard radio.trains.contains(target) else {
                return complete(number, .failure(.invalidRequest(.subevents)))
            }
            submit(number, for: target) { .radio(.respondInPeriodicAdvertising(response, in: $0)) }
        }
    }

    /// Submits a command about an operation of the client, which still runs.
    private mutating func submit(
        _ number: OperationID, for target: OperationID, _ command: (OperationID) -> HostCommand
    ) {
        guard let operation = operation(of: target) else { return complete(number, .failure(.cancelled)) }
        submit(command(operation), number)
    }

    // MARK: The controller

    /// A command for the controller: only one that asks and changes nothing, because the engine would not know of the
    /// change. What may name a link of another client is for operators.
    mutating func askController(_ opcode: HCIOpcode, _ parameters: [UInt8], _ number: OperationID) {
        guard Self.isQuestion(opcode) else {
            return complete(number, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
        let isAboutLinks = !parameters.isEmpty || opcode.rawValue >> 10 == Self.statusGroup
        guard isOperator || !isAboutLinks else {
            return complete(number, .failure(.invalidRequest(.notPermitted)))
        }
        submit(.sendHCICommand(opcode: opcode, parameters: parameters), number)
    }

    private static let informationalGroup: UInt16 = 0x04
    private static let statusGroup: UInt16 = 0x05
    private static let controllerGroup: UInt16 = 0x08

    /// The commands of LE that only ask (Core 5.4, Vol 4, Part E, 7.8).
    private static let leQuestions: Set<UInt16> = [
        0x0002, 0x0003, 0x0007, 0x000F, 0x0015, 0x0017, 0x0018, 0x001C, 0x0023, 0x002A, 0x002F, 0x0030, 0x003A, 0x003B,
        0x004A, 0x004B, 0x004C, 0x0058, 0x0060, 0x0076,
    ]

    private static func isQuestion(_ opcode: HCIOpcode) -> Bool {
        switch opcode.rawValue >> 10 {
        case informationalGroup, statusGroup: true
        case controllerGroup: leQuestions.contains(opcode.rawValue & 0x3FF)
        default: false
        }
    }

    // MARK: From the engine

    /// - Parameter isSlow: whether the client reads too slowly for what nobody waits for.
    mutating func hear(_ event: AdvertisingSetEvent, of operation: OperationID, isSlow: Bool) {
        guard let number = number(of: operation) else { return }
        switch event {
        // Data that a slow client sent now would come too late, too.
        case .dataRequested, .response: if isSlow { return radio.drop(of: number) }
        case .started, .stopped, .connected: break
        }
        send(.advertisingSet(number, event, dropped: radio.takeDropped(of: number)))
    }

    /// - Parameter isSlow: whether the client reads too slowly for what nobody waits for.
    mutating func hear(_ event: PeriodicSyncEvent, of operation: OperationID, isSlow: Bool) {
        guard let number = number(of: operation) else { return }
        if isSlow, case .report = event { return radio.drop(of: number) }
        send(.train(number, event, dropped: radio.takeDropped(of: number)))
    }
}
