import BLEPackets

/// What an operation touches, so that only operations run at the same time whose order cannot be observed.
///
/// Operations on the same attribute keep their order. So do operations of one client if one of them has an effect on
/// the peer: an app that writes to one characteristic and then reads another gets what it would get on a single bearer.
/// What runs at the same time are reads and discoveries, and operations of different clients.
struct OperationReach {
    let client: ClientID
    var handles: [AttributeHandle] = []
    /// Whether it changes anything at the peer.
    var hasEffect = false
    /// Whether only the unenhanced bearer can carry it.
    var isForUnenhanced = false

    /// Whether the other operation must wait until this one has ended.
    func isBefore(_ other: OperationReach) -> Bool {
        if client == other.client, hasEffect || other.hasEffect { return true }
        return handles.contains { other.handles.contains($0) }
    }
}

extension OperationReach {
    init(of operation: GATTOperation, client: ClientID) {
        self.init(client: client)
        switch operation {
        case .exchangeMTU: isForUnenhanced = true
        case .confirm: break
        case .discoverServices, .discoverSecondaryServices, .discoverIncludedServices, .discoverCharacteristics,
            .discoverDescriptors, .readUsingUUID:
            break
        case .read(let handle), .readLong(let handle, _): handles = [handle]
        case .readMultiple(let read), .readMultipleVariable(let read): handles = read
        case .write(let handle, _), .writeLong(let handle, _), .writeCommand(let handle, _),
            .writeSigned(let handle, _), .writePart(let handle, _, _, _), .unsubscribe(let handle):
            handles = [handle]
            hasEffect = true
        case .reliableWrite(let writes):
            handles = writes.map { $0.handle }
            hasEffect = true
        case .subscribe(let value, let configuration, _), .subscribeConfirming(let value, let configuration):
            handles = [value, configuration]
            hasEffect = true
        }
    }
}
