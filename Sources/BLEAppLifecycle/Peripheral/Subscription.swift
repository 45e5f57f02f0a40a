import BLEHost
import BLEPackets

/// One remote central that is sent the values of one characteristic.
struct Subscription: Equatable {
    let link: LinkID
    var address: DeviceAddress
    let characteristic: LocalAttributeID
    let maximumUpdateLength: Int

    func description(of central: PeerIdentifier) -> CentralDescription {
        CentralDescription(identifier: central, maximumUpdateLength: maximumUpdateLength)
    }
}
