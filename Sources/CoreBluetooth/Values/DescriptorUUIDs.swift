// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// UUIDs of the standard descriptors (SPEC 2.2; Core 5.4, Vol 3, Part G, 3.3.3).

public let CBUUIDCharacteristicExtendedPropertiesString: String = "2900"
public let CBUUIDCharacteristicUserDescriptionString: String = "2901"
public let CBUUIDClientCharacteristicConfigurationString: String = "2902"
public let CBUUIDServerCharacteristicConfigurationString: String = "2903"
public let CBUUIDCharacteristicFormatString: String = "2904"
public let CBUUIDCharacteristicAggregateFormatString: String = "2905"
public let CBUUIDCharacteristicValidRangeString: String = "2906"
public let CBUUIDCharacteristicObservationScheduleString: String = "2910"
/// The characteristic under which an app may tell the number of its L2CAP channel.
public let CBUUIDL2CAPPSMCharacteristicString: String = "ABDD3056-28FA-441D-A470-55A75A52553A"
