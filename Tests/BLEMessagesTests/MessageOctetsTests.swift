import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import MessageDrawing
import Testing

@Suite("Messages and their octets")
struct MessageOctetsTests {
    private static let rounds = 500

    /// Values that `Message.drawn` makes of pseudorandom octets.
    private static func drawn<M: Message>(_: M.Type) -> [M] {
        var state: UInt64 = 1
        var messages: [M] = []
        for round in 0..<rounds {
            let octets = (0..<(100 + round % 900)).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
            if let message = try? M.drawn(from: octets[...]) { messages.append(message) }
        }
        return messages
    }

    /// The octets of each field, with its key.
    private static func fields(_ octets: [UInt8]) -> [[UInt8]] {
        var (fields, at): ([[UInt8]], Int) = ([], 0)
        func varint() -> Int {
            var (number, shift) = (0, 0)
            repeat {
                number |= Int(octets[at] & 0x7F) << shift
                shift += 7
                at += 1
            } while octets[at - 1] > 0x7F
            return number
        }
        while at < octets.count {
            let begin = at
            switch varint() & 7 {
            case 1: at += 8
            case 2:
                let count = varint()
                at += count
            default: _ = varint()
            }
            fields.append(Array(octets[begin..<at]))
        }
        return fields
    }

    /// - Parameter isOneChoice: whether the message is nothing but a choice.
    private func expectSame<M: Message>(_: M.Type) throws {
        var count = 0
        for message in Self.drawn(M.self) {
            guard let octets = try? message.encoded() else { continue }
            #expect(try M(octets: octets[...]).encoded() == octets, "\(message)")
            // Fields of a newer version are skipped, wherever they are; and the order is free.
            let unknown: [[UInt8]] = [[0xC0, 0xBB, 0x01, 0x05], [0xCA, 0xBB, 0x01, 0x02, 0x01, 0x02]]
            let fields = Self.fields(octets)
            #expect(try M(octets: (fields + unknown).flatMap(\.self)[...]).encoded() == octets, "\(message)")
            // Of a list the order means something.
            if Set(fields.map { $0.first }).count == fields.count {
                let turned = (unknown + fields).reversed().flatMap(\.self)
                #expect(try M(octets: turned[...]).encoded() == octets, "\(message)")
                // Numbers that no field has may be there twice.
                let small: [[UInt8]] = [[0xF8, 0x07, 0x01], [0xC0, 0x07, 0x01], [0xC0, 0x07, 0x02]]
                let noisy = (small + fields + unknown + small).flatMap(\.self)
                #expect(try M(octets: noisy[...]).encoded() == octets, "\(message)")
            }
            for length in stride(from: 0, to: octets.count, by: 1 + octets.count / 40) {
                // It ends between two fields, or is refused.
                guard let cut = try? M(octets: octets[..<length]) else { continue }
                _ = try? cut.encoded()
            }
            count += 1
        }
        #expect(count > Self.rounds / 3, "\(M.self)")
    }

    @Test("a message of many unknown fields without order is read, at each level")
    func many() throws {
        let connect = ConnectRequest(peer: .blank, establishmentRetries: 3)
        var octets = try connect.encoded()
        for _ in 0..<6 {
            let noise = [[UInt8]](repeating: [0xC0, 0x07, 0x01, 0xF8, 0x07, 0x01], count: 5_000).flatMap(\.self)
            octets = noise + octets + [0xC0, 0x07, 0x01]
            #expect(try ConnectRequest(octets: octets[...]).encoded() == connect.encoded())
        }
    }

    @Test("of several cases of a choice the last one counts, in whatever order of numbers")
    func lastCase() throws {
        let (status, bonds, reset): ([UInt8], [UInt8], [UInt8]) = ([0x3A, 0], [0x6A, 0], [0x92, 0x01, 0])
        let orders = [
            [status, reset], [reset, status], [reset, bonds, status], [bonds, reset, status],
            [status, reset, bonds, status],
        ]
        for cases in orders {
            let octets = cases.flatMap(\.self)
            #expect(try OperatorRequest(octets: octets[...]).encoded() == cases.last, "\(cases)")
        }
    }

    @Test("what is wrong behind a message without order ends the reading")
    func wrongBehind() throws {
        // A peer with its kind before its value, and half a key.
        #expect(throws: MessageError.self) { try ConnectRequest(octets: [0x0A, 4, 0x10, 0, 0x08, 5, 0x80]) }
    }

    @Test("those of programs are read as they were written, with unknown fields, in any order, and cut anywhere")
    func programs() throws {
        try expectSame(FromClient.self)
        try expectSame(Greeting.self)
        try expectSame(ToolRequest.self)
        try expectSame(AppRequest.self)
        try expectSame(OperatorRequest.self)
    }

    @Test("those of the daemon are read as they were written, with unknown fields, in any order, and cut anywhere")
    func daemon() throws {
        try expectSame(FromDaemon.self)
        try expectSame(Welcome.self)
        try expectSame(AppEvent.self)
        try expectSame(AppNotice.self)
        try expectSame(AppPairing.self)
        try expectSame(Completion.self)
        try expectSame(OperatorAnswer.self)
        try expectSame(OperatorAlert.self)
        try expectSame(DaemonStatus.self)
        try expectSame(DaemonStatus.Adapter.self)
        try expectSame(DaemonStatus.Wanted.self)
        try expectSame(AppStatus.self)
    }

