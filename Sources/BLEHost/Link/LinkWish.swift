import BLEPackets

/// What is left to be done for a link once the input has been handled, because other rooms have a part in it;
/// `Host.settle` sees to it, in order.
enum LinkWish {
    /// The peer refused something because the link is not secure enough.
    case secure(ATTError)
    /// The link is to end: the peer breaks the rules, or answers no more.
    case end(HCIStatus)
    /// The pairing has something to be done.
    case continuePairing
    /// The peer's identity is known: clients that wait for this private address of it get the link.
    case adoptWaiting(for: DeviceAddress)
    /// A change of key is over: what waited for it goes.
    case releaseHeld
    /// What came while the key was being changed is received.
    case receiveHeld
    /// What the peripheral asked for while its bond's key was tried is paired for.
    case followSecurityRequest
    /// The peer, as a client, changed what its bond keeps.
    case keepClientRecord
}
