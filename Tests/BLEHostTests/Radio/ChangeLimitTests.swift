import BLEPackets
import Testing

@testable import BLEHost

/// Clients whose wishes change faster than the controller should follow.
@Suite("Wishes that toggle")
struct ChangeLimitTests {
    private let other = ClientID(rawValue: 2)

    private func started(_ features: LEFeatures = [.encryption]) -> HostRig {
        let rig = HostRig()
        rig.features = features
        rig.start()
        rig.forget()
        return rig
    }

    /// A hundred times in a second, for ten seconds.
    private func toggle(_ rig: HostRig, _ body: (Int) -> Void) -> Int {
        rig.forget()
        for count in 0..<1000 {
            body(count)
            rig.advance(by: .milliseconds(10))
        }
        return rig.commands.count
    }

    @Test("a scan that toggles beside another one costs few commands, and the other one goes on")
    func activeAndPassive() {
        let rig = started()
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        let scan = rig.submit(.radio(.scan(ScanRequest(isActive: true))), from: other)
        let count = toggle(rig) {
            rig.submit(.radio(.changeScan(scan, ScanRequest(isActive: $0 % 2 == 0))), from: other)
        }
        #expect(count <= 3 * 2 * (16 + 20), "\(count)")
        // What is on is enough for both.
        rig.forget()
        rig.submit(.radio(.changeScan(scan, ScanRequest(isActive: true))), from: other)
        rig.advance(by: .seconds(1))
        rig.receive(HostRig.report(HostRig.peer(5)))
        #expect(Set(rig.discoveries.map(\.client)) == [.local, other])
    }

    @Test("a scan that begins and ends all the time costs few commands, and is off in the end")
    func onAndOff() {
        let rig = started()
        let count = toggle(rig) { _ in
            rig.submit(.cancel(rig.submit(.radio(.scan(ScanRequest(isActive: true))))))
        }
        #expect(count <= 3 * 2 * (16 + 20), "\(count)")
        rig.advance(by: .seconds(1))
        #expect(rig.commands.last { $0.opcode == LESetScanEnable.opcode }?.parameters.first == 0)
        rig.forget()
        rig.advance(by: .seconds(5))
        #expect(rig.commands.isEmpty)
    }

    @Test("the changes of one who does not toggle are made at once, sixteen in a row")
    func fewChanges() {
        let rig = started()
        for _ in 0..<8 {
            rig.forget()
            let scan = rig.submit(.radio(.scan(ScanRequest(isActive: true))))
            #expect(rig.commands.last == .init(opcode: LESetScanEnable.opcode, parameters: [1, 0]))
            rig.submit(.cancel(scan))
            #expect(rig.commands.last == .init(opcode: LESetScanEnable.opcode, parameters: [0, 0]))
        }
    }

    @Test("what is wanted in addition is added at once while somebody toggles, and taken away a moment later")
    func additionsAreImmediate() {
        let rig = started()
        var request = ScanRequest(isActive: false)
        request.isInBackground = true
        rig.submit(.radio(.scan(request)))
        let scan = rig.submit(.radio(.scan(request)), from: other)
        for count in 0..<40 {
            request.isInBackground = count % 2 == 1
            rig.submit(.radio(.changeScan(scan, request)), from: other)
        }
        rig.forget()
        let active = rig.submit(.radio(.scan(ScanRequest(isActive: true))), from: ClientID(rawValue: 3))
        #expect(rig.commands.first { $0.opcode == LESetScanParameters.opcode }?.parameters.first == 1)
        rig.submit(.cancel(active), from: ClientID(rawValue: 3))
        rig.forget()
        rig.advance(by: .seconds(9))
        #expect(rig.commands.last { $0.opcode == LESetScanParameters.opcode }?.parameters.first == 0)
        #expect(rig.count(of: LESetScanEnable.opcode) <= 4)
    }

    @Test("lists of devices that change all the time cost few commands")
    func lists() {
        let rig = started()
        var request = ScanRequest(isActive: false)
        request.acceptList = [HostRig.peer(1)]
        let scan = rig.submit(.radio(.scan(request)))
        let count = toggle(rig) {
            request.acceptList = [HostRig.peer(1 + $0 % 50)]
            rig.submit(.radio(.changeScan(scan, request)))
        }
        #expect(count <= 5 * 2 * (16 + 20), "\(count)")
        // The last wish counts.
        rig.advance(by: .seconds(2))
        rig.receive(HostRig.report(HostRig.peer(50)))
        rig.receive(HostRig.report(HostRig.peer(3)))
        #expect(rig.discoveries.map(\.address) == [HostRig.peer(50)])
    }

