import BLEPackets
import Testing

@testable import BLEHost

@Suite("Scanner")
struct ScannerTests {
    private func scanning(_ request: ScanRequest = ScanRequest(isActive: false)) -> HostRig {
        let rig = HostRig()
        rig.start()
        rig.submit(.radio(.scan(request)))
        rig.forget()
        return rig
    }

    private func advertisement(_ elements: [UInt8]...) -> [UInt8] {
        elements.flatMap { [UInt8($0.count)] + $0 }
    }

    @Test("40 identical packets are one discovery, a changed byte is a second (SPEC CEN-25, CEN-26, appendix B 1)")
    func deduplicates() {
        let rig = scanning()
        for _ in 0..<40 { rig.receive(HostRig.report(data: [2, 1, 6])) }
        #expect(rig.discoveries.count == 1)
        rig.receive(HostRig.report(data: [2, 1, 4]))
        #expect(rig.discoveries.count == 2)
    }

    @Test("with duplicates allowed each packet is a discovery (SPEC CEN-27, appendix B 1)")
    func duplicates() {
        let rig = scanning(ScanRequest(isActive: false, allowsDuplicates: true))
        for _ in 0..<40 { rig.receive(HostRig.report(data: [2, 1, 6])) }
        rig.receive(HostRig.report(data: [2, 1, 4]))
        #expect(rig.discoveries.count == 41)
    }

    @Test("the controller's duplicate filter stays off, since the host must see changes (SPEC 2.3)")
    func controllerFilterIsOff() {
        let rig = HostRig()
        rig.start()
        rig.submit(.radio(.scan(ScanRequest())))
        #expect(rig.commands.contains { $0.opcode == LESetScanEnable.opcode && $0.parameters == [1, 0] })
    }

    @Test("a scan response joins the advertisement that it answers: one discovery with both")
    func mergesScanResponse() throws {
        let rig = scanning(ScanRequest())
        rig.receive(HostRig.report(type: .connectableUndirected, data: [2, 1, 6]))
        #expect(rig.discoveries.isEmpty, "the scan response is awaited")
        rig.receive(HostRig.report(type: .scanResponse, data: [3, 3, 0x0D, 0x18]))
        let discovery = try #require(rig.discoveries.first)
        #expect(rig.discoveries.count == 1)
        #expect(discovery.advertisement == [2, 1, 6])
        #expect(discovery.scanResponse == [3, 3, 0x0D, 0x18])
        #expect(discovery.isConnectable)
    }

    @Test("a missing scan response delays a discovery only briefly")
    func missingScanResponse() {
        let rig = scanning(ScanRequest())
        rig.receive(HostRig.report(type: .connectableUndirected))
        rig.advance(by: .milliseconds(60))
        #expect(rig.discoveries.count == 1)
        rig.receive(HostRig.report(type: .connectableUndirected))
        rig.receive(HostRig.report(type: .scanResponse, data: [2, 0x0A, 4]))
        #expect(rig.discoveries.count == 2, "what it says is new")
    }

    @Test("two reports in one event are two discoveries (pain 16)")
    func twoReports() {
        let rig = scanning()
        rig.receive(
            LEAdvertisingReport(reports: [
                .init(eventType: .nonConnectableUndirected, address: HostRig.peer(1), data: [2, 1, 6], rssi: -40),
                .init(eventType: .nonConnectableUndirected, address: HostRig.peer(2), data: [], rssi: -41),
            ]))
        #expect(rig.discoveries.map(\.address) == [HostRig.peer(1), HostRig.peer(2)])
        #expect(rig.discoveries.map(\.rssi) == [-40, -41])
    }

    @Test("the same octets as a public and as a random address are two devices (pain 10)")
    func addressType() {
        let rig = scanning()
        rig.receive(HostRig.report(DeviceAddress(value: 1, kind: .public)))
        rig.receive(HostRig.report(DeviceAddress(value: 1, kind: .random)))
        #expect(rig.discoveries.count == 2)
    }

