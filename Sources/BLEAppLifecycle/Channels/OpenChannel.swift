import BLEHost

/// An L2CAP channel of a manager.
struct OpenChannel: Equatable {
    let id: L2CAPChannelID
    let channel: ChannelID
    /// The PSM of the channel, here or at the peer.
    let spsm: UInt16
    /// Whether a central opened it to a PSM of this manager.
    let isAccepted: Bool
    /// The longest SDU that the peer accepts, in octets.
    let sendMTU: Int
    /// Lengths of received SDUs that the app has not read completely, oldest first.
    private(set) var unitsHeld: [Int] = []
    /// The number of octets of the oldest SDU that the app has read.
    private var octetsTaken = 0

    init(_ id: L2CAPChannelID, _ information: ChannelInformation, isAccepted: Bool) {
        self.id = id
        channel = information.id
        spsm = information.spsm
        self.isAccepted = isAccepted
        sendMTU = max(1, Int(information.sendMTU))
    }

    mutating func addUnit(_ count: Int) { unitsHeld.append(count) }

    /// The app has read this many octets.
    /// - Returns: how many SDUs have been read completely: the peer may send that many again.
    mutating func consume(_ count: Int) -> Int {
        octetsTaken += max(0, count)
        var units = 0
        while let first = unitsHeld.first, octetsTaken >= first {
            octetsTaken -= first
            unitsHeld.removeFirst()
            units += 1
        }
        if unitsHeld.isEmpty { octetsTaken = 0 }
        return units
    }
}
