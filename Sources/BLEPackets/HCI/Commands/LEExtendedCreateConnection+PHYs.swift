extension LEExtendedCreateConnection {
    /// Initiates on the PHYs for which there are parameters.
    public init(
        filterPolicy: InitiatorFilterPolicy = .peerAddress, ownAddressType: OwnAddressType = .public,
        peerAddress: DeviceAddress = DeviceAddress(value: 0, kind: .public), le1M: Parameters? = nil,
        le2M: Parameters? = nil, leCoded: Parameters? = nil
    ) {
        self.init(
            filterPolicy: filterPolicy, ownAddressType: ownAddressType, peerAddress: peerAddress, initiatingPHYs: [],
            parameters: [])
        if let le1M {
            initiatingPHYs.insert(.le1M)
            parameters.append(le1M)
        }
        if let le2M {
            initiatingPHYs.insert(.le2M)
            parameters.append(le2M)
        }
        if let leCoded {
            initiatingPHYs.insert(.leCoded)
            parameters.append(leCoded)
        }
    }
}