    @Test("what a newer version says is skipped where it may be, and refused where it means something")
    func newer() throws {
        let unknown: [UInt8] = [0xC2, 0xBB, 0x01, 0x00]
        #expect(try FromDaemon(octets: unknown[...]) == .unknown)
        #expect(try AppNotice(octets: unknown[...]) == .unknown)
        #expect(try OperatorRequest(octets: unknown[...]) == .unknown)
        #expect(throws: MessageError.invalidField) { try FromClient(octets: unknown[...]) }
        let event = try AppEvent(octets: ([0x08, 0x07] + unknown)[...])
        #expect(event == AppEvent(nil, to: ManagerID(rawValue: 7)))
        // Of a peripheral, and of a channel.
        let peer: [UInt8] = [0x0A, 16] + [UInt8](repeating: 1, count: 16)
        for content in [[0x6A, 22] + peer + unknown, [0xCA, 0x01, 6, 0x08, 0x01] + unknown] as [[UInt8]] {
            #expect(try AppEvent(octets: ([0x08, 0x07] + content)[...]) == event)
        }
        // Work of a newer daemon is left out.
        let wanted = try DaemonStatus.Adapter(octets: ([0x3A, 4] + unknown + [0x48, 3])[...])
        #expect(wanted.wanted.isEmpty && wanted.bonds == 3)
    }

    @Test("an alert of a kind that a newer daemon has is none to an app, and a connection to an operator")
    func alertsOfNewerDaemon() throws {
        let newer: [UInt8] = [0x08, 99]
        #expect(try AppNotice(octets: ([0x1A, 2] + newer)[...]) == .unknown)
        #expect(try AppNotice(octets: [0x1A, 0]) == .unknown)
        let alert = Alert(id: AlertID(rawValue: 7), app: AppID(rawValue: "a"), kind: .connection, peripheral: nil)
        let told = try OperatorAlert(octets: ([0x08, 7, 0x12, 1, UInt8(ascii: "a"), 0x1A, 2] + newer)[...])
        #expect(told == OperatorAlert(alert))
        for kind in Alert.Kind.allCases {
            let known = AppNotice.alert(
                Alert(id: AlertID(rawValue: 0), app: AppID(rawValue: ""), kind: kind, peripheral: nil))
            #expect(try AppNotice(octets: known.encoded()[...]) == known)
        }
    }

    @Test(
        "an operator's request with a value that its field cannot have has an error as its answer",
        arguments: [
            // An address of more than 48 bits, one of a kind that there is not, and the number of an alert.
            [0x42, 13, 0x72, 11, 0x09, 0, 0, 0, 0, 0, 0, 1, 0, 0x10, 0], [0x42, 4, 0x72, 2, 0x10, 9],
            [0x42, 8, 0x52, 6, 0x08, 0x80, 0x80, 0x80, 0x80, 0x10],
            // A text that is not UTF-8.
            [0x42, 3, 0x12, 1, 0xFF],
        ] as [[UInt8]])
    func valuesOfOperators(octets: [UInt8]) throws {
        #expect(try FromClient(octets: octets[...]) == .operatorRequest(.unknown))
        // Octets that are no message end the connection all the same.
        #expect(throws: MessageError.malformed) { try FromClient(octets: octets.dropLast()) }
    }

    @Test("the handle of a tool's request is refused if no attribute can have it")
    func valuesOfTools() {
        #expect(throws: MessageError.invalidField) {
            try FromClient(octets: [0x12, 8, 0x08, 1, 0x3A, 4, 0x40, 0x80, 0x80, 0x04])
        }
    }

    @Test("an app stays where it is if a newer version of it names another place")
    func placesOfNewerApps() throws {
        for place in [[9], [0xAC, 2]] as [[UInt8]] {
            let content = [0x08] + place + [0x10, 3]
            let octets = [0x2A, UInt8(content.count)] + content
            #expect(try FromClient(octets: octets[...]) == .appMove(nil, tasks: 3))
        }
    }

    @Test("a pairing that failed for a newer daemon's reason has failed")
    func reasonsOfNewerDaemon() throws {
        let octets: [UInt8] = [0x72, 13, 0x09, 1, 0, 0, 0, 0, 0, 0, 0, 0x32, 2, 0x08, 0x7F]
        guard case .event(.pairing(_, .failed(.notAvailable))) = try FromDaemon(octets: octets[...]) else {
            Issue.record("another event")
            return
        }
    }

    @Test("a discovery of an app may have more services than a request may name")
    func manyServices() throws {
        let services = (0..<825).map { BluetoothUUID(UInt16($0)) }
        var content = AdvertisementContent()
        content.serviceUUIDs = services
        content.overflowServiceUUIDs = services
        content.solicitedServiceUUIDs = services
        let peer = PeripheralDescription(identifier: PeerIdentifier(high: 1, low: 2))
        let event = FromDaemon.appEvent(AppEvent(.discovered(peer, content, rssi: -40), to: ManagerID(rawValue: 1)))
        #expect(try FromDaemon(octets: event.encoded()[...]) == event)
        let scan = FromClient.request(
            ToolRequest(OperationID(rawValue: 1), .host(.radio(.scan(ScanRequest(serviceUUIDs: services))))))
        #expect(throws: MessageError.invalidField) { try FromClient(octets: scan.encoded()[...]) }
    }
}
