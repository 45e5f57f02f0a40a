/// One that asks for links: a client of the proxy, or a session of remote GATT.
public struct LinkRequester: Hashable, Comparable, Sendable {
    let number: UInt64
    public static func < (a: Self, b: Self) -> Bool { a.number < b.number }
}

/// Those who share their turns: one who has many requesters has no more slots for that.
public enum LinkParty: Hashable, Sendable {
    /// The clients of the Bluetooth proxy at an address.
    case proxy(ClientAddress)
    /// Those who ask for GATT over HTTP from an address.
    case http(ClientAddress)
    /// All who ask for GATT by MQTT: a broker does not say who sends.
    case broker
    case matter
    /// A requester that is one of its own.
    case single(LinkRequester)
}

/// Identifies a link from the moment in which connecting begins; never used again for a later one.
public struct LinkToken: Hashable, Sendable {
    let number: UInt64
}

/// Identifies an operation that is carried out; never used again for a later one.
public struct LinkJob: Hashable, Sendable {
    let number: UInt64
}
