import BLEPackets

/// An advertisement that is being sent, or was until a moment ago.
struct Transmission {
    var station: Int
    var phy: PHY
    var start: Int64
    var end: Int64
}

/// Advertisements that are sent at the same time (Core 5.4, Vol 6, Part B, 4.4.2.1).
///
/// An advertising event uses the three primary channels in the same order at every station, so that two of them
/// disturb each other only if the later one begins while the first channel still carries the other.
extension SimulatedAir {
    /// By how much a packet must be stronger than another to be received in spite of it, in dB.
    private static let captureRatio = 10

    /// Runs `body` when an advertisement has been sent, which is at once on an air without collisions.
    /// - Parameter advertisement: what is sent now.
    func send(_ advertisement: AirAdvertisement, from station: any AirStation, _ body: @escaping () -> Void) {
        guard configuration.advertisementsCollide else { return body() }
        let end = nowMicroseconds + advertisement.primaryMicroseconds
        let transmission = Transmission(
            station: station.index, phy: advertisement.primaryPHY, start: nowMicroseconds, end: end)
        transmissions.removeAll { $0.end + AirAdvertisement.longestPrimaryMicroseconds < nowMicroseconds }
        transmissions.append(transmission)
        after(end - nowMicroseconds) { [unowned self] in
            sending = transmission
            body()
            sending = nil
        }
    }

    /// Whether another advertisement kept the one that has just been sent from a listener.
    func isDrowned(at listener: any AirStation) -> Bool {
        guard let sending, let sender = station(sending.station) else { return false }
        let strength = Int(signal(between: sender, and: listener))
        return transmissions.contains { other in
            guard other.station != sending.station, other.phy == sending.phy, other.start < sending.end,
                sending.start < other.end, let disturber = station(other.station)
            else { return false }
            // A station that sends receives nothing.
            guard disturber !== listener else { return true }
            return areInRange(listener, disturber)
                && strength < Int(signal(between: disturber, and: listener)) + Self.captureRatio
        }
    }
}

extension AirAdvertisement {
    /// How long the packet on a primary channel takes (Core 5.4, Vol 6, Part B, 2.1 and 2.2), in microseconds.
    var primaryMicroseconds: Int64 {
        let header = 2
        let check = 3
        let address = 6
        // An extended header with an address, the SID and the pointer to the data (2.3.4).
        let payload = isLegacy ? address + (target == nil ? data.count : address) : 2 + address + 2 + 3
        let octets = Int64(header + payload + check)
        // The access address and the preamble come first; LE Coded has eight symbols for each bit, and two tails.
        return primaryPHY == .leCoded ? 80 + 256 + 16 + 24 + 64 * octets + 24 : 8 * (1 + 4 + octets)
    }

    /// Of the longest such packet.
    static let longestPrimaryMicroseconds: Int64 = 2_000
}
