import BLEHost
import BLEPackets

extension DaemonStatus {
    /// A scan, an advertisement or a connection that a client wants.
    public struct Wanted: Message, Equatable, Sendable {
        /// What it is.
        public enum Work: Equatable, Sendable {
            case scan(ScanRequest)
            case advertise(AdvertiseRequest)
            case connect(ConnectRequest)
            case advertiseSet(AdvertisingSetRequest)
            case followPeriodicAdvertising(PeriodicSyncRequest)
            /// The trains that the peer of a link transfers.
            case receivePeriodicSyncs(LinkID)
        }

        /// The name of the client.
        public var client: String
        /// What it wants.
        public var work: Work
        /// Whether this version knows the work.
        var isKnown = true

        public init(client: String, work: Work) {
            self.client = client
            self.work = work
        }

        public static var blank: Self { Self(client: "", work: .blank) }
        public static var schemaName: String { "WantedOfRadio" }
        public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
            try c.field(1, "client", &it.client)
            var work = it.work as Work?
            try c.choice(optional: &work)
            if C.reads { (it.work, it.isKnown) = (work ?? .blank, work != nil) }
        }
    }
}

extension DaemonStatus.Wanted.Work: Choice {
    public static var blank: Self { .receivePeriodicSyncs(.blank) }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(2, "scan", &it, Self.scan) { if case .scan(let request) = $0 { request } else { nil } }
        try c.option(3, "advertise", &it, Self.advertise) { if case .advertise(let a) = $0 { a } else { nil } }
        try c.option(4, "connect", &it, Self.connect) { if case .connect(let request) = $0 { request } else { nil } }
        try c.option(5, "set", &it, Self.advertiseSet) { if case .advertiseSet(let a) = $0 { a } else { nil } }
        try c.option(6, "train", &it, Self.followPeriodicAdvertising) {
            if case .followPeriodicAdvertising(let a) = $0 { a } else { nil }
        }
        try c.option(7, "trains_of", &it, Self.receivePeriodicSyncs) {
            if case .receivePeriodicSyncs(let a) = $0 { a } else { nil }
        }
    }
}
