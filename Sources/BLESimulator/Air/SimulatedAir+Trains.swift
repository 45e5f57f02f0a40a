import BLEPackets

/// Periodic trains: nothing is simulated while no controller follows one.
extension SimulatedAir {
    func isFollowed(_ station: any AirStation, set: UInt8) -> Bool {
        controllers.contains { controller in
            controller.settings.trains.contains { $0.station == station.index && $0.set == set }
        }
    }

    /// One packet of a train.
    func broadcast(_ train: AirTrain, of set: UInt8, from station: any AirStation) {
        for listener in controllers where listener.isOpen && areInRange(listener, station) {
            guard listener.settings.trains.contains(where: { $0.station == station.index && $0.set == set }) else {
                continue
            }
            if losesPacket() { continue }
            listener.receives(train, of: set, from: station)
        }
    }
}
