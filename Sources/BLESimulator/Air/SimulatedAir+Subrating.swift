import BLEPackets

/// Connection subrating (Core 5.4, Vol 6, Part B, 5.1.19 and 5.1.20).
extension SimulatedAir {
    func settleSubrate(
        of link: AirLink, _ request: SubrateParameters, by side: LinkSide, _ asking: any AirStation,
        _ asked: any AirStation
    ) {
        guard let accepted = asked.acceptedSubrates else {
            return asking.subrateChanged(on: link, status: .unsupportedRemoteFeature)
        }
        var factor = request.maximumFactor
        var latency = request.maximumLatency
        if side == .peripheral {
            // The central decides within what its host accepts.
            factor = min(factor, accepted.maximumFactor)
            latency = min(latency, accepted.maximumLatency)
            guard factor >= max(request.minimumFactor, accepted.minimumFactor) else {
                return asking.subrateChanged(on: link, status: .unsupportedFeatureOrParameterValue)
            }
        }
        link.subrateFactor = factor
        link.continuationNumber = min(request.continuationNumber, factor - 1)
        link.parameters.latency = latency
        link.parameters.supervisionTimeout = request.supervisionTimeout
        asking.subrateChanged(on: link, status: .success)
        asked.subrateChanged(on: link, status: .success)
    }
}
