import BLEPackets
import Testing

@testable import BLEHost

@Suite("Connector")
struct ConnectorTests {
    private func started(_ configuration: HostConfiguration = HostConfiguration()) -> HostRig {
        let rig = HostRig(configuration: configuration)
        rig.start()
        rig.forget()
        return rig
    }

    @Test("a connection stays pending for thirty days and is then made (SPEC CEN-9, appendix B 6)")
    func neverTimesOut() {
        let rig = started()
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.advance(by: .seconds(30 * 86400))
        #expect(rig.results(of: connect).isEmpty)
        rig.receive(rig.connectionComplete())
        rig.receive(frame: [0x03, 0x00, 0x01], handle: 0x40)
        #expect(rig.links.count == 1)
        #expect(rig.results(of: connect).count == 1)
        #expect(rig.links.first?.attMTU == 256)
    }

    @Test("one pending connection is directed, several wait in the accept list (pain 3)")
    func usesAcceptList() {
        let rig = started()
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(1)))))
        #expect(rig.commands.last?.opcode == LECreateConnection.opcode)
        #expect(rig.commands.last?.parameters[4] == InitiatorFilterPolicy.peerAddress.rawValue)
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(2)))))
        #expect(rig.commands.last?.opcode == LECreateConnectionCancel.opcode)
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(3)))))
        rig.forget()
        rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
        #expect(
            rig.commands.map(\.opcode) == [
                LEClearFilterAcceptList.opcode, LEAddDeviceToFilterAcceptList.opcode,
                LEAddDeviceToFilterAcceptList.opcode, LEAddDeviceToFilterAcceptList.opcode, LECreateConnection.opcode,
            ])
        #expect(rig.commands.last?.parameters[4] == InitiatorFilterPolicy.acceptList.rawValue)
    }

    @Test("no second attempt starts before the end of the first is reported (pains 2 and 3)")
    func oneInitiator() {
        let rig = started()
        var outstanding = 0
        for number in 1...3 { rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(number))))) }
        for command in rig.commands where command.opcode == LECreateConnection.opcode { outstanding += 1 }
        #expect(outstanding == 1)
    }

    @Test("a cancelled connection waits for its completion, and a late success is disconnected (pain 3)")
    func cancelRace() {
        let rig = started()
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.submit(.cancel(connect))
        #expect(rig.results(of: connect) == [.failure(.cancelled)])
        #expect(rig.count(of: LECreateConnectionCancel.opcode) == 1)
        rig.receive(rig.connectionComplete())
        #expect(rig.commands.last == .init(opcode: Disconnect.opcode, parameters: [0x40, 0, 0x13]))
        #expect(rig.links.isEmpty)
    }

    @Test("a controller that never reports the end of a cancelled attempt delays the next by 2 s only (A57)")
    func cancelWithoutCompletion() {
        let rig = started()
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(1)))))
        rig.submit(.cancel(connect))
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(2)))))
        #expect(rig.count(of: LECreateConnection.opcode) == 1)
        rig.advance(by: .seconds(3))
        #expect(rig.count(of: LECreateConnection.opcode) == 2)
    }

    @Test("0x3E is tried again at once, a bounded number of times (SPEC 2.3) (A58)", arguments: [true, false])
    func retries(asDisconnection: Bool) {
        let rig = started()
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer, establishmentRetries: 2))))
        for _ in 0..<3 {
            #expect(rig.results(of: connect).isEmpty)
            if asDisconnection {
                rig.receive(rig.connectionComplete())
                rig.receive(
                    DisconnectionComplete(
                        connectionHandle: ConnectionHandle(rawValue: 0x40), reason: .connectionFailedToBeEstablished))
            } else {
                rig.receive(rig.connectionComplete(handle: 0, status: .connectionFailedToBeEstablished))
            }
        }
        #expect(rig.results(of: connect) == [.failure(.connectionFailed(.connectionFailedToBeEstablished))])
        #expect(rig.counters.connectionRetries == 2)
        #expect(rig.links.isEmpty)
    }

    @Test("more pending connections than the accept list holds take turns")
    func turns() {
        let rig = HostRig()
        rig.acceptListSize = 2
        rig.start()
        for number in 1...5 { rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(number))))) }
        var seen = Set<[UInt8]>()
        for _ in 0..<12 {
            for command in rig.commands where command.opcode == LEAddDeviceToFilterAcceptList.opcode {
                seen.insert(command.parameters)
            }
            rig.forget()
            rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
            rig.advance(by: .seconds(11))
        }
        #expect(seen.count == 5)
    }

    private func waitingForFour(_ configuration: HostConfiguration = HostConfiguration()) -> (HostRig, [OperationID]) {
        let rig = started(configuration)
        rig.answers[LECreateConnectionCancel.opcode] = .complete([HCIStatus.commandDisallowed.rawValue])
        let operations = (1...4).map { rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer($0))))) }
        return (rig, operations)
    }

    @Test("Command Disallowed for the accept list ends no operation, and passes with a forgotten attempt (SPEC CEN-9)")
    func acceptListInUse() {
        let (rig, operations) = waitingForFour()
        rig.answers[LECreateConnectionCancel.opcode] = nil
        rig.answers[LEClearFilterAcceptList.opcode] = .silence
        rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
        rig.answers[LEClearFilterAcceptList.opcode] = nil
        rig.forget()
        rig.receive(
            CommandComplete(
                opcode: LEClearFilterAcceptList.opcode, returnParameters: [HCIStatus.commandDisallowed.rawValue]))
        rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
        #expect(rig.commands.first?.opcode == LECreateConnectionCancel.opcode)
        #expect(rig.count(of: LEAddDeviceToFilterAcceptList.opcode) == 4)
        #expect(rig.commands.last?.opcode == LECreateConnection.opcode)
        for operation in operations { #expect(rig.results(of: operation).isEmpty) }
    }

    @Test(
        "without an accept list the devices are connected to in turns, and each gets its link (SPEC CEN-9)",
        arguments: [HostConfiguration.Ownership.exclusive, .shared])
    func noAcceptList(ownership: HostConfiguration.Ownership) {
        let (rig, operations) = waitingForFour(HostConfiguration(ownership: ownership))
        rig.answers[LEClearFilterAcceptList.opcode] = .complete([HCIStatus.commandDisallowed.rawValue])
        var sought = Set<[UInt8]>()
        for _ in 0..<8 {
            rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
            for command in rig.commands where command.opcode == LECreateConnection.opcode {
                #expect(command.parameters[4] == InitiatorFilterPolicy.peerAddress.rawValue)
                sought.insert([UInt8](command.parameters[6..<12]))
            }
            rig.forget()
            rig.advance(by: .seconds(11))
        }
        #expect(sought.count == 4)
        for operation in operations { #expect(rig.results(of: operation).isEmpty) }
    }

    @Test("a controller whose accept list is shorter than it says gets what fits, in turns (SPEC CEN-9)")
    func shorterAcceptList() {
        let (rig, operations) = waitingForFour()
        rig.answers[LEAddDeviceToFilterAcceptList.opcode] = .silence
        rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
        rig.forget()
        // Two fit.
        for status in [HCIStatus.success, .success, .memoryCapacityExceeded, .success, .success] {
            rig.receive(
                CommandComplete(opcode: LEAddDeviceToFilterAcceptList.opcode, returnParameters: [status.rawValue]))
        }
        rig.receive(
            CommandComplete(
                opcode: LEAddDeviceToFilterAcceptList.opcode,
                returnParameters: [HCIStatus.memoryCapacityExceeded.rawValue]))
        for _ in 0..<2 {
            rig.receive(CommandComplete(opcode: LEAddDeviceToFilterAcceptList.opcode, returnParameters: [0]))
        }
        #expect(rig.count(of: LEClearFilterAcceptList.opcode) == 2)
        #expect(rig.count(of: LEAddDeviceToFilterAcceptList.opcode) == 2 + 3 + 2)
        #expect(rig.commands.last?.opcode == LECreateConnection.opcode)
        for operation in operations { #expect(rig.results(of: operation).isEmpty) }
    }

    @Test(
        "a controller that cannot scan while it initiates connects on sight, and the scan goes on afterwards (pain 2)")
    func onSight() {
        let rig = HostRig()
        rig.supportedStates = 1 << 4 | 1 << 5
        rig.start()
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.forget()
        rig.receive(HostRig.report(HostRig.peer(9), type: .connectableUndirected))
        #expect(rig.commands.isEmpty)
        rig.receive(HostRig.report(type: .connectableUndirected))
        #expect(rig.commands.map(\.opcode) == [LESetScanEnable.opcode, LECreateConnection.opcode])
        rig.receive(rig.connectionComplete())
        rig.receive(frame: [0x03, 0x17, 0x00], handle: 0x40)
        #expect(rig.results(of: connect).count == 1)
        #expect(rig.commands.last?.opcode == LESetScanEnable.opcode || rig.count(of: LESetScanEnable.opcode) == 2)
    }

    @Test("a device that was heard and does not answer returns the receiver to the scan")
    func sightedAndGone() {
        let rig = HostRig()
        rig.supportedStates = 1 << 4 | 1 << 5
        rig.start()
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(HostRig.report(type: .connectableUndirected))
        rig.forget()
        rig.advance(by: .seconds(5))
        rig.receive(rig.connectionComplete(handle: 0, status: .unknownConnectionIdentifier))
        #expect(rig.count(of: LECreateConnectionCancel.opcode) == 1)
        #expect(rig.count(of: LESetScanEnable.opcode) == 1)
    }

    @Test(
        "a device that is heard but accepts no connection leaves most of the time to the others (SPEC CEN-9, pain 3)",
        arguments: [true, false])
    func heardInVain(onSight: Bool) {
        var connector = Connector()
        for number in 1...3 {
            connector.add(
                ConnectRequest(peer: HostRig.peer(number)), operation: OperationID(rawValue: UInt64(number)),
                client: .local)
        }
        var now = Instant(microseconds: 1_000_000)
        func plan() -> Initiator.Plan? {
            now = now.advanced(by: .milliseconds(100))
            connector.sighted(HostRig.peer(1), at: now)
            if onSight { connector.sighted(HostRig.peer(2), at: now) }
            return connector.plan(
                timing: .gateway, policy: .acceptList, acceptListSize: 8, onSight: onSight,
                resolving: onSight ? [] : [HostRig.peer(1)], at: now)
        }
        var tries = 0
        var steps = 0
        var others = 0
        var last: Initiator.Plan?
        for _ in 0..<3000 {
            let plan = plan()
            if plan?.includes(HostRig.peer(1)) ?? false {
                steps += 1
                if plan != last { tries += 1 }
            } else if plan?.includes(HostRig.peer(2)) ?? false {
                others += 1
            }
            last = plan
        }
        #expect(tries >= 5, "it is tried again and again")
        #expect(steps < 600)
        #expect(others >= (onSight ? 200 : 2400))
        // No other connection is pending, so nothing delays it.
        for number in 2...3 { _ = connector.remove(OperationID(rawValue: UInt64(number))) }
        var alone = 0
        for _ in 0..<100 { if plan()?.includes(HostRig.peer(1)) ?? false { alone += 1 } }
        #expect(alone > 90)
    }

    @Test("a device that was heard in vain and then connected is heard at once the next time")
    func heardAgain() {
        var connector = Connector()
        var now = Instant(microseconds: 1_000_000)
        func plan() -> Initiator.Plan? {
            connector.plan(
                timing: .gateway, policy: .acceptList, acceptListSize: 8, onSight: false,
                resolving: [HostRig.peer(1)], at: now)
        }
        func add(_ number: Int) {
            connector.add(
                ConnectRequest(peer: HostRig.peer(number)), operation: OperationID(rawValue: UInt64(number)),
                client: .local)
        }
        add(1)
        add(2)
        connector.sighted(HostRig.peer(1), at: now)
        #expect(plan()?.includes(HostRig.peer(1)) == true)
        now = now.advanced(by: Connector.sightTimeout)
        #expect(plan()?.includes(HostRig.peer(2)) == true)
        connector.sighted(HostRig.peer(1), at: now)
        #expect(plan()?.includes(HostRig.peer(2)) == true)
        #expect(connector.removePending(HostRig.peer(1)).count == 1)
        add(1)
        connector.sighted(HostRig.peer(1), at: now)
        #expect(plan()?.includes(HostRig.peer(1)) == true)
    }

    /// Connector whose clients wait for so many devices each, and the devices in its next turns.
    private func turns(
        _ counts: [Int], count: Int, policy: HostConfiguration.PendingConnectionPolicy = .acceptList, size: Int = 8,
        between: (inout Connector, Int) -> Void = { _, _ in }
    ) -> [Set<DeviceAddress>] {
        var connector = Connector()
        var number = 0
        for (client, peers) in counts.enumerated() {
            for _ in 0..<peers {
                number += 1
                connector.add(
                    ConnectRequest(peer: HostRig.peer(number)), operation: OperationID(rawValue: UInt64(number)),
                    client: ClientID(rawValue: UInt32(client + 1)))
            }
        }
        var now = Instant(microseconds: 1_000_000)
        let peers = (1...2 * number).map { HostRig.peer($0) }
        return (0..<count).map { turn in
            between(&connector, turn)
            let plan = connector.plan(
                timing: .gateway, policy: policy, acceptListSize: size, onSight: false, at: now)
            now = now.advanced(by: .seconds(10))
            return Set(peers.filter { plan?.includes($0) ?? false })
        }
    }

    @Test("a client that waits for hundreds of devices does not keep another's from its turns (SPEC CEN-9, pain 3)")
    func turnsByClient() {
        let one = HostRig.peer(301)
        let shared = turns([300, 1], count: 100)
        #expect(shared.allSatisfy { $0.count == 8 && $0.contains(one) })
        // Each of the many has its turn, too: seven places in each.
        #expect(shared.prefix(43).reduce(Set()) { $0.union($1) }.count == 301)
        let single = turns([300, 1], count: 100, policy: .directedTurns(.seconds(10)))
        #expect(single.allSatisfy { $0.count == 1 } && single.count { $0.contains(one) } == 50)
        // More clients than places: each has one in every third turn.
        let crowd = turns(Array(repeating: 20, count: 9) + [1], count: 99, size: 3)
        #expect(crowd.count { $0.contains(HostRig.peer(181)) } >= 29)
    }

    @Test("a client that asks again and again does not get the turns of those that wait")
    func turnsOfOneThatAsksAgain() {
        var number = 10_000
        let turns = turns([50, 1], count: 40, policy: .directedTurns(.seconds(10))) { connector, _ in
            // Its oldest request goes, and a new one comes.
            _ = connector.remove(OperationID(rawValue: UInt64(number == 10_000 ? 1 : number)))
            number += 1
            connector.add(
                ConnectRequest(peer: HostRig.peer(60)), operation: OperationID(rawValue: UInt64(number)),
                client: ClientID(rawValue: 1))
        }
        #expect(turns.count { $0.contains(HostRig.peer(51)) } == 20)
    }

    @Test("a turn stays as it is while devices come and go, and the places of those that went are filled")
    func turnsStay() {
        let turns = turns([20], count: 3, size: 4) { connector, turn in
            if turn == 1 { _ = connector.remove(OperationID(rawValue: 6)) }
        }
        #expect(turns[0] == Set((1...4).map { HostRig.peer($0) }))
        #expect(turns[1] == Set([5, 7, 8, 9].map { HostRig.peer($0) }))
        #expect(turns[2] == Set((10...13).map { HostRig.peer($0) }))
    }

    @Test("Command Disallowed while scanning shows that the controller does one thing at a time (pain 2)")
    func learnsFromRefusal() {
        let rig = started()
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        rig.answers[LECreateConnection.opcode] = .status(.commandDisallowed)
        rig.answers[LECreateConnectionCancel.opcode] = .complete([HCIStatus.commandDisallowed.rawValue])
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        #expect(rig.results(of: connect).isEmpty)
        rig.answers[LECreateConnection.opcode] = nil
        rig.forget()
        rig.receive(HostRig.report(type: .connectableUndirected))
        #expect(rig.commands.map(\.opcode) == [LESetScanEnable.opcode, LECreateConnection.opcode])
    }

    @Test("a device that is connected already is given to the next client without another attempt (SPEC REC-7)")
    func sharesLink() {
        let rig = started()
        _ = rig.connect()
        let other = ClientID(rawValue: 2)
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))), from: other)
        #expect(rig.results(of: connect).count == 1)
        #expect(rig.count(of: LECreateConnection.opcode) == 0)
        #expect(rig.links.count == 1)
    }

    @Test("a device is connected to again although its old link is still being ended")
    func oldLinkInTheWay() {
        let rig = started()
        rig.answers[LECreateConnection.opcode] = .status(.connectionAlreadyExists)
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        #expect(rig.results(of: connect).isEmpty)
        rig.answers[LECreateConnection.opcode] = nil
        rig.advance(by: .seconds(2))
        rig.receive(rig.connectionComplete())
        rig.receive(frame: [0x03, 0x17, 0x00], handle: 0x40)
        #expect(rig.results(of: connect).count == 1)
    }

    @Test(
        "on a controller that does one thing at a time, a scan gets the receiver when the end of an abandoned attempt is never reported (A106)"
    )
    func scanAfterLostCompletion() {
        let rig = HostRig()
        rig.supportedStates = 1 << 4 | 1 << 5
        rig.start()
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        #expect(rig.count(of: LESetScanEnable.opcode) == 0)
        rig.advance(by: .seconds(3))
        #expect(rig.count(of: LESetScanEnable.opcode) == 1)
    }

    @Test("the address type goes into the command (pain 10)")
    func addressType() {
        let rig = started()
        rig.submit(.radio(.connect(ConnectRequest(peer: DeviceAddress(value: 5, kind: .public)))))
        #expect(rig.commands.last?.parameters[5] == 0)
        let other = started()
        other.submit(.radio(.connect(ConnectRequest(peer: DeviceAddress(value: 5, kind: .random)))))
        #expect(other.commands.last?.parameters[5] == 1)
    }

    @Test("an extended controller gets the extended command")
    func extended() {
        let rig = HostRig()
        rig.features = [.extendedAdvertising]
        rig.start()
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        #expect(rig.commands.last?.opcode == LEExtendedCreateConnection.opcode)
        #expect(rig.count(of: LECreateConnection.opcode) == 0)
    }

    @Test("impossible connection parameters are refused before anything is sent")
    func invalidParameters() {
        let rig = started()
        let request = ConnectRequest(
            peer: HostRig.peer,
            parameters: ConnectionParameterRequest(
                interval: .milliseconds(1000)...ConnectionInterval.milliseconds(4000), peripheralLatency: 4,
                supervisionTimeout: .milliseconds(1000)))
        let connect = rig.submit(.radio(.connect(request)))
        #expect(rig.results(of: connect) == [.failure(.invalidRequest(.connectionParameters))])
        #expect(rig.commands.isEmpty)
    }
}
