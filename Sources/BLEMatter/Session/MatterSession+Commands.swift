import BLEGateway
import BLEHost
import BLEJSON
import BLEPackets

/// The commands of a link: one after the other, each in steps.
extension MatterSession {
    mutating func add(_ command: MatterLink.Command, _ index: Int) {
        guard links[index].commands.count < limits.commands else {
            fail(command.id, MatterFailure(.internalError, "too many commands wait on the link"))
            if command.id == nil { drop(index, "too many values wait") }
            return
        }
        links[index].commands.append(command)
        if links[index].commands.count == 1 { begin(index) }
    }

    /// Ends a link whose conversation has a gap, which only a new one repairs.
    private mutating func drop(_ index: Int, _ reason: String) {
        report(
            "disconnected", ["connection_handle": .integer(Int(links[index].handle)), "reason": .string(reason)])
        disconnect(index, .ending(nil))
    }

    /// Begins the first command.
    private mutating func begin(_ index: Int) {
        while let command = links[index].commands.first, links[index].step == nil {
            guard case .connected(let attMTU) = links[index].phase else {
                end(index, .failure(MatterFailure(.notConnected, "the link ends")))
                continue
            }
            if links[index].services == nil, command.content.needsServices {
                perform(.discoverServices, .discovering, index)
                continue
            }
            do throws(MatterFailure) {
                if let result = try firstStep(of: command.content, index, attMTU) { end(index, .success(result)) }
            } catch {
                end(index, .failure(error))
            }
        }
    }

    /// - Returns: the result, if nothing has to be done for it.
    private mutating func firstStep(
        of command: MatterCommand.LinkCommand, _ index: Int, _ attMTU: Int
    ) throws(MatterFailure) -> JSONValue? {
        let link = links[index]
        switch command {
        case .disconnect: return [:]
        case .services: perform(.discoverServices, .discovering, index)
        case .characteristics(let uuid): return try Self.characteristics(of: uuid, link)
        case .read(let uuid): perform(.read(try link.characteristic(uuid).characteristic.valueHandle), .reading, index)
        case .write(let content): try write(content, index)
        case .subscribe(let uuid): receive(try link.subscription(to: uuid), index)
        case .writeAndSubscribe(let content, let uuid):
            _ = try link.subscription(to: uuid)
            try write(content, index)
        case .unsubscribe(let uuid):
            let handle = try link.characteristic(uuid).characteristic.valueHandle
            guard let subscription = link.subscriptions.first(where: { $0.value == handle }) else {
                throw MatterFailure(.notSubscribed, "there is no subscription to \(uuid.matterText)")
            }
            perform(
                .write(subscription.configuration, [0, 0], withResponse: true), .unsubscribing(handle), index)
        // It is exchanged once, when the link begins (Core 5.4, Vol 3, Part F, 3.4.2.1).
        case .requestMTU: return ["mtu": .integer(attMTU)]
        case .data(let value):
            guard let target = link.target else {
                throw MatterFailure(.writeFailed, "no characteristic was written before")
            }
            perform(.write(target, value, withResponse: true), .writing, index)
        }
        return nil
    }

    private mutating func write(_ content: MatterWrite, _ index: Int) throws(MatterFailure) {
        let handle = try links[index].characteristic(content.characteristic).characteristic.valueHandle
        perform(.write(handle, content.value, withResponse: content.withResponse), .writing, index)
    }

    private mutating func receive(_ subscription: MatterLink.Subscription, _ index: Int) {
        perform(.receive(subscription.value), .receiving(subscription), index)
    }

    private mutating func perform(_ operation: LinkOperation, _ step: MatterLink.Step, _ index: Int) {
        let tag = nextTag()
        links[index].step = (step, tag)
        emit(.link(.perform(operation, on: links[index].peer.value, tag: tag)))
    }

    /// The first command has ended.
    private mutating func end(_ index: Int, _ result: Result<JSONValue, MatterFailure>) {
        links[index].step = nil
        let command = links[index].commands.removeFirst()
        switch result {
        case .success(let value): succeed(command.id, value)
        case .failure(let failure):
            fail(command.id, failure)
            guard command.id == nil, links[index].isConnected else { return }
            drop(index, "a value could not be written: \(failure.message)")
        }
    }

