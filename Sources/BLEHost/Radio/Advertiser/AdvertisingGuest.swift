/// The directed or raw advertisement of a user beside those of others: a separate advertising set.
struct AdvertisingGuest {
    let user: Advertiser.User
    let handle: UInt8
    var machine = AdvertisingMachine(setsRandomAddress: true)
    /// When high duty cycle directed advertising must have ended.
    var directedDeadline: Instant?
}
