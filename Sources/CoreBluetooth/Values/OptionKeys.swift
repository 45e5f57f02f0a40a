// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Keys of the option dictionaries (SPEC 2.2).

// MARK: Managers

/// An `NSNumber`: whether to raise an alert if Bluetooth is off when the manager is created.
public let CBCentralManagerOptionShowPowerAlertKey: String = "kCBInitOptionShowPowerAlert"
/// A `String`, unique among the app's managers, under which the manager's state is preserved (SPEC SPR-1, SPR-2).
public let CBCentralManagerOptionRestoreIdentifierKey: String = "kCBInitOptionRestoreIdentifier"
/// Accepted and ignored: there is no device access for media here.
public let CBCentralManagerOptionDeviceAccessForMedia: String = "kCBInitOptionDeviceAccessForMedia"
/// An `NSNumber`: whether to raise an alert if Bluetooth is off when the manager is created.
public let CBPeripheralManagerOptionShowPowerAlertKey: String = "kCBInitOptionShowPowerAlert"
/// A `String`, unique among the app's managers, under which the manager's state is preserved (SPEC SPR-1, SPR-2).
public let CBPeripheralManagerOptionRestoreIdentifierKey: String = "kCBInitOptionRestoreIdentifier"

// MARK: Scanning

/// An `NSNumber`: whether every packet is reported as a discovery (SPEC CEN-27).
public let CBCentralManagerScanOptionAllowDuplicatesKey: String = "kCBScanOptionAllowDuplicates"
/// An array of `CBUUID`: devices that solicit these services match as well.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey: String = "kCBScanOptionSolicitedServiceUUIDs"

// MARK: Connecting

/// An `NSNumber`: whether to raise an alert if the connection succeeds while the app is suspended (SPEC ALR-1).
public let CBConnectPeripheralOptionNotifyOnConnectionKey: String = "kCBConnectOptionNotifyOnConnection"
/// An `NSNumber`: whether to raise an alert if the connection ends while the app is suspended (SPEC ALR-2).
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey: String = "kCBConnectOptionNotifyOnDisconnection"
/// An `NSNumber`: whether to raise an alert for each notification while the app is suspended (SPEC ALR-3).
public let CBConnectPeripheralOptionNotifyOnNotificationKey: String = "kCBConnectOptionNotifyOnNotification"
/// An `NSNumber`: the time to wait before connecting, in seconds.
public let CBConnectPeripheralOptionStartDelayKey: String = "kCBConnectOptionStartDelay"
/// Accepted and ignored: there is no Bluetooth Classic here to bridge to.
public let CBConnectPeripheralOptionEnableTransportBridgingKey: String = "kCBConnectOptionEnableTransportBridging"
/// Accepted and ignored: there is no Apple Notification Center Service here.
public let CBConnectPeripheralOptionRequiresANCS: String = "kCBConnectOptionRequiresANCS"
/// An `NSNumber`: whether the system connects again by itself if the connection is lost.
public let CBConnectPeripheralOptionEnableAutoReconnect: String = "kCBConnectOptionEnableAutoReconnect"

// MARK: Restoration

/// An array of `CBPeripheral` that were connected or connecting (SPEC SPR-12).
public let CBCentralManagerRestoredStatePeripheralsKey: String = "kCBRestoredPeripherals"
/// An array of `CBUUID`: the services of the scan.
public let CBCentralManagerRestoredStateScanServicesKey: String = "kCBRestoredScanServices"
/// A dictionary: the options of that scan.
public let CBCentralManagerRestoredStateScanOptionsKey: String = "kCBRestoredScanOptions"
/// An array of `CBMutableService` that were published, with their subscribed centrals (SPEC SPR-36).
public let CBPeripheralManagerRestoredStateServicesKey: String = "kCBRestoredServices"
/// A dictionary: the advertisement.
public let CBPeripheralManagerRestoredStateAdvertisementDataKey: String = "kCBRestoredAdvertisement"
