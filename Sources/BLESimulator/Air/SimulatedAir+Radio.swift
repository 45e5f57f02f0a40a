import BLEPackets

/// Advertising, and the stations that receive it.
extension SimulatedAir {
    var isAnyoneListening: Bool { controllers.contains { $0.isListening } }

    /// A scanner or an initiator has started: paused advertising resumes.
    func listeningBegan() {
        for station in stations { station.wakeAdvertising() }
    }

    /// Simulates one advertising event.
    /// - Returns: Whether it led to a link.
    func broadcast(_ advertisement: AirAdvertisement, from advertiser: any AirStation) -> Bool {
        for listener in controllers where listener.isListening && areInRange(listener, advertiser) {
            if losesPacket() || isDrowned(at: listener) { continue }
            listener.receives(advertisement, from: advertiser)
        }
        guard advertisement.isConnectable else { return false }
        for listener in controllers where listener.isListening && areInRange(listener, advertiser) {
            guard let initiation = listener.wishToConnect(to: advertisement), let address = advertisement.address,
                !isDrowned(at: listener),
                advertiser.accepts(.connect, from: initiation.ownAddress, set: advertisement.set)
            else { continue }
            connect(listener, to: advertiser, at: address, set: advertisement.set, with: initiation, advertisement)
            // The advertiser did not receive the request: it goes on, and others may still connect.
            if !initiation.isUnheard { return true }
        }
        return false
    }

    func areInRange(_ a: any AirStation, _ b: any AirStation) -> Bool {
        a !== b && a.isPowered && b.isPowered && a.isInRange && b.isInRange
            && signal(between: a, and: b) >= configuration.sensitivity
    }

    /// The strength at which two stations receive each other, in dBm.
    func signal(between a: any AirStation, and b: any AirStation) -> Int8 {
        signals[StationPair(a.index, b.index)] ?? a.signal ?? b.signal ?? -40
    }

    /// The signal strength that `listener` measures.
    func measuredSignal(of station: any AirStation, at listener: any AirStation) -> Int8 {
        let jitter = Int64(max(0, configuration.signalJitter))
        let deviation = jitter == 0 ? 0 : generator.next(below: 2 * jitter + 1) - jitter
        // Strengths are given for a power of 0 dBm.
        let sent =
            Int64(signal(between: station, and: listener)) + Int64(station.transmitPower ?? 0)
            - loss(of: station) - loss(of: listener)
        return Int8(clamping: max(-127, min(20, sent + deviation)))
    }

    /// What the movement of a device takes of its signal, in dB.
    private func loss(of station: any AirStation) -> Int64 {
        (station as? SimulatedDevice)?.motion?.loss(atMicroseconds: nowMicroseconds) ?? 0
    }
}
