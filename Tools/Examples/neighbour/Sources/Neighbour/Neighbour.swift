#if canImport(CoreBluetooth)
import CoreBluetooth

/// The name of the service 180D; `nil` where there is no Core Bluetooth.
public func serviceName() -> String? { CBUUID(string: "180D").description }
#else
/// The name of the service 180D; `nil` where there is no Core Bluetooth.
public func serviceName() -> String? { nil }
#endif
