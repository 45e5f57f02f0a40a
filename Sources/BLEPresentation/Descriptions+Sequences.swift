import BLE

// How sequences and channels look when they are printed or logged.

extension Channel: CustomStringConvertible {
    /// Such as `channel on SPSM 0x0080, messages of 2048 octets out, 512 in`.
    public var description: String {
        "channel on SPSM \(hexadecimal(information.spsm)), messages of \(information.sendMTU) octets out, "
            + "\(information.receiveMTU) in"
    }
}

extension IncomingChannels: CustomStringConvertible {
    public var description: String { "channels that are opened to SPSM \(hexadecimal(spsm))" }
}

extension AdvertisingSet: CustomStringConvertible {
    public var description: String { "advertising set" }
}

extension PeriodicSync: CustomStringConvertible {
    public var description: String { droppedCount == 0 ? "train" : "train, \(droppedCount) events dropped" }
}

extension ServiceChanges: CustomStringConvertible {
    public var description: String { "changes of services" }
}

extension ServerEvents: CustomStringConvertible {
    public var description: String {
        droppedCount == 0 ? "events of the server" : "events of the server, \(droppedCount) dropped"
    }
}

extension AdapterEvents: CustomStringConvertible {
    public var description: String { "events of the adapter" }
}
