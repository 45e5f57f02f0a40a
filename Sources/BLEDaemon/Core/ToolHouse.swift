import BLEHost
import BLEPackets

/// What tools have of the engine, and which events concern them.
struct ToolHouse {
    /// The tools whose operations the engine carries out. Only for lookup.
    var clientOfOperation: [OperationID: ClientID] = [:]
    var waitingOctets = WaitingOctets()
    var links = LinkBook()
    var routes = ToolRoutes()
    var watches = LinkWatches()
    /// The channels that operators' tools have chosen; the last one counts.
    var channelMaps: [(client: ClientID, map: ChannelMap)] = []
    var outOfBandUses: [OutOfBandUse] = []
    var namings = NamingLimit()
    /// For whom the engine knows its clients to work. Only for lookup.
    var users: [ClientID: ClientUser] = [:]
    var isAdvertising = false
    /// How many advertising sets the controller has, and the operation that asks for it.
    var advertisingSetCount: Int?
    var setCountRequest: OperationID?
}
