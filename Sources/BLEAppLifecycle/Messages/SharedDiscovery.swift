/// A device that several managers have discovered with one advertising packet. Each gets it as
/// `ClientEvent.discovered`.
public struct SharedDiscovery: Hashable, Sendable {
    /// A manager that gets it.
    public struct Recipient: Hashable, Sendable {
        /// The app.
        public var app: AppID
        /// Its manager.
        public var manager: ManagerID
        /// The app's identifier of the device.
        public var identifier: PeerIdentifier
        /// The state of the manager's connection to the device.
        public var state: PeripheralState

        package init(app: AppID, manager: ManagerID, identifier: PeerIdentifier, state: PeripheralState) {
            self.app = app
            self.manager = manager
            self.identifier = identifier
            self.state = state
        }
    }

    /// The device's GAP device name if it has been read, otherwise the advertised name.
    public var name: String?
    /// What the device advertises.
    public var content: AdvertisementContent
    /// In dBm; 127 when it is unknown.
    public var rssi: Int8
    /// Those who get it, in the order in which their scans began.
    public var recipients: [Recipient]

    package init(_ name: String?, _ content: AdvertisementContent, rssi: Int8, for recipients: [Recipient]) {
        self.name = name
        self.content = content
        self.rssi = rssi
        self.recipients = recipients
    }

    /// What one of them gets.
    public func event(for recipient: Recipient) -> ClientEvent {
        .discovered(
            PeripheralDescription(identifier: recipient.identifier, name: name, state: recipient.state), content,
            rssi: rssi)
    }
}
