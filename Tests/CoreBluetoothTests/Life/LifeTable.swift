/// The calls that an app sees, in order, when it, the system or Bluetooth ends and begins again (SPEC 1.9, 5.5 rule 1,
/// 5.5 rule 6, 5.5 rule 7).
///
/// A restart of the system is, for an app that runs: `resetting`, each link that was lost, the new state. Nothing that
/// nobody asked for is told: no connection after its end was told or implied.
enum LifeTable {
    private static let reset = ["state resetting", "disconnected CBErrorDomain 0", "state poweredOn"]
    private static let here = "restored connected [180D] [2A37]"
    private static let coming = "restored connecting [180D] [2A37]"
    private static let waiting = "restored connecting [] []"
    private static let over = "restored disconnected [180D] []"

    static let rows = [
        LifeRow(
            "a subscribed app is killed", .subscribed,
            .then(.kill),
            .then(.launch, own: [coming, "state poweredOn", "connected"], bled: [here, "state poweredOn"]),
            .then(.read, "value 2A38 01"),
            .then(.beat(81), "value 2A37 0051")),
        LifeRow(
            "the sensor leaves, and the app connects again", .subscribed,
            .then(.away, "disconnected CBErrorDomain 6"), .then(.connect), .then(.back, "connected")),
        LifeRow(
            "the sensor leaves while the app does not run", .subscribed,
            .then(.kill), .then(.away),
            .then(
                .launch, own: [coming, "state poweredOn"],
                bled: [here, "state poweredOn", "disconnected CBErrorDomain 6"]),
            .then(.back, own: ["connected"], bled: []),
            .then(.read, own: ["value 2A38 01"], bled: []),
            .then(.beat(82), own: ["value 2A37 0052"], bled: [])),
        LifeRow(
            "an app is killed twice, and the system with it", .subscribed,
            .then(.kill), .then(.restart),
            .then(.launch, own: [coming, "state poweredOn", "connected"], bled: [here, "state poweredOn"]),
            .then(.kill), .then(.restart),
            .then(.launch, own: [coming, "state poweredOn", "connected"], bled: [here, "state poweredOn"]),
            .then(.read, "value 2A38 01"),
            .then(.beat(83), "value 2A37 0053")),
        LifeRow(
            "the sensor has other services when the app is back", .subscribed,
            .then(.kill), .then(.otherServices), .then(.restart),
            .then(
                .launch, own: [coming, "state poweredOn", "connected", "modified [180D]"],
                bled: [here, "state poweredOn", "modified [180D]"])),
        LifeRow(
            "the system restarts under a subscribed app", .subscribed,
            .then(.restart, own: reset, bled: reset),
            .then(.beat(84)),
            .then(.connect, "connected")),
        LifeRow(
            "the system restarts under an app without an identifier", .subscribed, isPreserved: false,
            .then(.restart, own: reset, bled: reset),
            .then(.connect, "connected"),
            .then(.restart, own: reset, bled: reset)),
        LifeRow(
            "the system restarts under an app to which it connects again by itself", .subscribedForGood,
            .then(.restart, own: reset + ["connected"], bled: reset + ["connected"])),
        LifeRow(
            "the system restarts under an app, which then is killed", .subscribed,
            .then(.restart, own: reset, bled: reset),
            .then(.kill), .then(.launch, "state poweredOn")),
        LifeRow(
            "the system restarts under an app that waits for a connection", .waiting,
            .then(.restart, "state resetting", "state poweredOn"),
            .then(.back, "connected")),
        LifeRow(
            "the system restarts twice under an app that waits, without an identifier", .waiting, isPreserved: false,
            .then(.restart, "state resetting", "state poweredOn"),
            .then(.restart, "state resetting", "state poweredOn"),
            .then(.back, "connected")),
        LifeRow(
            "an app that waits for a connection is killed", .waiting,
            .then(.kill), .then(.back), .then(.launch, waiting, "state poweredOn", "connected")),
        LifeRow(
            "an app that waits is killed, and the system restarts", .waiting,
            .then(.kill), .then(.restart), .then(.launch, waiting, "state poweredOn"), .then(.back, "connected")),
        LifeRow(
            "Bluetooth is turned off and on under a subscribed app", .subscribed,
            .then(.off, "state poweredOff"), .then(.on, "state poweredOn"), .then(.beat(85)),
            .then(.connect, "connected")),
        LifeRow(
            "Bluetooth is turned off and on under an app that waits", .waiting,
            .then(.off, "state poweredOff"), .then(.on, "state poweredOn"), .then(.back, "connected")),
        LifeRow(
            "Bluetooth is turned off and on while a subscribed app does not run", .subscribed,
            .then(.kill), .then(.off), .then(.on), .then(.beat(86)),
            .then(.launch, own: [coming, "state poweredOn", "connected"], bled: [over, "state poweredOn"]),
            .then(.read, own: ["value 2A38 01"], bled: []),
            .then(.beat(87), own: ["value 2A37 0057"], bled: [])),
        LifeRow(
            "Bluetooth is turned off and on while an app that waits does not run", .waiting,
            .then(.kill), .then(.off), .then(.on), .then(.back),
            .then(.launch, waiting, "state poweredOn", "connected")),
        LifeRow(
            "Bluetooth is turned off, and on when the app does not run", .subscribed,
            .then(.off, "state poweredOff"), .then(.kill), .then(.on), .then(.launch, "state poweredOn")),
        LifeRow(
            "a suspended app is woken for a value", .subscribed,
            .then(.suspend), .then(.beat(88), "value 2A37 0058"), .then(.resume)),
        LifeRow(
            "the system restarts under a suspended app", .subscribed,
            .then(.suspend), .then(.restart, own: reset, bled: reset), .then(.resume), .then(.connect, "connected")),
        LifeRow(
            "a suspended app is killed", .subscribed,
            .then(.suspend), .then(.kill), .then(.restart),
            .then(.launch, own: [coming, "state poweredOn", "connected"], bled: [here, "state poweredOn"]),
            .then(.read, "value 2A38 01"),
            .then(.beat(89), "value 2A37 0059")),
        LifeRow(
            "an app without a mode is suspended: it hears everything in the foreground", .subscribed,
            isPreserved: false,
            .then(.suspend), .then(.beat(90)), .then(.off), .then(.on),
            .then(.resume, "value 2A37 005a", "state poweredOn"), .then(.connect, "connected")),
        LifeRow(
            "the system restarts under a suspended app without a mode: it hears the rest in the foreground",
            .subscribed,
            isPreserved: false,
            // Its own engine waits with everything; the end of bled itself is nothing that bled could hold back.
            .then(.suspend), .then(.restart, own: [], bled: ["state resetting", "disconnected CBErrorDomain 0"]),
            .then(
                .resume, own: ["disconnected CBErrorDomain 0", "state poweredOn"], bled: ["state poweredOn"]),
            .then(.connect, "connected")),
        LifeRow(
            "an app that scans is killed", .scanning,
            .then(.kill), .then(.restart), .then(.launch, "restored scan [180D]", "state poweredOn"),
            .then(.back, "discovered Jelling Heart")),
        LifeRow(
            "the system restarts under an app that scans: its scan has ended", .scanning,
            .then(.restart, "state resetting", "state poweredOn"), .then(.back)),
        LifeRow(
            "an app that serves is killed", .serving,
            .then(.kill), .then(.restart), .then(.launch, "restored [FFF0] Jelling Peer", "state poweredOn")),
        LifeRow(
            "the system restarts under an app that serves", .serving,
            .then(.restart, "state resetting", "state poweredOn"), .then(.serve, "added FFF0", "advertising")),
        LifeRow(
            "Bluetooth is turned off and on under an app that serves", .serving,
            .then(.off, "state poweredOff"), .then(.on, "state poweredOn")),
        LifeRow(
            "a subscription changes twice with reads between: they are carried out in the app's order", .explored,
            .then(
                .changeAndRead, "value 2A38 01", "notifying 2A37 true", "notifying 2A37 false", "value 2A38 01",
                "notifying 2A37 true", "value 2A38 01")),
    ]
}
