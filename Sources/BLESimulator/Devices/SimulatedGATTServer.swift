import BLEPackets

/// The attribute server of a simulated device (Core 5.4, Vol 3, Parts F and G).
///
/// It shares no code with the engine's server, so that clients can be tested against both. One PDU goes in, at most one
/// comes out; the device requests notifications.
final class SimulatedGATTServer {
    private(set) var attributes: [SimulatedAttribute]
    var characteristics: [SimulatedCharacteristic]
    private(set) var valueHandles: [UInt16]
    private var services: [SimulatedService]
    private let maximumMTU: Int
    private(set) var mtu = 23
    /// The link's key; `nil` while the link is not encrypted.
    var key: SimulatedLongTermKey?

    /// What the client has subscribed to, by characteristic: the two bits of the configuration.
    private(set) var configurations: [UInt16]
    /// Characteristics whose configuration has been written since the device last looked.
    var changedConfigurations: [Int] = []
    /// Characteristics that have been written since the device last looked.
    var writtenCharacteristics: [Int] = []
    private var preparedWrites: [(handle: UInt16, offset: Int, value: [UInt8])] = []
    private var readCounts: [Int]
    private var waitsForConfirmation = false
    private var waitingIndications = Queue<[UInt8]>()
    var statistics = SimulatedDeviceStatistics()

    /// The maximum number of prepared writes, and of octets in them.
    private static let prepareLimit = 64

    init(services: [SimulatedService], maximumMTU: Int) {
        self.services = services
        (attributes, characteristics, valueHandles) = SimulatedAttribute.table(of: services)
        self.maximumMTU = min(517, max(23, maximumMTU))
        configurations = Array(repeating: 0, count: characteristics.count)
        readCounts = Array(repeating: 0, count: characteristics.count)
        startUnconfigured()
    }

