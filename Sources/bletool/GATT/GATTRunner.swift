import BLE
import BLEJSON
import BLEScripts

/// Carries out steps over one connection and prints their results.
struct GATTRunner: Sendable {
    let peripheral: Peripheral
    let console: Console
    private let database: PeerDatabase
    private let mailbox: ValueMailbox
    /// Called for each value that was printed.
    private let arrived: (@Sendable () -> Void)?

    /// - Parameter memory: where the device's attributes are kept.
    init(
        _ peripheral: Peripheral, console: Console, memory: DatabaseMemory? = nil,
        arrived: (@Sendable () -> Void)? = nil
    ) {
        self.arrived = arrived
        self.peripheral = peripheral
        self.console = console
        database = PeerDatabase(peripheral, memory)
        mailbox = ValueMailbox(peripheral)
    }

    /// - Throws: `Failure`, or an error of the library.
    func perform(_ step: GATTStep) async throws {
        do {
            try await performOnce(step)
        } catch BLEError.att(.databaseOutOfSync, _) where !step.namesHandles {
            // The device has done nothing, and refuses only once (Core 5.4, Vol 3, Part G, 2.5.2.1).
            console.note("the device has changed its services: discovering them again")
            await database.forget()
            try await performOnce(step)
        }
    }

    private func performOnce(_ step: GATTStep) async throws {
        switch step {
        case .discover(let service): try await discover(service)
        case .read(let target, let form, let isNamed): try await read(target, form, isNamed: isNamed)
        case .readTogether(let targets, let form): try await read(together: targets, form)
        case .writeReliably(let assignments): try await write(reliably: assignments)
        case .write(let target, let value, let procedure): try await write(target, value, procedure)
        case .subscribe(let target): try await subscribe(target)
        case .wait(let count, let duration, let form): try await wait(count: count, duration: duration, form)
        }
    }

    /// Everything that the device offers, or the services of one UUID.
    func contents(of service: BluetoothUUID?) async throws -> [ServiceContents] {
        try await database.contents(of: service)
    }

    private func discover(_ service: BluetoothUUID?) async throws {
        console.showProgress("discovering …")
        defer { console.showProgress("") }
        let contents = try await database.contents(of: service)
        if let service, contents.isEmpty { throw BLEError.notFound(service) }
        let output = DatabaseOutput(contents, mtu: await peripheral.attMTU)
        console.print(output.json, text: output.text)
    }

    private func read(_ target: AttributeTarget, _ form: ValueForm?, isNamed: Bool) async throws {
        let place = try await database.place(of: target)
        print(try await peripheral.read(place.handle), of: place, form, isNamed: isNamed)
    }

    private func read(together targets: [AttributeTarget], _ form: ValueForm?) async throws {
        var places: [PeerDatabase.Place] = []
        for target in targets { places.append(try await database.place(of: target)) }
        let values = try await peripheral.read(together: places.map(\.handle))
        for (place, value) in zip(places, values) { print(value, of: place, form, isNamed: true) }
    }

    private func write(reliably assignments: [GATTStep.Assignment]) async throws {
        var writes: [AttributeWrite] = []
        for assignment in assignments {
            let place = try await database.place(of: assignment.target)
            writes.append(AttributeWrite(handle: place.handle, value: assignment.value))
        }
        try await peripheral.write(reliably: writes)
        for (assignment, write) in zip(assignments, writes) {
            let place = try await database.place(of: assignment.target)
            console.print(
                AttributeEvent.json("written", write.handle, place.uuid),
                text: "written: \(Self.bytes(write.value.count)) to "
                    + Hexadecimal.number(write.handle.rawValue, digits: 4))
        }
    }

    private static func bytes(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }

    private func print(_ value: [UInt8], of place: PeerDatabase.Place, _ form: ValueForm?, isNamed: Bool) {
        let meaning = ValueMeaning(value, uuid: place.uuid, form: form)
        let name = place.uuid?.attributeText ?? Hexadecimal.number(place.handle.rawValue, digits: 4)
        console.print(
            AttributeEvent.json("value", place.handle, place.uuid, meaning: meaning),
            text: isNamed ? "\(name)  \(meaning.text)" : meaning.text)
    }

    private func write(
        _ target: AttributeTarget, _ value: [UInt8], _ procedure: GATTStep.WriteProcedure
    ) async throws {
        let place = try await database.place(of: target)
        // A characteristic with write commands only would refuse a request.
        let takesCommandsOnly = place.characteristic.map {
            $0.properties.contains(.writeWithoutResponse) && !$0.properties.contains(.write)
        }
        console.showProgress("writing \(value.count) bytes …")
        defer { console.showProgress("") }
        let isCommand = procedure == .confirmed && takesCommandsOnly == true
        try await peripheral.write(value, to: place.handle, isCommand ? .withoutResponse : procedure)
        console.print(
            AttributeEvent.json("written", place.handle, place.uuid),
            text: "written: \(Self.bytes(value.count)) to \(Hexadecimal.number(place.handle.rawValue, digits: 4))")
    }

    private func subscribe(_ target: AttributeTarget) async throws {
        try await subscribe(to: database.characteristic(at: target))
        await mailbox.watchChanges(of: peripheral)
    }

    private func subscribe(to characteristic: Characteristic) async throws {
        // A second subscription would deliver each value twice.
        var isUnconfigured = false
        if await !mailbox.collects(characteristic) {
            let (notifications, remark) = try await database.subscribe(to: characteristic)
            isUnconfigured = remark != nil
            if let remark { console.note(remark) }
            await mailbox.collect(notifications, of: characteristic)
        }
        let event = AttributeEvent.json("subscribed", characteristic.valueHandle, characteristic.uuid)
        console.print(
            isUnconfigured ? event.adding("configured", .boolean(false)) : event,
            text: "subscribed to \(characteristic.uuid.attributeText)")
    }

    /// Takes nothing more of what the device sends of a characteristic.
    func unsubscribe(_ target: AttributeTarget) async throws {
        let characteristic = try await database.characteristic(at: target)
        guard await mailbox.drop(characteristic) else {
            throw Failure("there is no subscription to \(characteristic.uuid.attributeText)", code: .notSubscribable)
        }
        console.print(
            AttributeEvent.json("unsubscribed", characteristic.valueHandle, characteristic.uuid),
            text: "unsubscribed from \(characteristic.uuid.attributeText)")
    }

    /// The device has changed its services: what was subscribed to is sought again, since it may stand elsewhere now.
    private func renew(_ old: Characteristic) async throws {
        console.note("the device has changed its services: subscribing to \(old.uuid.attributeText) again")
        guard let found = try await database.again(old) else {
            throw Failure("the device has changed its services and no longer has \(old.uuid.attributeText)")
        }
        try await subscribe(to: found)
    }

    private func wait(count: Int?, duration: Duration?, _ form: ValueForm?) async throws {
        let (console, arrived) = (console, arrived)
        try await mailbox.wait(count: count, duration: duration, renew: renew) { arrival in
            let name = arrival.value.isIndication ? "indicated" : "notified"
            let characteristic = arrival.characteristic
            let meaning = ValueMeaning(arrival.value.bytes, uuid: characteristic.uuid, form: form)
            console.print(
                AttributeEvent.json(name, characteristic.valueHandle, characteristic.uuid, meaning: meaning),
                text: "\(characteristic.uuid.attributeText) \(name) \(meaning.text)")
            arrived?()
        }
    }
}
