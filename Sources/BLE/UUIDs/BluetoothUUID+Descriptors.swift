// Made by Tools/AssignedNumbers/generate-uuids; do not edit.

extension BluetoothUUID {
    /// The descriptor Characteristic Extended Properties (2900).
    public static var characteristicExtendedProperties: BluetoothUUID { 0x2900 }
    /// The descriptor Characteristic User Descriptor (2901).
    public static var characteristicUserDescriptor: BluetoothUUID { 0x2901 }
    /// The descriptor Server Characteristic Configuration (2903).
    public static var serverCharacteristicConfiguration: BluetoothUUID { 0x2903 }
    /// The descriptor Characteristic Presentation Format (2904).
    public static var characteristicPresentationFormat: BluetoothUUID { 0x2904 }
    /// The descriptor Characteristic Aggregate Format (2905).
    public static var characteristicAggregateFormat: BluetoothUUID { 0x2905 }
    /// The descriptor Valid Range (2906).
    public static var validRange: BluetoothUUID { 0x2906 }
    /// The descriptor External Report Reference (2907).
    public static var externalReportReference: BluetoothUUID { 0x2907 }
    /// The descriptor Report Reference (2908).
    public static var reportReference: BluetoothUUID { 0x2908 }
    /// The descriptor Number of Digitals (2909).
    public static var numberOfDigitals: BluetoothUUID { 0x2909 }
    /// The descriptor Value Trigger Setting (290A).
    public static var valueTriggerSetting: BluetoothUUID { 0x290A }
    /// The descriptor Environmental Sensing Configuration (290B).
    public static var environmentalSensingConfiguration: BluetoothUUID { 0x290B }
    /// The descriptor Environmental Sensing Measurement (290C).
    public static var environmentalSensingMeasurement: BluetoothUUID { 0x290C }
    /// The descriptor Environmental Sensing Trigger Setting (290D).
    public static var environmentalSensingTriggerSetting: BluetoothUUID { 0x290D }
    /// The descriptor Time Trigger Setting (290E).
    public static var timeTriggerSetting: BluetoothUUID { 0x290E }
    /// The descriptor Complete BR-EDR Transport Block Data (290F).
    public static var completeBREDRTransportBlockData: BluetoothUUID { 0x290F }
}
