import BLEHost
import BLEPackets

/// The subscription of one remote central to one characteristic.
struct Subscription: Equatable {
    let link: LinkID
    var address: DeviceAddress
    /// The app's identifier of the central.
    let central: PeerIdentifier
    var characteristic: LocalAttributeID
    let maximumUpdateLength: Int

    func description(of central: PeerIdentifier) -> CentralDescription {
        CentralDescription(identifier: central, maximumUpdateLength: maximumUpdateLength)
    }
}
