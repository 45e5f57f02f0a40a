import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// Requirements on alerts, one by one (SPEC 1.6).
@Suite("Requirements: alerts")
struct AlertRequirements {
    private static let options: [Alert.Kind: ConnectOptions] = [
        .connection: ConnectOptions(notifiesOnConnection: true),
        .disconnection: ConnectOptions(notifiesOnDisconnection: true),
        .notification: ConnectOptions(notifiesOnNotification: true),
    ]

    @Test(
        "a suspended app's user is alerted of the connection, the disconnection or the notification, each by its own option (ALR-1, ALR-2, ALR-3)",
        arguments: [Alert.Kind.connection, .disconnection, .notification])
    func ownOption(kind: Alert.Kind) throws {
        let street = BeltAndDoor()
        let app = TestApp(street.station)
        let known = try street.acquaint(app)
        try street.engage(known, try #require(Self.options[kind]))
        app.leave()
        street.happen()
        #expect(street.station.alerts.map(\.kind) == [kind])
        #expect(street.station.alerts.first?.peripheral?.identifier == (kind == .connection ? known.door : known.belt))
        #expect(street.station.alerts.first?.peripheral?.name == (kind == .connection ? "Lock" : "Belt"))
    }

    @Test(
        "without an option nothing alerts (ALR-5), nor does anything while the app is visible (ALR-1, ALR-2, ALR-3)")
    func none() throws {
        let silent = BeltAndDoor()
        let app = TestApp(silent.station)
        try silent.engage(try silent.acquaint(app), ConnectOptions())
        app.leave()
        silent.happen()
        #expect(silent.station.alerts.isEmpty)

        let visible = BeltAndDoor()
        let known = try visible.acquaint(TestApp(visible.station))
        try visible.engage(
            known,
            ConnectOptions(notifiesOnConnection: true, notifiesOnDisconnection: true, notifiesOnNotification: true))
        visible.happen()
        #expect(known.central.connections == [known.door])
        #expect(visible.station.alerts.isEmpty)
    }

    @Test(
        "an alert is for the peripheral whose connection asked for it; accepted, the app is in the foreground, refused, it stays where it is (ALR-4)"
    )
    func perPeripheral() throws {
        let street = BeltAndDoor()
        let app = TestApp(street.station)
        let known = try street.acquaint(app)
        try street.engage(known, ConnectOptions(), door: ConnectOptions(notifiesOnDisconnection: true))
        app.leave()
        street.happen()
        #expect(street.station.alerts.isEmpty, "the belt's connection asked for nothing")
        street.air.disconnect(street.door)
        street.world.run(for: .seconds(2))
        #expect(street.station.alerts.map(\.peripheral?.identifier) == [known.door])

        let alert = try #require(street.station.alerts.first)
        street.station.apps { $0.alertAnswered(alert.id, isAccepted: false, at: street.world.now) }
        #expect(app.wakeCount == 0)
        #expect(known.central.events.isEmpty)
        street.air.setInRange(false, street.door)
        app.enterForeground()
        #expect(known.central.disconnections.count == 2)
        known.central.forget()
        known.central.ask(.connect(known.door, ConnectOptions(notifiesOnConnection: true)))
        app.leave()
        street.air.setInRange(true, street.door)
        street.world.run(for: .seconds(3))
        let second = try #require(street.station.alerts.last)
        #expect(second.kind == .connection)
        street.station.apps { $0.alertAnswered(second.id, isAccepted: true, at: street.world.now) }
        #expect(app.actions.last == .resume)
        #expect(known.central.connections == [known.door])
    }

    @Test(
        "of all apps that asked, the one that was in the foreground last gets the alert, whenever it was launched (ALR-5)"
    )
    func latestForeground() throws {
        let street = BeltAndDoor()
        let apps = ["one", "two", "three"].map { TestApp(street.station, "org.example.\($0)") }
        let known = try apps.map { try street.acquaint($0) }
        let wanted = ConnectOptions(notifiesOnConnection: true)
        try street.engage(known[0], wanted)
        try street.engage(known[1], wanted)
        try street.engage(known[2], ConnectOptions())
        for app in apps { app.leave() }
        apps[1].enterForeground()
        apps[0].enterForeground()
        apps[2].enterForeground()
        for app in apps { app.leave() }
        street.station.forgetOutputs()
        street.happen()
        #expect(street.station.alerts.map(\.app) == [apps[0].id])
    }

    @Test("each user has an alert of one app, and another user's app does not get it instead (ALR-5)")
    func users() throws {
        let street = BeltAndDoor()
        let apps = [UInt32(1000), 1000, 1001].enumerated().map { number, user in
            TestApp(street.station, "org.example.\(number)", user: user)
        }
        let wanted = ConnectOptions(notifiesOnConnection: true)
        // The first one that connects takes the belt off the air, and the door with it.
        let known = try apps.map { try street.acquaint($0) }
        for app in known { try street.engage(app, wanted) }
        for app in apps { app.leave() }
        for number in [1, 0, 2] {
            apps[number].enterForeground()
            apps[number].leave()
        }
        street.station.forgetOutputs()
        street.happen()
        #expect(Set(street.station.alerts.map(\.app)) == [apps[0].id, apps[2].id])
        #expect(street.station.alerts.count == 2)
    }
}