    @Test("a scan whose list changes while the list is being written does not begin again and again")
    func whileListing() {
        let rig = started()
        rig.answers[LEAddDeviceToFilterAcceptList.opcode] = .silence
        var request = ScanRequest(isActive: false)
        request.acceptList = [HostRig.peer(1)]
        let scan = rig.submit(.radio(.scan(request)))
        for count in 0..<300 {
            request.acceptList = [HostRig.peer(1 + count % 50)]
            rig.submit(.radio(.changeScan(scan, request)))
            rig.receive(CommandComplete(opcode: LEAddDeviceToFilterAcceptList.opcode, returnParameters: [0]))
        }
        #expect(rig.count(of: LEClearFilterAcceptList.opcode) <= 2 * 16)
        #expect(rig.commands.last == .init(opcode: LESetScanEnable.opcode, parameters: [1, 0]))
    }

    @Test("connections that are asked for and cancelled all the time cost few commands, and others are made")
    func connections() {
        let rig = started()
        let wanted = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(1)))))
        let count = toggle(rig) { _ in
            let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(2)))), from: other)
            rig.submit(.cancel(connect), from: other)
            if rig.commands.last?.opcode == LECreateConnectionCancel.opcode {
                rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
            }
        }
        #expect(count <= 6 * (16 + 20), "\(count)")
        rig.advance(by: .seconds(1))
        rig.receive(rig.connectionComplete(HostRig.peer(1)))
        rig.receive(frame: [0x03, 0x17, 0x00], handle: 0x40)
        #expect(rig.results(of: wanted).count == 1)
    }

    @Test("a connection that is cancelled is not looked for any longer, however often that was")
    func cancelledAtOnce() {
        let rig = started()
        for _ in 0..<40 {
            let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(1)))))
            rig.submit(.cancel(connect))
            rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
        }
        let begun = rig.count(of: LECreateConnection.opcode)
        #expect(begun == rig.count(of: LECreateConnectionCancel.opcode))
        #expect((16...18).contains(begun), "\(begun)")
    }

    @Test("a scan ends at once when the engine stops, also after many changes")
    func stops() {
        let rig = started()
        for _ in 0..<40 { rig.submit(.cancel(rig.submit(.radio(.scan(ScanRequest(isActive: true)))))) }
        rig.submit(.radio(.scan(ScanRequest(isActive: true))))
        let stop = rig.submit(.stop)
        #expect(rig.results(of: stop) == [.success(.done)])
        #expect(rig.commands.last { $0.opcode == LESetScanEnable.opcode }?.parameters.first == 0)
    }

    @Test("a scan makes way for a connection at once where the controller can do only one of them")
    func makesWay() {
        let rig = HostRig()
        rig.supportedStates = 1 << 4 | 1 << 5
        rig.start()
        for _ in 0..<40 { rig.submit(.cancel(rig.submit(.radio(.scan(ScanRequest(isActive: true)))))) }
        rig.forget()
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        #expect(rig.commands.map(\.opcode) == [LESetScanEnable.opcode, LECreateConnection.opcode])
    }

    @Test("a limit gives sixteen changes at once, and one in each half second, without debts")
    func limit() {
        var limit = ChangeLimit()
        var now = Instant(microseconds: 5_000_000)
        for _ in 0..<100 {
            if limit.opens(after: now) == nil { limit.spend(at: now) }
        }
        #expect(limit.opens(after: now) == now.advanced(by: .milliseconds(500)))
        for _ in 0..<100 { limit.spend(at: now) }
        #expect(limit.opens(after: now) == now.advanced(by: .milliseconds(500)))
        now = now.advanced(by: .milliseconds(500))
        #expect(limit.opens(after: now) == nil)
        limit.spend(at: now)
        #expect(limit.opens(after: now) != nil)
        now = now.advanced(by: .seconds(8))
        for _ in 0..<16 {
            #expect(limit.opens(after: now) == nil)
            limit.spend(at: now)
        }
        #expect(limit.opens(after: now) != nil)
    }

    @Test("an advertisement that toggles takes another user's off the air twice a second at most")
    func advertisements() {
        let rig = started()
        rig.apply(.user(ClientUser(1000), .local))
        rig.apply(.user(ClientUser(1001), other))
        func packed(_ name: String, _ interval: AdvertisingInterval) -> HostCommand {
            .radio(.advertise(AdvertiseRequest(.packed(localName: name, serviceUUIDs: []), interval: interval)))
        }
        rig.submit(packed("Server", .milliseconds(100)))
        _ = toggle(rig) { count in
            rig.submit(
                .cancel(rig.submit(packed("x", .milliseconds(20 + Double(count % 50))), from: other)), from: other)
        }
        let ends = rig.commands.count { $0.opcode == LESetAdvertisingEnable.opcode && $0.parameters.first == 0 }
        #expect(ends <= 16 + 21, "\(ends)")
        // What stays is wanted.
        rig.advance(by: .seconds(1))
        rig.forget()
        rig.submit(packed("y", .milliseconds(30)), from: other)
        rig.advance(by: .seconds(1))
        let enabled = rig.commands.last { $0.opcode == LESetAdvertisingEnable.opcode }?.parameters.first
        #expect(enabled == 1)
        #expect(rig.commands.last { $0.opcode == LESetAdvertisingParameters.opcode }?.parameters.prefix(2) == [48, 0])
    }
}
