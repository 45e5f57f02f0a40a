import BLEPackets

/// What remains to be done for a link after the input has been handled, because other parts of the engine are involved;
/// `Host.settle` does it, in order.
enum DeferredLinkWork {
    /// The peer refused something that this client wants, because the link is not secure enough.
    case secure(ATTError, for: ClientID)
    /// The link must end: the peer breaks the rules, or no longer answers.
    case end(HCIStatus)
    /// The pairing has actions to carry out.
    case continuePairing
    /// The peer's identity is known: clients that wait for this private address of the peer get the link.
    case adoptWaiting(for: DeviceAddress)
    /// A change of key is complete: sends what waited for it.
    case releasePostponed
    /// Receives what arrived while the key was being changed.
    case receivePostponed
    /// Handles what happened on the enhanced bearers.
    case continueBearers
    /// Pairs for what the peripheral requested while its bond's key was tried.
    case followSecurityRequest
    /// The peer, as a client, changed what its bond stores.
    case storeClientRecord
}
