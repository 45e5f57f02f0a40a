extension LESetExtendedScanParameters {
    /// Scans on the PHYs for which there are parameters.
    public init(
        ownAddressType: OwnAddressType = .public, filterPolicy: ScanningFilterPolicy = .all,
        le1M: Parameters? = nil, leCoded: Parameters? = nil
    ) {
        self.init(ownAddressType: ownAddressType, filterPolicy: filterPolicy, scanningPHYs: [], parameters: [])
        if let le1M {
            scanningPHYs.insert(.le1M)
            parameters.append(le1M)
        }
        if let leCoded {
            scanningPHYs.insert(.leCoded)
            parameters.append(leCoded)
        }
    }
}
