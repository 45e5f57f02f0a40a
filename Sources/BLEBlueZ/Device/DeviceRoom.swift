import BLEHost
import BLEPackets

/// A device and what is done with it.
struct DeviceRoom {
    /// Whether there is a link.
    enum Connection: Equatable {
        case none
        /// The daemon waits for the device; these calls wait for the link. `isCancelled`: they have been answered
        /// as soon as the operation ends.
        case connecting(Ticket, isCancelled: Bool)
        case connected(LinkID)
        /// This side is ending the link.
        case disconnecting(LinkID)
    }

    let path: String
    let adapter: Int
    var address: DeviceAddress
    /// What the advertising has said last; empty for a device that was never seen.
    var advertisement: [UInt8] = []
    var scanResponse: [UInt8] = []
    /// Of each company and of each service the latest.
    var manufacturerData: [AdvertisingData.ManufacturerData] = []
    var serviceData: [AdvertisingData.ServiceData] = []
    /// Of each other type the latest.
    var otherData: [(type: UInt8, data: [UInt8])] = []
    /// Services that advertising or the device itself have named.
    var uuids: [BluetoothUUID] = []
    var name: String?
    var record = DeviceRecord()
    var rssi: Int8?
    var isBonded = false
    /// Whether it is there only because it was found.
    var isTemporary = true
    var lastSeen: Instant
    /// Calls that keep it from vanishing.
    var holds = 0

    var connection = Connection.none
    /// The user for whom it is being connected; `nil`: the service itself.
    var connector: UInt32?
    /// Calls of Connect that wait for the link.
    var connectCalls: [BusCall] = []
    /// Calls of Disconnect that wait for the end of the link.
    var disconnectCalls: [BusCall] = []
    /// A call of RemoveDevice that waits for the end of the link.
    var removeCalls: [BusCall] = []
    var pairing: DevicePairing?
    /// Calls of Pair that have succeeded, and wait for the services.
    var pairCalls: [BusCall] = []
    var attMTU = 23
    /// Whether it is the central of its link.
    var isCentral = false

    /// Finding out what the device offers.
    var discovery: DatabaseDiscovery?
    var database: RemoteDatabase?
    var areServicesResolved = false
    var batteryHandle: AttributeHandle?

    init(path: String, adapter: Int, address: DeviceAddress, now: Instant) {
        self.path = path
        self.adapter = adapter
        self.address = address
        lastSeen = now
    }

    var link: LinkID? { if case .connected(let link) = connection { link } else { nil } }

    /// Whether there is a link, also one that is being ended.
    var isConnected: Bool {
        switch connection {
        case .connected, .disconnecting: true
        case .none, .connecting: false
        }
    }

    /// The name that people see.
    var alias: String {
        record.alias ?? name ?? address.addressText.split(separator: ":").joined(separator: "-")
    }

    /// Whether it may vanish when it is not seen any more.
    var mayVanish: Bool {
        isTemporary && !isBonded && connection == .none && holds == 0 && pairing == nil && !record.isWorthKeeping
    }
}

/// A pairing that a client has asked for.
struct DevicePairing {
    var call: BusCall
    /// The command; `nil` until there is a link.
    var ticket: Ticket?
    /// Why it ended, if the end of the link is reported first.
    var failure: BusError?
    var isCancelled = false
    /// Whether another pairing was under way, whose end is this one's, too: most often the device has asked for it.
    var isFollowing = false
}
