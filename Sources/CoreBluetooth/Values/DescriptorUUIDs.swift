// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// UUIDs of the standard descriptors (SPEC 2.2; Core 5.4, Vol 3, Part G, 3.3.3).

/// Characteristic Extended Properties (Core 5.4, Vol 3, Part G, 3.3.3.1): as `CBDescriptor.value` an `NSNumber`, bit 0
/// for reliable writes, bit 1 for a user description that can be written. An app cannot publish it.
public let CBUUIDCharacteristicExtendedPropertiesString: String = "2900"
/// Characteristic User Description (Core 5.4, Vol 3, Part G, 3.3.3.2): as `CBDescriptor.value` a `String`. An app may
/// publish it; it is read-only.
public let CBUUIDCharacteristicUserDescriptionString: String = "2901"
/// Client Characteristic Configuration (Core 5.4, Vol 3, Part G, 3.3.3.3): as `CBDescriptor.value` an `NSNumber`, bit 0
/// for notifications, bit 1 for indications. Only `setNotifyValue(_:for:)` writes it (SPEC 2.3), and only the system
/// publishes it.
public let CBUUIDClientCharacteristicConfigurationString: String = "2902"
/// Server Characteristic Configuration (Core 5.4, Vol 3, Part G, 3.3.3.4): as `CBDescriptor.value` an `NSNumber`, bit 0
/// for broadcasts. An app cannot publish it.
public let CBUUIDServerCharacteristicConfigurationString: String = "2903"
/// Characteristic Presentation Format (Core 5.4, Vol 3, Part G, 3.3.3.5): as `CBDescriptor.value` `Data` of 7 octets.
/// An app may publish it.
public let CBUUIDCharacteristicFormatString: String = "2904"
/// Characteristic Aggregate Format (Core 5.4, Vol 3, Part G, 3.3.3.6): as `CBDescriptor.value` `Data`: the handles of
/// presentation formats, 2 octets each, least significant first. An app cannot publish it.
public let CBUUIDCharacteristicAggregateFormatString: String = "2905"
/// Valid Range: as `CBDescriptor.value` `Data`: the lowest and the highest value, in the format of the characteristic's
/// value. An app cannot publish it.
public let CBUUIDCharacteristicValidRangeString: String = "2906"
/// Observation Schedule: as `CBDescriptor.value` `Data`. An app cannot publish it.
public let CBUUIDCharacteristicObservationScheduleString: String = "2910"
/// The characteristic in which an app may publish the PSM of its L2CAP channel.
public let CBUUIDL2CAPPSMCharacteristicString: String = "ABDD3056-28FA-441D-A470-55A75A52553A"