    @Test("a scan for services reports only devices that name one, visibly or in the overflow area (SPEC CEN-4, 3.6)")
    func serviceFilter() {
        let rig = scanning(ScanRequest(isActive: false, serviceUUIDs: [BluetoothUUID(UInt16(0xC007))]))
        rig.receive(HostRig.report(HostRig.peer(1), data: advertisement([3, 0x07, 0xC0])))
        rig.receive(HostRig.report(HostRig.peer(2), data: advertisement([3, 0x08, 0xC0])))
        let mask: [UInt8] = [0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        rig.receive(HostRig.report(HostRig.peer(3), data: advertisement([0xFF, 0x4C, 0x00, 0x01] + mask)))
        rig.receive(HostRig.report(HostRig.peer(4), data: []))
        #expect(rig.discoveries.map(\.address) == [HostRig.peer(1), HostRig.peer(3)])
    }

    @Test("a service that only the scan response names is found")
    func serviceInScanResponse() {
        let rig = scanning(ScanRequest(serviceUUIDs: [BluetoothUUID(UInt16(0x180D))]))
        rig.receive(HostRig.report(type: .connectableUndirected, data: [2, 1, 6]))
        rig.receive(HostRig.report(type: .scanResponse, data: [3, 3, 0x0D, 0x18]))
        #expect(rig.discoveries.count == 1)
    }

    @Test("filters by name, strength and address apply")
    func otherFilters() {
        let name = scanning(ScanRequest(isActive: false, name: "Fred"))
        name.receive(HostRig.report(HostRig.peer(1), data: advertisement([9] + Array("Fred".utf8))))
        name.receive(HostRig.report(HostRig.peer(2), data: advertisement([9] + Array("Frederic".utf8))))
        #expect(name.discoveries.map(\.address) == [HostRig.peer(1)])
        // Some devices fill a fixed field.
        name.receive(HostRig.report(HostRig.peer(3), data: advertisement([9] + Array("Fred\0\0".utf8))))
        name.receive(HostRig.report(HostRig.peer(4), data: advertisement([9] + Array("Fred  ".utf8))))
        name.receive(HostRig.report(HostRig.peer(5), data: advertisement([9] + Array("Fred  2".utf8))))
        name.receive(HostRig.report(HostRig.peer(6), data: advertisement([9] + Array("Fre ".utf8))))
        #expect(name.discoveries.map(\.address) == [HostRig.peer(1), HostRig.peer(3), HostRig.peer(4)])

        let strength = scanning(ScanRequest(isActive: false, minimumRSSI: -60))
        strength.receive(HostRig.report(rssi: -70))
        #expect(strength.discoveries.isEmpty)
        strength.receive(HostRig.report(rssi: -55))
        #expect(strength.discoveries.count == 1, "a device that comes nearer is heard then")

        let address = scanning(ScanRequest(isActive: false, address: HostRig.peer(3)))
        address.receive(HostRig.report(HostRig.peer(2)))
        address.receive(HostRig.report(HostRig.peer(3)))
        #expect(address.discoveries.count == 1)
    }

    @Test("each client has its own filter and its own record of what was reported")
    func severalClients() {
        let rig = HostRig()
        rig.start()
        let first = ClientID(rawValue: 1)
        let second = ClientID(rawValue: 2)
        rig.submit(.radio(.scan(ScanRequest(isActive: false))), from: first)
        rig.receive(HostRig.report())
        rig.submit(.radio(.scan(ScanRequest(isActive: false))), from: second)
        rig.receive(HostRig.report())
        #expect(rig.discoveries.map(\.client) == [first, second])
    }

    @Test("no parameter changes while scanning is on, and what is off is not switched off (pain 1)")
    func mirror() {
        let rig = HostRig()
        rig.start()
        rig.forget()
        let passive = rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        let active = rig.submit(.radio(.scan(ScanRequest(isActive: true))))
        rig.submit(.cancel(passive))
        rig.submit(.cancel(active))
        rig.submit(.cancel(active))
        var isOn = false
        for command in rig.commands {
            if command.opcode == LESetScanEnable.opcode {
                #expect(isOn != (command.parameters[0] == 1))
                isOn = command.parameters[0] == 1
            }
            if command.opcode == LESetScanParameters.opcode { #expect(!isOn) }
        }
        #expect(!isOn)
    }

    @Test("Command Disallowed is a desync: scanning is switched off and restarted, a bounded number of times (pain 1)")
    func desynchronised() {
        let rig = HostRig()
        rig.start()
        rig.answers[LESetScanParameters.opcode] = .complete([HCIStatus.commandDisallowed.rawValue])
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        #expect(rig.counters.desynchronisations == 3)
        #expect(rig.count(of: LESetScanParameters.opcode) == 3)
        rig.advance(by: .seconds(60))
        #expect(rig.results(of: scan) == [.failure(.controller(.commandDisallowed, LESetScanParameters.opcode))])
        #expect(rig.count(of: LESetScanParameters.opcode) == 15)
        rig.answers[LESetScanParameters.opcode] = nil
        rig.submit(.radio(.scan(ScanRequest())))
        rig.receive(HostRig.report(type: .nonConnectableUndirected))
        #expect(rig.discoveries.count == 1)
    }

    @Test("a silent scan is restarted, less and less often (pain 5)")
    func watchdog() {
        var configuration = HostConfiguration()
        configuration.adaptsToController = false
        let rig = HostRig(configuration: configuration)
        rig.start()
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        rig.forget()
        rig.advance(by: .seconds(11))
        #expect(rig.counters.scanRestarts == 1)
        #expect(rig.count(of: LESetScanEnable.opcode) == 2)
        rig.advance(by: .seconds(3600))
        #expect(rig.counters.scanRestarts < 20)
        rig.receive(HostRig.report())
        #expect(rig.discoveries.count == 1)
    }

    @Test("memory is bounded whatever a crowd of changing addresses does (pain 15)")
    func bounded() {
        var limits = HostLimits()
        limits.scannedDevices = 100
        let rig = HostRig(configuration: HostConfiguration(limits: limits))
        rig.start()
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        for number in 0..<10_000 { rig.receive(HostRig.report(HostRig.peer(number))) }
        #expect(rig.counters.forgottenDevices == 9_900)
        rig.forget()
        rig.receive(HostRig.report(HostRig.peer(9_999)))
        #expect(rig.discoveries.isEmpty, "the latest is still known")
        rig.receive(HostRig.report(HostRig.peer(0)))
        #expect(rig.discoveries.count == 1, "the earliest was forgotten")
    }

    @Test("a crowd of changing addresses that can be scanned: each is announced, also those that a full table forgets")
    func boundedWhileHeld() {
        var limits = HostLimits()
        limits.scannedDevices = 100
        let rig = HostRig(configuration: HostConfiguration(limits: limits))
        rig.start()
        rig.submit(.radio(.scan(ScanRequest())))
        rig.forget()
        for number in 0..<500 {
            rig.receive(HostRig.report(HostRig.peer(number), type: .connectableUndirected, data: [2, 1, 6]))
        }
        #expect(rig.discoveries.count == 400, "the last ones still wait for their scan responses")
        rig.advance(by: .seconds(1))
        #expect(rig.discoveries.map(\.address) == (0..<500).map { HostRig.peer($0) })
    }

    @Test("reports that nobody takes are dropped and counted; completions and links are kept (pain 14)")
    func lanes() {
        var host = Host()
        var events = EventQueue(discoveryLimit: 10)
        let discovery = Discovery(
            scan: OperationID(rawValue: 1), client: .local, address: nil, rssi: 0, isConnectable: false,
            isScannable: false, advertisement: [], scanResponse: [], txPower: nil, isExtended: false, time: .zero)
        for _ in 0..<100 { events.append(.discovered(discovery)) }
        events.append(.completed(OperationID(rawValue: 2), .success(.done)))
        #expect(events.droppedDiscoveries == 90)
        var last: HostEvent?
        while let event = events.popFirst() { last = event }
        #expect(last == .completed(OperationID(rawValue: 2), .success(.done)))
        host.advance(to: .zero)
    }

    @Test("extended reports: legacy and extended PDUs, data in several reports, anonymous advertisers")
    func extendedReports() throws {
        let rig = HostRig()
        rig.features = [.extendedAdvertising]
        rig.start()
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        #expect(rig.count(of: LESetExtendedScanEnable.opcode) == 1)
        #expect(rig.count(of: LESetScanEnable.opcode) == 0)
        func report(_ type: ExtendedAdvertisingEventType, _ data: [UInt8], address: ReportedAddress? = nil) {
            rig.receive(
                LEExtendedAdvertisingReport(reports: [
                    .init(
                        eventType: type, reportedAddress: address ?? ReportedAddress(HostRig.peer), primaryPHY: .le1M,
                        secondaryPHY: nil, advertisingSetIdentifier: 1, transmitPower: 127, rssi: -50,
                        periodicAdvertisingInterval: .init(rawValue: 0), directAddress: .zero, data: data)
                ]))
        }
        report([.legacy, .connectable, .scannable], [2, 1, 6])
        report([.connectable, .incompleteMoreToCome], [UInt8](repeating: 1, count: 200))
        report([.connectable], [UInt8](repeating: 2, count: 100))
        report([], [1, 2, 3], address: .anonymous)
        #expect(rig.discoveries.count == 3)
        #expect(rig.discoveries[1].advertisement.count == 300)
        #expect(rig.discoveries[1].isExtended)
        #expect(rig.discoveries[2].address == nil)
    }

    @Test("an anonymous advertisement that is too long is dropped to its end, and the next one is whole")
    func overlongAnonymous() {
        let rig = HostRig()
        rig.features = [.extendedAdvertising]
        rig.start()
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        func report(_ data: [UInt8], isLast: Bool) {
            rig.receive(
                LEExtendedAdvertisingReport(reports: [
                    .init(
                        eventType: isLast ? [] : [.incompleteMoreToCome], reportedAddress: .anonymous,
                        primaryPHY: .le1M, secondaryPHY: nil, advertisingSetIdentifier: 1, transmitPower: 127,
                        rssi: -50, periodicAdvertisingInterval: .init(rawValue: 0), directAddress: .zero, data: data)
                ]))
        }
        for _ in 0..<9 { report([UInt8](repeating: 1, count: 229), isLast: false) }
        report([3, 0xFF, 1, 2], isLast: true)
        #expect(rig.discoveries.isEmpty)
        report([2, 0xFF, 9], isLast: true)
        #expect(rig.discoveries.map(\.advertisement) == [[2, 0xFF, 9]])
    }

    @Test("endless fragments of extended data end at the maximum length")
    func endlessFragments() {
        let rig = HostRig()
        rig.features = [.extendedAdvertising]
        rig.start()
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        for _ in 0..<100 {
            rig.receive(
                LEExtendedAdvertisingReport(reports: [
                    .init(
                        eventType: [.connectable, .incompleteMoreToCome], reportedAddress: .init(HostRig.peer),
                        primaryPHY: .le1M, secondaryPHY: nil, advertisingSetIdentifier: 1, transmitPower: 127,
                        rssi: -50,
                        periodicAdvertisingInterval: .init(rawValue: 0), directAddress: .zero,
                        data: [UInt8](repeating: 0, count: 229))
                ]))
        }
        #expect(rig.discoveries.isEmpty)
    }

    @Test(
        "a scan ends with its last client, and the foreground's duty cycle applies while a foreground client is there (SPEC BGC-4)"
    )
    func duty() throws {
        let rig = HostRig()
        rig.start()
        rig.submit(.radio(.scan(ScanRequest(isActive: false, isInBackground: true))))
        let foreground = rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        rig.submit(.cancel(foreground))
        let intervals = rig.commands.filter { $0.opcode == LESetScanParameters.opcode }.map {
            UInt16($0.parameters[1]) | UInt16($0.parameters[2]) << 8
        }
        let timing = Timing.gateway
        #expect(
            intervals == [
                timing.backgroundScan.interval.rawValue, timing.foregroundScan.interval.rawValue,
                timing.backgroundScan.interval.rawValue,
            ])
        #expect(timing.backgroundScan.interval > timing.foregroundScan.interval)
    }

    @Test("joined discoveries tell the same clients the same as separate ones, with one event for a packet")
    func joinedDiscoveries() {
        let heart = BluetoothUUID(UInt16(0x180D))
        let requests = [
            ScanRequest(isActive: false, allowsDuplicates: true, serviceUUIDs: [heart]), ScanRequest(isActive: false),
            ScanRequest(isActive: false, allowsDuplicates: true, serviceUUIDs: [heart]),
            ScanRequest(isActive: false, allowsDuplicates: true, minimumRSSI: -20),
            ScanRequest(isActive: false, allowsDuplicates: true, name: "A"),
            ScanRequest(isActive: false, allowsDuplicates: true, serviceUUIDs: [heart], address: HostRig.peer(2)),
            ScanRequest(isActive: false, serviceUUIDs: [heart]),
        ]
        let (separate, joined) = (HostRig(), HostRig())
        joined.joinsDiscoveries = true
        for rig in [separate, joined] {
            rig.start()
            var scans: [OperationID] = []
            for (number, request) in requests.enumerated() {
                scans.append(rig.submit(.radio(.scan(request)), from: ClientID(rawValue: UInt32(number) + 1)))
            }
            rig.forget()
            for round in 0..<6 {
                if round == 3 { rig.submit(.cancel(scans[2])) }
                for device in 1...3 {
                    rig.receive(HostRig.report(HostRig.peer(device), data: [3, 3, 0x0D, 0x18, 2, 9, 0x41]))
                    rig.receive(HostRig.report(HostRig.peer(device), data: [2, 1, UInt8(round / 2)]))
                }
            }
        }
        #expect(separate.discoveries.allSatisfy { $0.others.isEmpty })
        let told = joined.discoveries.flatMap { discovery in discovery.seekers.map { discovery.addressed(to: $0) } }
        #expect(told == separate.discoveries)
        #expect(told.count > 2 * joined.discoveries.count)
        #expect(Set(joined.discoveries.map { $0.others.count }).count > 1)
    }

    @Test("scans that begin to want, or no longer want, what others want get what they ask for")
    func changedScans() {
        let rig = HostRig()
        rig.start()
        let (heart, battery) = (BluetoothUUID(UInt16(0x180D)), BluetoothUUID(UInt16(0x180F)))
        func request(_ service: BluetoothUUID) -> ScanRequest {
            ScanRequest(isActive: false, allowsDuplicates: true, serviceUUIDs: [service])
        }
        func hearing(_ short: UInt8) -> [UInt32] {
            rig.forget()
            rig.receive(HostRig.report(data: [3, 3, short, 0x18]))
            return rig.discoveries.map(\.client.rawValue)
        }
        let scans = ([1, 2, 3] as [UInt32]).map { client in
            rig.submit(.radio(.scan(request(heart))), from: ClientID(rawValue: client))
        }
        #expect(hearing(0x0D) == [1, 2, 3] && hearing(0x0F) == [])
        rig.submit(.radio(.changeScan(scans[1], request(battery))), from: ClientID(rawValue: 2))
        #expect(hearing(0x0D) == [1, 3] && hearing(0x0F) == [2])
        rig.submit(.radio(.changeScan(scans[0], request(battery))), from: ClientID(rawValue: 1))
        #expect(hearing(0x0D) == [3] && hearing(0x0F) == [1, 2])
        rig.submit(.radio(.changeScan(scans[1], request(heart))), from: ClientID(rawValue: 2))
        #expect(hearing(0x0D) == [2, 3] && hearing(0x0F) == [1])
    }

    @Test("names are compared by their octets, also where Unicode calls other octets equal", arguments: [false, true])
    func namesByOctets(isReversed: Bool) {
        let rig = HostRig()
        rig.start()
        // é as one scalar, and as two.
        let names = isReversed ? ["e\u{301}", "\u{E9}"] : ["\u{E9}", "e\u{301}"]
        for (number, name) in names.enumerated() {
            let request = ScanRequest(isActive: false, name: name)
            rig.submit(.radio(.scan(request)), from: ClientID(rawValue: UInt32(number) + 1))
        }
        rig.receive(HostRig.report(data: [3, 9, 0xC3, 0xA9]))
        #expect(rig.discoveries.map(\.client) == [ClientID(rawValue: isReversed ? 2 : 1)])
    }
}
