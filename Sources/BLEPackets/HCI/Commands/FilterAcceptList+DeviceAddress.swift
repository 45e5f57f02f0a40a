// The filter accept list knows no identity marks.

extension LEAddDeviceToFilterAcceptList {
    /// Adds a device by its address; an identity type is replaced by the plain one.
    public init(address: DeviceAddress) { self.init(address: ReportedAddress(address.withoutIdentityMark)) }
}

extension LERemoveDeviceFromFilterAcceptList {
    /// Removes a device by its address; an identity type is replaced by the plain one.
    public init(address: DeviceAddress) { self.init(address: ReportedAddress(address.withoutIdentityMark)) }
}
