import BLEPackets

/// What a link wants that other rooms have to do for it; `Host.settle` sees to it, in order.
enum LinkWish {
    /// The peer refused something because the link is not secure enough.
    case secure(ATTError)
    /// The link is to end: the peer breaks the rules, or answers no more.
    case end(HCIStatus)
}
