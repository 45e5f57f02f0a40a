// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// UUIDs of the standard descriptors (SPEC 2.2; Core 5.4, Vol 3, Part G, 3.3.3).

/// Characteristic Extended Properties (Core 5.4, Vol 3, Part G, 3.3.3.1): as `CBDescriptor.value` an `NSNumber`, bit 0
/// for reliable writes, bit 1 for a user description that can be written. An app cannot publish it.
public let CBUUIDCharacteristicExtendedPropertiesString: String = "2900"
/// Characteristic User Description (Core 5.4, Vol 3, Part G, 3.3.3.2): as `CBDescriptor.value` a `String`. An app may
/// publish it, to be read only.
public let CBUUIDCharacteristicUserDescriptionString: String = "2901"
/// Client Characteristic Configuration (Core 5.4, Vol 3, Part G, 3.3.3.3): as `CBDescriptor.value` an `NSNumber`, bit 0
/// for notifications, bit 1 for indications. It is written by `setNotifyValue(_:for:)` alone (SPEC 2.3), and published
/// by the system.
public let CBUUIDClientCharacteristicConfigurationString: String = "2902"
/// Server Characteristic Configuration (Core 5.4, Vol 3, Part G, 3.3.3.4): as `CBDescriptor.value` an `NSNumber`, bit 0
/// for broadcasts. An app cannot publish it.
public let CBUUIDServerCharacteristicConfigurationString: String = "2903"
/// Characteristic Presentation Format (Core 5.4, Vol 3, Part G, 3.3.3.5): as `CBDescriptor.value` `Data` of 7 octets.
/// An app may publish it.
public let CBUUIDCharacteristicFormatString: String = "2904"
/// Characteristic Aggregate Format (Core 5.4, Vol 3, Part G, 3.3.3.6): as `CBDescriptor.value` `Data`, the handles of
/// presentation formats, each of 2 octets with the least significant first. An app cannot publish it.
public let CBUUIDCharacteristicAggregateFormatString: String = "2905"
/// Valid Range: as `CBDescriptor.value` `Data`, the least and the greatest value in the form of the characteristic's.
/// An app cannot publish it.
public let CBUUIDCharacteristicValidRangeString: String = "2906"
/// Observation Schedule: as `CBDescriptor.value` `Data`. An app cannot publish it.
public let CBUUIDCharacteristicObservationScheduleString: String = "2910"
/// The characteristic under which an app may tell the number of its L2CAP channel.
public let CBUUIDL2CAPPSMCharacteristicString: String = "ABDD3056-28FA-441D-A470-55A75A52553A"