    /// The operation for the first command has ended.
    mutating func finished(_ index: Int, _ result: Result<LinkAnswer, LinkFailure>) {
        guard let step = links[index].step?.content, let command = links[index].commands.first else { return }
        links[index].step = nil
        switch result {
        case .success(let answer):
            if let value = nextStep(step, answer, of: command.content, index) { end(index, .success(value)) }
        case .failure(let failure):
            if case .configuring(let subscription) = step { forget(subscription.value, index) }
            end(index, .failure(MatterFailure(step.word, failure)))
        }
        begin(index)
    }

    /// - Returns: the result, if this was the last step.
    private mutating func nextStep(
        _ step: MatterLink.Step, _ answer: LinkAnswer, of command: MatterCommand.LinkCommand, _ index: Int
    ) -> JSONValue? {
        switch (step, answer) {
        case (.discovering, .services(let services)):
            links[index].services = services
            guard command == .services else { return nil }
            return ["services": .array(services.map { ["uuid": .string($0.service.uuid.matterText)] })]
        case (.reading, .value(let value)): return ["value": .string(Base64.text(of: value))]
        case (.writing, _):
            if let written = command.write?.characteristic {
                links[index].target = try? links[index].characteristic(written).characteristic.valueHandle
            }
            // What was to be subscribed was looked up before the write.
            guard case .writeAndSubscribe(_, let uuid) = command,
                let subscription = try? links[index].subscription(to: uuid)
            else { return [:] }
            receive(subscription, index)
            return nil
        case (.receiving(let subscription), _):
            // The first value may come before the answer to the configuration.
            forget(subscription.value, index, stops: false)
            links[index].subscriptions.append(subscription)
            links[index].latest = subscription.value
            let mode = subscription.mode.rawValue
            perform(
                .write(
                    subscription.configuration, [UInt8(mode & 0xFF), UInt8(mode >> 8)], withResponse: true),
                .configuring(subscription), index)
            return nil
        case (.unsubscribing(let handle), _):
            forget(handle, index)
            return [:]
        default: return [:]
        }
    }

    /// - Parameter stops: whether values are no longer to be received.
    private mutating func forget(_ handle: AttributeHandle, _ index: Int, stops: Bool = true) {
        links[index].subscriptions.removeAll { $0.value == handle }
        if links[index].latest == handle { links[index].latest = links[index].subscriptions.last?.value }
        // Nobody waits for its end.
        guard stops else { return }
        emit(.link(.perform(.stopReceiving(handle), on: links[index].peer.value, tag: nextTag())))
    }

    private static func characteristics(
        of uuid: BluetoothUUID, _ link: MatterLink
    ) throws(MatterFailure) -> JSONValue {
        guard let service = link.services?.first(where: { $0.service.uuid == uuid }) else {
            throw MatterFailure(.serviceNotFound, "the device has no service \(uuid.matterText)")
        }
        let characteristics = service.characteristics.map { found -> JSONValue in
            let properties = found.characteristic.properties
            let names = CharacteristicProperties.matterNames.filter { properties.contains($0.property) }
            return [
                "uuid": .string(found.characteristic.uuid.matterText), "properties": JSONValue(names.map(\.name)),
            ]
        }
        return ["characteristics": .array(characteristics)]
    }
}

extension MatterCommand.LinkCommand {
    fileprivate var write: MatterWrite? {
        switch self {
        case .write(let write), .writeAndSubscribe(let write, _): write
        default: nil
        }
    }

    fileprivate var needsServices: Bool {
        switch self {
        case .disconnect, .services, .requestMTU, .data: false
        case .characteristics, .read, .write, .subscribe, .writeAndSubscribe, .unsubscribe: true
        }
    }
}

extension MatterLink.Step {
    /// What is said if it fails.
    fileprivate var word: MatterFailure.Word {
        switch self {
        case .discovering: .discoveryFailed
        case .reading: .readFailed
        case .writing: .writeFailed
        case .receiving, .configuring: .subscribeFailed
        case .unsubscribing: .internalError
        }
    }
}

extension CharacteristicProperties {
    fileprivate static let matterNames: [(property: Self, name: String)] = [
        (.read, "read"), (.write, "write"), (.writeWithoutResponse, "write-without-response"), (.notify, "notify"),
        (.indicate, "indicate"),
    ]
}