    /// Characteristics without a configuration send their values to every client.
    private func startUnconfigured() {
        for (number, characteristic) in characteristics.enumerated()
        where !characteristic.hasConfiguration && !characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
            configurations[number] = characteristic.properties.contains(.notify) ? 1 : 2
            changedConfigurations.append(number)
        }
    }

    /// Clears the state of a link; values remain.
    func linkEnded() {
        mtu = 23
        key = nil
        preparedWrites = []
        waitsForConfirmation = false
        waitingIndications.removeAll()
        for number in configurations.indices { configurations[number] = 0 }
        startUnconfigured()
        for position in attributes.indices {
            if case .configuration = attributes[position].role { attributes[position].value = [0, 0] }
        }
    }

    func restoreConfiguration(_ bits: UInt16, of number: Int) {
        configurations[number] = bits
        if let position = position(of: valueHandles[number] + 1) { attributes[position].value = bits.octets }
    }

    /// Replaces all services but the generic ones; subscriptions are cleared.
    func replaceServices(_ services: [SimulatedService]) {
        let generic = self.services.filter { [0x1800, 0x1801].contains($0.uuid.shortValue) }
        self.services = generic + services
        (attributes, characteristics, valueHandles) = SimulatedAttribute.table(of: self.services)
        configurations = Array(repeating: 0, count: characteristics.count)
        readCounts = Array(repeating: 0, count: characteristics.count)
        changedConfigurations = []
        writtenCharacteristics = []
        startUnconfigured()
    }

    // MARK: Requests

    /// - Returns: The PDU to send; `nil` for commands, confirmations and PDUs that are not for a server.
    func respond(to pdu: [UInt8]) -> [UInt8]? {
        guard let octet = pdu.first else { return nil }
        let opcode = ATTOpcode(rawValue: octet)
        switch opcode.kind {
        case .request:
            statistics.requests += 1
            switch answer(opcode, pdu) {
            case .success(let response): return response
            case .failure(let refusal):
                return [0x01, octet] + refusal.handle.octets + [refusal.error.rawValue]
            }
        case .command:
            if opcode == .writeCommand, pdu.count >= 3 { pduOfWriteCommand(pdu) }
            return nil
        case .confirmation:
            guard waitsForConfirmation else { return nil }
            waitsForConfirmation = false
            statistics.confirmations += 1
            return nextIndication()
        case .unknown:
            return opcode.isCommand ? nil : [0x01, octet, 0, 0, ATTError.requestNotSupported.rawValue]
        case .response, .notification, .indication: return nil
        }
    }

    private struct Refusal: Error {
        var error: ATTError
        var handle: UInt16 = 0
    }

    private func answer(_ opcode: ATTOpcode, _ pdu: [UInt8]) -> Result<[UInt8], Refusal> {
        var reader = PacketReader(pdu.span.bytes)
        do {
            _ = try reader.read(UInt8.self)
            switch opcode {
            case .exchangeMTURequest: return .success(try exchangeMTU(&reader))
            case .findInformationRequest: return .success(try findInformation(&reader))
            case .findByTypeValueRequest: return .success(try findByTypeValue(&reader))
            case .readByTypeRequest: return .success(try readByType(&reader))
            case .readByGroupTypeRequest: return .success(try readByGroupType(&reader))
            case .readRequest: return .success(try read(&reader))
            case .readBlobRequest: return .success(try readBlob(&reader))
            case .readMultipleRequest: return .success(try readMultiple(&reader, areCounted: false))
            case .readMultipleVariableRequest: return .success(try readMultiple(&reader, areCounted: true))
            case .writeRequest: return .success(try write(&reader))
            case .prepareWriteRequest: return .success(try prepareWrite(&reader))
            case .executeWriteRequest: return .success(try executeWrite(&reader))
            default: return .failure(Refusal(error: .requestNotSupported))
            }
        } catch let refusal as Refusal {
            return .failure(refusal)
        } catch {
            return .failure(Refusal(error: .invalidPDU))
        }
    }

    private func exchangeMTU(_ reader: inout PacketReader) throws -> [UInt8] {
        let offered = Int(try reader.read(UInt16.self))
        try reader.expectEnd()
        mtu = max(23, min(offered, maximumMTU))
        return [0x03] + UInt16(maximumMTU).octets
    }

    // MARK: Discovery

    private func range(_ reader: inout PacketReader) throws -> ArraySlice<SimulatedAttribute> {
        let first = try reader.read(UInt16.self)
        let last = try reader.read(UInt16.self)
        guard first > 0, first <= last else { throw Refusal(error: .invalidHandle, handle: first) }
        let start = attributes.firstIndex { $0.handle >= first } ?? attributes.endIndex
        let end = attributes[start...].firstIndex { $0.handle > last } ?? attributes.endIndex
        return attributes[start..<end]
    }

    private func findInformation(_ reader: inout PacketReader) throws -> [UInt8] {
        let first = try peekHandle(reader)
        let found = try range(&reader)
        try reader.expectEnd()
        guard let leader = found.first else { throw Refusal(error: .attributeNotFound, handle: first) }
        let width = leader.type.octets.count
        var response: [UInt8] = [0x05, width == 2 ? 1 : 2]
        for attribute in found {
            let octets = attribute.type.octets
            guard octets.count == width, response.count + 2 + width <= mtu else { break }
            response += attribute.handle.octets + octets
        }
        return response
    }

    private func findByTypeValue(_ reader: inout PacketReader) throws -> [UInt8] {
        let first = try peekHandle(reader)
        let found = try range(&reader)
        let type = BluetoothUUID(try reader.read(UInt16.self))
        let value = reader.readRest().copied()
        var response: [UInt8] = [0x07]
        for attribute in found where attribute.type == type && attribute.value == value {
            guard response.count + 4 <= mtu else { break }
            var end = attribute.handle
            if case .service(let last) = attribute.role { end = last }
            response += attribute.handle.octets + end.octets
        }
        guard response.count > 1 else { throw Refusal(error: .attributeNotFound, handle: first) }
        return response
    }

    private func readByType(_ reader: inout PacketReader) throws -> [UInt8] {
        let first = try peekHandle(reader)
        let found = try range(&reader)
        let type = try uuid(&reader)
        var response: [UInt8] = [0x09, 0]
        var length: Int?
        for attribute in found where attribute.type == type {
            if let error = readRefusal(attribute) {
                guard length == nil else { break }
                throw Refusal(error: error, handle: attribute.handle)
            }
            let value = Array(currentValue(of: attribute, isNewRead: true).prefix(min(mtu - 4, 253)))
            guard length == nil || length == value.count, response.count + 2 + value.count <= mtu else { break }
            length = value.count
            response += attribute.handle.octets + value
        }
        guard let length else { throw Refusal(error: .attributeNotFound, handle: first) }
        response[1] = UInt8(truncatingIfNeeded: length + 2)
        return response
    }

    private func readByGroupType(_ reader: inout PacketReader) throws -> [UInt8] {
        let first = try peekHandle(reader)
        let found = try range(&reader)
        let type = try uuid(&reader)
        guard type == SimulatedAttribute.primaryService || type == SimulatedAttribute.secondaryService else {
            throw Refusal(error: .unsupportedGroupType, handle: first)
        }
        var response: [UInt8] = [0x11, 0]
        var length: Int?
        for attribute in found where attribute.type == type {
            guard case .service(let end) = attribute.role else { continue }
            guard length == nil || length == attribute.value.count,
                response.count + 4 + attribute.value.count <= mtu
            else { break }
            length = attribute.value.count
            response += attribute.handle.octets + end.octets + attribute.value
        }
        guard let length else { throw Refusal(error: .attributeNotFound, handle: first) }
        response[1] = UInt8(truncatingIfNeeded: length + 4)
        return response
    }

    private func peekHandle(_ reader: borrowing PacketReader) throws -> UInt16 {
        var copy = copy reader
        return try copy.read(UInt16.self)
    }

    private func uuid(_ reader: inout PacketReader) throws -> BluetoothUUID {
        guard let width = BluetoothUUID.Width(rawValue: UInt8(clamping: reader.remainingCount)), width != .bits32
        else { throw Refusal(error: .invalidPDU) }
        return try BluetoothUUID(decoding: &reader, width: width)
    }

    // MARK: Reading

    private func position(of handle: UInt16) -> Int? {
        var low = 0
        var high = attributes.count
        while low < high {
            let middle = (low + high) / 2
            if attributes[middle].handle < handle { low = middle + 1 } else { high = middle }
        }
        return low < attributes.count && attributes[low].handle == handle ? low : nil
    }

    private func readRefusal(_ attribute: SimulatedAttribute) -> ATTError? {
        if let error = securityRefusal(attribute, encrypted: .readEncrypted, authenticated: .readAuthenticated) {
            return error
        }
        guard !attribute.permissions.isDisjoint(with: [.read, .readEncrypted, .readAuthenticated]) else {
            return .readNotPermitted
        }
        if case .value(let number) = attribute.role { return characteristics[number].readError }
        return nil
    }

    private func securityRefusal(
        _ attribute: SimulatedAttribute, encrypted: SimulatedPermissions, authenticated: SimulatedPermissions
    ) -> ATTError? {
        if attribute.permissions.contains(encrypted), key == nil { return .insufficientEncryption }
        let isAuthenticated = key?.isAuthenticated ?? false
        return attribute.permissions.contains(authenticated) && !isAuthenticated ? .insufficientAuthentication : nil
    }

    /// The value for a read; a value that changes with each read stays the same within a long read.
    private func currentValue(of attribute: SimulatedAttribute, isNewRead: Bool) -> [UInt8] {
        guard isNewRead, case .value(let number) = attribute.role, let give = characteristics[number].readValue else {
            return attribute.value
        }
        let value = Array(give(readCounts[number]).prefix(512))
        readCounts[number] += 1
        if let position = position(of: attribute.handle) { attributes[position].value = value }
        return value
    }

    private func readableAttribute(_ handle: UInt16) throws -> SimulatedAttribute {
        guard let position = position(of: handle) else { throw Refusal(error: .invalidHandle, handle: handle) }
        if let error = readRefusal(attributes[position]) { throw Refusal(error: error, handle: handle) }
        return attributes[position]
    }

    private func read(_ reader: inout PacketReader) throws -> [UInt8] {
        let handle = try reader.read(UInt16.self)
        try reader.expectEnd()
        let value = currentValue(of: try readableAttribute(handle), isNewRead: true)
        return [0x0B] + value.prefix(mtu - 1)
    }

    private func readBlob(_ reader: inout PacketReader) throws -> [UInt8] {
        let handle = try reader.read(UInt16.self)
        let offset = Int(try reader.read(UInt16.self))
        try reader.expectEnd()
        let value = currentValue(of: try readableAttribute(handle), isNewRead: offset == 0)
        guard offset <= value.count else { throw Refusal(error: .invalidOffset, handle: handle) }
        return [0x0D] + value.dropFirst(offset).prefix(mtu - 1)
    }

    private func readMultiple(_ reader: inout PacketReader, areCounted: Bool) throws -> [UInt8] {
        guard reader.remainingCount >= 4, reader.remainingCount % 2 == 0 else { throw Refusal(error: .invalidPDU) }
        var response: [UInt8] = [areCounted ? 0x21 : 0x0F]
        while !reader.isAtEnd {
            let value = currentValue(of: try readableAttribute(try reader.read()), isNewRead: true)
            if areCounted { response += UInt16(value.count).octets }
            response += value
        }
        return Array(response.prefix(mtu))
    }

    // MARK: Writing

    private func writeRefusal(_ position: Int, _ value: [UInt8]) -> ATTError? {
        let attribute = attributes[position]
        if let error = permissionRefusal(attribute) { return error }
        guard value.count <= attribute.maximumLength else { return .invalidAttributeValueLength }
        switch attribute.role {
        case .configuration(let number):
            guard value.count == 2 else { return .invalidAttributeValueLength }
            let bits = UInt16(value[0]) | UInt16(value[1]) << 8
            let properties = characteristics[number].properties
            let allowed: UInt16 = (properties.contains(.notify) ? 1 : 0) | (properties.contains(.indicate) ? 2 : 0)
            return bits & ~allowed == 0 ? nil : .clientCharacteristicConfigurationImproperlyConfigured
        case .value(let number): return characteristics[number].refuse?(value)
        default: return nil
        }
    }

    private func permissionRefusal(_ attribute: SimulatedAttribute) -> ATTError? {
        if let error = securityRefusal(attribute, encrypted: .writeEncrypted, authenticated: .writeAuthenticated) {
            return error
        }
        guard !attribute.permissions.isDisjoint(with: [.write, .writeEncrypted, .writeAuthenticated]) else {
            return .writeNotPermitted
        }
        if case .value(let number) = attribute.role { return characteristics[number].writeError }
        return nil
    }

    private func store(_ value: [UInt8], at position: Int) {
        attributes[position].value = value
        switch attributes[position].role {
        case .configuration(let number):
            configurations[number] = UInt16(value[0]) | UInt16(value[1]) << 8
            changedConfigurations.append(number)
        case .value(let number): writtenCharacteristics.append(number)
        default: break
        }
    }

    private func write(_ reader: inout PacketReader) throws -> [UInt8] {
        let handle = try reader.read(UInt16.self)
        let value = reader.readRest().copied()
        guard let position = position(of: handle) else { throw Refusal(error: .invalidHandle, handle: handle) }
        if let error = writeRefusal(position, value) { throw Refusal(error: error, handle: handle) }
        store(value, at: position)
        statistics.writes += 1
        return [0x13]
    }

    private func pduOfWriteCommand(_ pdu: [UInt8]) {
        let value = Array(pdu.dropFirst(3))
        guard let position = position(of: UInt16(pdu[1]) | UInt16(pdu[2]) << 8), writeRefusal(position, value) == nil
        else { return }
        store(value, at: position)
        statistics.writeCommands += 1
    }

    private func prepareWrite(_ reader: inout PacketReader) throws -> [UInt8] {
        let handle = try reader.read(UInt16.self)
        let offset = try reader.read(UInt16.self)
        let value = reader.readRest().copied()
        guard let position = position(of: handle) else { throw Refusal(error: .invalidHandle, handle: handle) }
        if let error = permissionRefusal(attributes[position]) { throw Refusal(error: error, handle: handle) }
        guard preparedWrites.count < Self.prepareLimit else {
            throw Refusal(error: .prepareQueueFull, handle: handle)
        }
        preparedWrites.append((handle, Int(offset), value))
        return [0x17] + handle.octets + offset.octets + value
    }

    private func executeWrite(_ reader: inout PacketReader) throws -> [UInt8] {
        let flags = try reader.read(UInt8.self)
        try reader.expectEnd()
        guard flags <= 1 else { throw Refusal(error: .invalidPDU) }
        let writes = preparedWrites
        preparedWrites = []
        guard flags == 1 else { return [0x19] }
        // All writes are checked before any is stored.
        var results: [(position: Int, value: [UInt8])] = []
        for write in writes {
            guard let position = position(of: write.handle) else {
                throw Refusal(error: .invalidHandle, handle: write.handle)
            }
            let earlier = results.lastIndex { $0.position == position }
            var value = earlier.map { results[$0].value } ?? attributes[position].value
            if earlier == nil, write.offset == 0 { value = [] }
            guard write.offset <= value.count else { throw Refusal(error: .invalidOffset, handle: write.handle) }
            value = value.prefix(write.offset) + write.value
            guard value.count <= attributes[position].maximumLength else {
                throw Refusal(error: .invalidAttributeValueLength, handle: write.handle)
            }
            if let earlier { results[earlier].value = value } else { results.append((position, value)) }
        }
        for result in results {
            if let error = writeRefusal(result.position, result.value) {
                throw Refusal(error: error, handle: attributes[result.position].handle)
            }
        }
        for result in results { store(result.value, at: result.position) }
        statistics.writes += results.count
        return [0x19]
    }

    // MARK: Values and subscriptions

    func number(of uuid: BluetoothUUID) -> Int? { characteristics.firstIndex { $0.uuid == uuid } }

    func value(of number: Int) -> [UInt8] { position(of: valueHandles[number]).map { attributes[$0].value } ?? [] }

    func setValue(_ value: [UInt8], of number: Int) {
        if let position = position(of: valueHandles[number]) { attributes[position].value = Array(value.prefix(512)) }
    }

    /// How long the answer to a PDU waits by the characteristic that it reads, in microseconds.
    func readDelay(of pdu: [UInt8]) -> Int64 {
        guard pdu.count >= 3, pdu[0] == ATTOpcode.readRequest.rawValue,
            let position = position(of: UInt16(pdu[1]) | UInt16(pdu[2]) << 8),
            case .value(let number) = attributes[position].role
        else { return 0 }
        return characteristics[number].readDelayMicroseconds
    }

    /// - Returns: The PDU with the value for the subscriber, if there is one and it may be sent now.
    func announcement(of value: [UInt8], from number: Int) -> [UInt8]? {
        let handle = valueHandles[number].octets
        if configurations[number] & 1 != 0 {
            statistics.notifications += 1
            return [0x1B] + handle + value.prefix(mtu - 3)
        }
        guard configurations[number] & 2 != 0, waitingIndications.count < 64 else { return nil }
        waitingIndications.append([0x1D] + handle + value.prefix(mtu - 3))
        return waitsForConfirmation ? nil : nextIndication()
    }

    private func nextIndication() -> [UInt8]? {
        guard let pdu = waitingIndications.popFirst() else { return nil }
        waitsForConfirmation = true
        statistics.indications += 1
        return pdu
    }
}
