/// The directed or raw advertisement of a user beside those of others: an advertising set of its own.
struct AdvertisingGuest {
    let user: Advertiser.User
    let handle: UInt8
    var machine = AdvertisingMachine(setsRandomAddress: true)
    /// When high duty cycle directed advertising must have ended.
    var directedDeadline: Instant?
}
