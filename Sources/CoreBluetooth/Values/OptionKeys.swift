// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Keys of the option dictionaries (SPEC 2.2).

// MARK: Managers

/// An `NSNumber`: whether an alert is to be raised when Bluetooth is off at the manager's creation.
public let CBCentralManagerOptionShowPowerAlertKey: String = "kCBInitOptionShowPowerAlert"
/// A `String` that is unique among the app's managers: the manager's state is preserved under it (SPEC SPR-1, SPR-2).
public let CBCentralManagerOptionRestoreIdentifierKey: String = "kCBInitOptionRestoreIdentifier"
/// Taken and ignored: there is no access by media here.
public let CBCentralManagerOptionDeviceAccessForMedia: String = "kCBInitOptionDeviceAccessForMedia"
/// An `NSNumber`: whether an alert is to be raised when Bluetooth is off at the manager's creation.
public let CBPeripheralManagerOptionShowPowerAlertKey: String = "kCBInitOptionShowPowerAlert"
/// A `String` that is unique among the app's managers: the manager's state is preserved under it (SPEC SPR-1, SPR-2).
public let CBPeripheralManagerOptionRestoreIdentifierKey: String = "kCBInitOptionRestoreIdentifier"

// MARK: Scanning

/// An `NSNumber`: whether every packet is a discovery (SPEC CEN-27).
public let CBCentralManagerScanOptionAllowDuplicatesKey: String = "kCBScanOptionAllowDuplicates"
/// An array of `CBUUID`: devices that look for these services match as well.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey: String = "kCBScanOptionSolicitedServiceUUIDs"

// MARK: Connecting

/// An `NSNumber`: an alert when the connection succeeds while the app is suspended (SPEC ALR-1).
public let CBConnectPeripheralOptionNotifyOnConnectionKey: String = "kCBConnectOptionNotifyOnConnection"
/// An `NSNumber`: an alert when the connection ends while the app is suspended (SPEC ALR-2).
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey: String = "kCBConnectOptionNotifyOnDisconnection"
/// An `NSNumber`: an alert at each notification while the app is suspended (SPEC ALR-3).
public let CBConnectPeripheralOptionNotifyOnNotificationKey: String = "kCBConnectOptionNotifyOnNotification"
/// An `NSNumber` of seconds to wait before connecting.
public let CBConnectPeripheralOptionStartDelayKey: String = "kCBConnectOptionStartDelay"
/// Taken and ignored: there is no classic Bluetooth here to bridge to.
public let CBConnectPeripheralOptionEnableTransportBridgingKey: String = "kCBConnectOptionEnableTransportBridging"
/// Taken and ignored: no accessory finds the Apple Notification Center Service here.
public let CBConnectPeripheralOptionRequiresANCS: String = "kCBConnectOptionRequiresANCS"
/// An `NSNumber`: whether the system connects again by itself when the connection is lost.
public let CBConnectPeripheralOptionEnableAutoReconnect: String = "kCBConnectOptionEnableAutoReconnect"

// MARK: Restoration

/// An array of `CBPeripheral` that were connected or connecting (SPEC SPR-12).
public let CBCentralManagerRestoredStatePeripheralsKey: String = "kCBRestoredPeripherals"
/// An array of `CBUUID` that were scanned for.
public let CBCentralManagerRestoredStateScanServicesKey: String = "kCBRestoredScanServices"
/// A dictionary: the options of that scan.
public let CBCentralManagerRestoredStateScanOptionsKey: String = "kCBRestoredScanOptions"
/// An array of `CBMutableService` that were published, complete with subscribed centrals (SPEC SPR-36).
public let CBPeripheralManagerRestoredStateServicesKey: String = "kCBRestoredServices"
/// A dictionary: what was advertised.
public let CBPeripheralManagerRestoredStateAdvertisementDataKey: String = "kCBRestoredAdvertisement"
