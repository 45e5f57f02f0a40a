import BLEAppLifecycle
import BLEHost

/// A message of `bled` to a program.
public enum FromDaemon: Choice, Equatable, Sendable {
    case welcome(Welcome)
    /// For people; the connection ends.
    case refusal(RefusalReason, String)
    /// The controller is lost; the daemon ends the connection. For people.
    case lost(String)
    // To tools, with their own numbers of operations.
    case event(HostEvent)
    case completed(OperationID, Result<HostResult, HostFailure>)
    /// `lost`: discoveries of this client before this one that were dropped.
    case discovered(Discovery, lost: UInt32)
    /// `dropped`: responses and requests for data of this set before this event.
    case advertisingSet(OperationID, AdvertisingSetEvent, dropped: UInt32)
    /// `dropped`: reports of this train before this one.
    case train(OperationID, PeriodicSyncEvent, dropped: UInt32)
    /// What of an advertisement finds no room beside those of other users.
    case advertisingRoom(OperationID, AdvertisingRoom)
    // To apps.
    case appWelcome(LaunchOptions, ManagerAuthorization)
    case appEvent(AppEvent)
    /// The request with this number has been accepted; what it caused has been reported.
    case appTaken(UInt64)
    case appNotice(AppNotice)
    case appPairing(AppPairing)
    // To operators.
    case operatorAnswer(OperatorAnswer)
    /// A packet between the host and the controller, type octet first; octets of keys in it are zero. `lost`: packets
    /// before this one that found no room.
    case packet([UInt8], isFromController: Bool, unixMicroseconds: UInt64, lost: UInt32)
    case alert(OperatorAlert)
    /// A message of a newer daemon.
    case unknown

    public static var blank: Self { .unknown }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.choice(&it, else: .unknown)
    }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        // Before the others: of these there may be thousands a second.
        try c.options(&it, Self.event) { if case .event(let event) = $0 { event } else { nil } }
        try c.option(
            3, "completed", &it, { (end: Completion) in .completed(end.operation, end.result) },
            { if case .completed(let operation, let result) = $0 { Completion(operation, result) } else { nil } })
        try c.option(
            4, "discovered", &it, { (it: DiscoveryMessage) in .discovered(it.discovery, lost: it.lost) },
            { if case .discovered(let a, let b) = $0 { DiscoveryMessage(a, lost: b) } else { nil } })
        try c.option(17, "app_event", &it, Self.appEvent) { if case .appEvent(let event) = $0 { event } else { nil } }
        try c.option(1, "welcome", &it, Self.welcome) { if case .welcome(let welcome) = $0 { welcome } else { nil } }
        try c.option(2, "refusal", as: "Refusal", &it, Self.refusal, "reason", "text") {
            if case .refusal(let reason, let text) = $0 { (reason, text) } else { nil }
        }
        try c.option(13, "lost", as: "Lost", &it, Self.lost, "text") { if case .lost(let a) = $0 { a } else { nil } }
        try c.option(
            16, "app_welcome", as: "AppWelcome", &it,
            { (_: UInt32, a, b, c) in .appWelcome(LaunchOptions(centrals: a, peripherals: b), c) }, "version",
            "launch_centrals", "launch_peripherals", "authorization",
            from: {
                guard case .appWelcome(let options, let authorization) = $0 else { return nil }
                return (BledProtocol.version, options.centrals, options.peripherals, authorization)
            })
        try c.option(18, "app_taken", &it, Self.appTaken) { if case .appTaken(let number) = $0 { number } else { nil } }
        try c.option(19, "app_notice", &it, Self.appNotice) { if case .appNotice(let a) = $0 { a } else { nil } }
        try c.option(20, "app_pairing", &it, Self.appPairing) { if case .appPairing(let a) = $0 { a } else { nil } }
        try c.option(
            21, "operator_answer", &it, Self.operatorAnswer, { if case .operatorAnswer(let a) = $0 { a } else { nil } })
        try c.option(
            30, "packet", as: "Packet", &it, Self.packet, "octets", "is_from_controller", "unix_microseconds", "lost",
            from: { if case .packet(let octets, let a, let b, let lost) = $0 { (octets, a, b, lost) } else { nil } })
        try c.option(31, "alert", &it, Self.alert) { if case .alert(let alert) = $0 { alert } else { nil } }
        try c.option(
            32, "advertising_set", &it,
            { (it: SetMessage) in .advertisingSet(it.operation, it.event, dropped: it.dropped) },
            {
                guard case .advertisingSet(let set, let event, let dropped) = $0 else { return nil }
                return SetMessage(set, event, dropped: dropped)
            })
        try c.option(
            33, "train", &it, { (it: TrainMessage) in .train(it.operation, it.event, dropped: it.dropped) },
            { if case .train(let a, let b, let c) = $0 { TrainMessage(a, b, dropped: c) } else { nil } })
        try c.option(
            39, "advertising_room", as: "AdvertisingRoom", &it, Self.advertisingRoom, "operation",
            rest: { if case .advertisingRoom(let operation, let room) = $0 { (operation, room) } else { nil } })
    }
}
