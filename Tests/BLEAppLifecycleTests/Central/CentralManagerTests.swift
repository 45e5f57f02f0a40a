import BLEHost
import BLEPackets
import Testing

@testable import BLEAppLifecycle

@Suite("A central manager alone")
struct CentralManagerTests {
    private var alone = Alone()
    private var manager = CentralManager(client: Alone.client, app: Alone.app)

    private mutating func ask(_ request: CentralManagerRequest, _ permissions: ManagerPermissions = Alone.foreground) {
        manager.perform(
            request, of: CentralManager.KnownPeer(address: Alone.address, name: "Belt"), permissions,
            into: &alone.effects)
    }

    @Test("a scan follows the app's state: fewer reports in the background, none without Bluetooth")
    mutating func scan() {
        ask(.scan(ScanOptions(services: [Profiles.heartRate], allowsDuplicates: true)))
        guard case .radio(.scan(let first))? = alone.wanted().commands.first else {
            Issue.record("no scan")
            return
        }
        #expect(first.allowsDuplicates && !first.isInBackground)
        manager.converge(Alone.background, into: &alone.effects)
        guard case .radio(.changeScan(_, let second))? = alone.wanted().commands.first else {
            Issue.record("the scan is not changed")
            return
        }
        #expect(!second.allowsDuplicates && second.isInBackground)
        manager.converge(Alone.off, into: &alone.effects)
        guard case .cancel? = alone.wanted().commands.first else {
            Issue.record("the scan goes on")
            return
        }
        #expect(manager.runningScan == nil && manager.scan != nil)
    }

    @Test("requests without Bluetooth are dropped with a log line; releasing a peripheral is not")
    mutating func off() {
        ask(.connect(Alone.peer, ConnectOptions()))
        _ = alone.wanted()
        ask(.stopScan, Alone.off)
        #expect(alone.wanted().logs == [.notPoweredOn(.central)])
        ask(.letGo(Alone.peer), Alone.off)
        let wanted = alone.wanted()
        #expect(wanted.events == [.disconnected(Alone.peer, nil, microseconds: 0, isReconnecting: false)])
        #expect(manager.peripherals.isEmpty)
    }

    @Test("a connection that an app asks for before it is told that Bluetooth is off begins when it is on again")
    mutating func connectsAfterwards() {
        ask(.connect(Alone.peer, ConnectOptions()), Alone.off)
        let wanted = alone.wanted()
        #expect(wanted.logs.isEmpty && wanted.commands.isEmpty)
        manager.converge(Alone.foreground, into: &alone.effects)
        guard case .radio(.connect(let request))? = alone.wanted().commands.first else {
            Issue.record("no connection attempt")
            return
        }
        #expect(request.peer == Alone.address)
    }

    @Test("a link that no app wants is released; a wanted one is reported with the device's name")
    mutating func links() {
        manager.connected(Alone.link(), name: nil, Alone.foreground, into: &alone.effects)
        #expect(alone.wanted().commands == [.link(Alone.link, .disconnect)])
        ask(.connect(Alone.peer, ConnectOptions()))
        _ = alone.wanted()
        manager.connected(Alone.link(), name: "Belt", Alone.foreground, into: &alone.effects)
        let told = PeripheralDescription(identifier: Alone.peer, name: "Belt", state: .connected)
        #expect(
            alone.wanted().events
                == [.connected(told, maximumWriteLength: WriteLimits(withResponse: 512, withoutResponse: 97))])
    }

    @Test("a device that disappears while its link is being made is tried again; other failures are reported")
    mutating func failures() {
        ask(.connect(Alone.peer, ConnectOptions()))
        var wanted = alone.wanted()
        manager.connectionFailed(
            Alone.peer, wanted.tokens[0], .connectionFailed(.connectionFailedToBeEstablished),
            into: &alone.effects)
        let due = Instant(microseconds: 500_000)
        #expect(manager.nextDeadline == due && alone.wanted().events.isEmpty)
        alone.effects.now = due
        manager.converge(Alone.foreground, into: &alone.effects)
        wanted = alone.wanted()
        #expect(wanted.commands == [.radio(.connect(ConnectRequest(peer: Alone.address)))])
        manager.connectionFailed(Alone.peer, wanted.tokens[0], .limitReached, into: &alone.effects)
        #expect(alone.wanted().events == [.connectionFailed(Alone.peer, .coreBluetooth(.connectionLimitReached))])
        #expect(manager.peripherals.isEmpty)
    }

    @Test(
        "a lost link is reconnected if the app asked for it, and by a preserved manager when the engine is back")
    mutating func lost() {
        ask(.connect(Alone.peer, ConnectOptions(reconnectsAutomatically: true)))
        manager.connected(Alone.link(), name: nil, Alone.foreground, into: &alone.effects)
        _ = alone.wanted()
        manager.lost(
            Alone.link, .controller(.connectionTimeout), Alone.foreground, into: &alone.effects)
        let wanted = alone.wanted()
        #expect(
            wanted.events
                == [
                    .disconnected(
                        Alone.peer, .coreBluetooth(.connectionTimeout), microseconds: 0, isReconnecting: true)
                ])
        #expect(wanted.commands == [.radio(.connect(ConnectRequest(peer: Alone.address)))])
        manager.connected(Alone.link(), name: nil, Alone.foreground, into: &alone.effects)
        _ = alone.wanted()
        let preserved = ManagerPermissions(state: .resetting, place: .preserved)
        manager.lost(Alone.link, .controllerLost, preserved, into: &alone.effects)
        #expect(alone.wanted().events.isEmpty)
        #expect(manager.peripherals[Alone.peer]?.state == .connecting(nil, notBefore: nil))
    }
}
