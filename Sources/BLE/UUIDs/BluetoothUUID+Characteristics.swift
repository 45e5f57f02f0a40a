// Made by Tools/AssignedNumbers/generate-uuids; do not edit.

extension BluetoothUUID {
    /// The characteristic Device Name (2A00).
    public static var deviceName: BluetoothUUID { 0x2A00 }
    /// The characteristic Appearance (2A01).
    public static var appearance: BluetoothUUID { 0x2A01 }
    /// The characteristic Peripheral Privacy Flag (2A02).
    public static var peripheralPrivacyFlag: BluetoothUUID { 0x2A02 }
    /// The characteristic Reconnection Address (2A03).
    public static var reconnectionAddress: BluetoothUUID { 0x2A03 }
    /// The characteristic Peripheral Preferred Connection Parameters (2A04).
    public static var peripheralPreferredConnectionParameters: BluetoothUUID { 0x2A04 }
    /// The characteristic Service Changed (2A05).
    public static var serviceChanged: BluetoothUUID { 0x2A05 }
    /// The characteristic Alert Level (2A06).
    public static var alertLevel: BluetoothUUID { 0x2A06 }
    /// The characteristic Tx Power Level (2A07).
    public static var txPowerLevel: BluetoothUUID { 0x2A07 }
    /// The characteristic Date Time (2A08).
    public static var dateTime: BluetoothUUID { 0x2A08 }
    /// The characteristic Day of Week (2A09).
    public static var dayOfWeek: BluetoothUUID { 0x2A09 }
    /// The characteristic Day Date Time (2A0A).
    public static var dayDateTime: BluetoothUUID { 0x2A0A }
    /// The characteristic Exact Time 100 (2A0B).
    public static var exactTime100: BluetoothUUID { 0x2A0B }
    /// The characteristic Exact Time 256 (2A0C).
    public static var exactTime256: BluetoothUUID { 0x2A0C }
    /// The characteristic DST Offset (2A0D).
    public static var dstOffset: BluetoothUUID { 0x2A0D }
    /// The characteristic Time Zone (2A0E).
    public static var timeZone: BluetoothUUID { 0x2A0E }
    /// The characteristic Local Time Information (2A0F).
    public static var localTimeInformation: BluetoothUUID { 0x2A0F }
    /// The characteristic Secondary Time Zone (2A10).
    public static var secondaryTimeZone: BluetoothUUID { 0x2A10 }
    /// The characteristic Time with DST (2A11).
    public static var timeWithDST: BluetoothUUID { 0x2A11 }
    /// The characteristic Time Accuracy (2A12).
    public static var timeAccuracy: BluetoothUUID { 0x2A12 }
    /// The characteristic Time Source (2A13).
    public static var timeSource: BluetoothUUID { 0x2A13 }
    /// The characteristic Reference Time Information (2A14).
    public static var referenceTimeInformation: BluetoothUUID { 0x2A14 }
    /// The characteristic Time Broadcast (2A15).
    public static var timeBroadcast: BluetoothUUID { 0x2A15 }
    /// The characteristic Time Update Control Point (2A16).
    public static var timeUpdateControlPoint: BluetoothUUID { 0x2A16 }
    /// The characteristic Time Update State (2A17).
    public static var timeUpdateState: BluetoothUUID { 0x2A17 }
    /// The characteristic Glucose Measurement (2A18).
    public static var glucoseMeasurement: BluetoothUUID { 0x2A18 }
    /// The characteristic Battery Level (2A19).
    public static var batteryLevel: BluetoothUUID { 0x2A19 }
    /// The characteristic Battery Power State (2A1A).
    public static var batteryPowerState: BluetoothUUID { 0x2A1A }
    /// The characteristic Battery Level State (2A1B).
    public static var batteryLevelState: BluetoothUUID { 0x2A1B }
    /// The characteristic Temperature Measurement (2A1C).
    public static var temperatureMeasurement: BluetoothUUID { 0x2A1C }
    /// The characteristic Temperature Type (2A1D).
    public static var temperatureType: BluetoothUUID { 0x2A1D }
    /// The characteristic Intermediate Temperature (2A1E).
    public static var intermediateTemperature: BluetoothUUID { 0x2A1E }
    /// The characteristic Temperature Celsius (2A1F).
    public static var temperatureCelsius: BluetoothUUID { 0x2A1F }
    /// The characteristic Temperature Fahrenheit (2A20).
    public static var temperatureFahrenheit: BluetoothUUID { 0x2A20 }
    /// The characteristic Measurement Interval (2A21).
    public static var measurementInterval: BluetoothUUID { 0x2A21 }
    /// The characteristic Boot Keyboard Input Report (2A22).
    public static var bootKeyboardInputReport: BluetoothUUID { 0x2A22 }
    /// The characteristic System ID (2A23).
    public static var systemID: BluetoothUUID { 0x2A23 }
    /// The characteristic Model Number String (2A24).
    public static var modelNumberString: BluetoothUUID { 0x2A24 }
    /// The characteristic Serial Number String (2A25).
    public static var serialNumberString: BluetoothUUID { 0x2A25 }
    /// The characteristic Firmware Revision String (2A26).
    public static var firmwareRevisionString: BluetoothUUID { 0x2A26 }
    /// The characteristic Hardware Revision String (2A27).
    public static var hardwareRevisionString: BluetoothUUID { 0x2A27 }
    /// The characteristic Software Revision String (2A28).
    public static var softwareRevisionString: BluetoothUUID { 0x2A28 }
    /// The characteristic Manufacturer Name String (2A29).
    public static var manufacturerNameString: BluetoothUUID { 0x2A29 }
    /// The characteristic IEEE 11073-20601 Regulatory Certification Data List (2A2A).
    public static var ieee1107320601RegulatoryCertificationDataList: BluetoothUUID { 0x2A2A }
    /// The characteristic Current Time (2A2B).
    public static var currentTime: BluetoothUUID { 0x2A2B }
    /// The characteristic Magnetic Declination (2A2C).
    public static var magneticDeclination: BluetoothUUID { 0x2A2C }
    /// The characteristic Position 2D (2A2F).
    public static var position2D: BluetoothUUID { 0x2A2F }
    /// The characteristic Position 3D (2A30).
    public static var position3D: BluetoothUUID { 0x2A30 }
    /// The characteristic Scan Refresh (2A31).
    public static var scanRefresh: BluetoothUUID { 0x2A31 }
    /// The characteristic Boot Keyboard Output Report (2A32).
    public static var bootKeyboardOutputReport: BluetoothUUID { 0x2A32 }
    /// The characteristic Boot Mouse Input Report (2A33).
    public static var bootMouseInputReport: BluetoothUUID { 0x2A33 }
    /// The characteristic Glucose Measurement Context (2A34).
    public static var glucoseMeasurementContext: BluetoothUUID { 0x2A34 }
    /// The characteristic Blood Pressure Measurement (2A35).
    public static var bloodPressureMeasurement: BluetoothUUID { 0x2A35 }
    /// The characteristic Intermediate Cuff Pressure (2A36).
    public static var intermediateCuffPressure: BluetoothUUID { 0x2A36 }
    /// The characteristic Heart Rate Measurement (2A37).
    public static var heartRateMeasurement: BluetoothUUID { 0x2A37 }
    /// The characteristic Body Sensor Location (2A38).
    public static var bodySensorLocation: BluetoothUUID { 0x2A38 }
    /// The characteristic Heart Rate Control Point (2A39).
    public static var heartRateControlPoint: BluetoothUUID { 0x2A39 }
    /// The characteristic Removable (2A3A).
    public static var removable: BluetoothUUID { 0x2A3A }
    /// The characteristic Service Required (2A3B).
    public static var serviceRequired: BluetoothUUID { 0x2A3B }
    /// The characteristic Scientific Temperature Celsius (2A3C).
    public static var scientificTemperatureCelsius: BluetoothUUID { 0x2A3C }
    /// The characteristic String (2A3D).
    public static var string: BluetoothUUID { 0x2A3D }
    /// The characteristic Network Availability (2A3E).
    public static var networkAvailability: BluetoothUUID { 0x2A3E }
    /// The characteristic Alert Status (2A3F).
    public static var alertStatus: BluetoothUUID { 0x2A3F }
    /// The characteristic Ringer Control point (2A40).
    public static var ringerControlPoint: BluetoothUUID { 0x2A40 }
    /// The characteristic Ringer Setting (2A41).
    public static var ringerSetting: BluetoothUUID { 0x2A41 }
    /// The characteristic Alert Category ID Bit Mask (2A42).
    public static var alertCategoryIDBitMask: BluetoothUUID { 0x2A42 }
    /// The characteristic Alert Category ID (2A43).
    public static var alertCategoryID: BluetoothUUID { 0x2A43 }
    /// The characteristic Alert Notification Control Point (2A44).
    public static var alertNotificationControlPoint: BluetoothUUID { 0x2A44 }
    /// The characteristic Unread Alert Status (2A45).
    public static var unreadAlertStatus: BluetoothUUID { 0x2A45 }
    /// The characteristic New Alert (2A46).
    public static var newAlert: BluetoothUUID { 0x2A46 }
    /// The characteristic Supported New Alert Category (2A47).
    public static var supportedNewAlertCategory: BluetoothUUID { 0x2A47 }
    /// The characteristic Supported Unread Alert Category (2A48).
    public static var supportedUnreadAlertCategory: BluetoothUUID { 0x2A48 }
    /// The characteristic Blood Pressure Feature (2A49).
    public static var bloodPressureFeature: BluetoothUUID { 0x2A49 }
    /// The characteristic HID Information (2A4A).
    public static var hidInformation: BluetoothUUID { 0x2A4A }
    /// The characteristic Report Map (2A4B).
    public static var reportMap: BluetoothUUID { 0x2A4B }
    /// The characteristic HID Control Point (2A4C).
    public static var hidControlPoint: BluetoothUUID { 0x2A4C }
    /// The characteristic Report (2A4D).
    public static var report: BluetoothUUID { 0x2A4D }
    /// The characteristic Protocol Mode (2A4E).
    public static var protocolMode: BluetoothUUID { 0x2A4E }
    /// The characteristic Scan Interval Window (2A4F).
    public static var scanIntervalWindow: BluetoothUUID { 0x2A4F }
    /// The characteristic PnP ID (2A50).
    public static var pnPID: BluetoothUUID { 0x2A50 }
    /// The characteristic Glucose Feature (2A51).
    public static var glucoseFeature: BluetoothUUID { 0x2A51 }
    /// The characteristic Record Access Control Point (2A52).
    public static var recordAccessControlPoint: BluetoothUUID { 0x2A52 }
    /// The characteristic RSC Measurement (2A53).
    public static var rscMeasurement: BluetoothUUID { 0x2A53 }
    /// The characteristic RSC Feature (2A54).
    public static var rscFeature: BluetoothUUID { 0x2A54 }
    /// The characteristic SC Control Point (2A55).
    public static var scControlPoint: BluetoothUUID { 0x2A55 }
    /// The characteristic Digital (2A56).
    public static var digital: BluetoothUUID { 0x2A56 }
    /// The characteristic Digital Output (2A57).
    public static var digitalOutput: BluetoothUUID { 0x2A57 }
    /// The characteristic Analog (2A58).
    public static var analog: BluetoothUUID { 0x2A58 }
    /// The characteristic Analog Output (2A59).
    public static var analogOutput: BluetoothUUID { 0x2A59 }
    /// The characteristic Aggregate (2A5A).
    public static var aggregate: BluetoothUUID { 0x2A5A }
    /// The characteristic CSC Measurement (2A5B).
    public static var cscMeasurement: BluetoothUUID { 0x2A5B }
    /// The characteristic CSC Feature (2A5C).
    public static var cscFeature: BluetoothUUID { 0x2A5C }
    /// The characteristic Sensor Location (2A5D).
    public static var sensorLocation: BluetoothUUID { 0x2A5D }
    /// The characteristic PLX Spot-Check Measurement (2A5E).
    public static var plxSpotCheckMeasurement: BluetoothUUID { 0x2A5E }
    /// The characteristic PLX Continuous Measurement Characteristic (2A5F).
    public static var plxContinuousMeasurementCharacteristic: BluetoothUUID { 0x2A5F }
    /// The characteristic PLX Features (2A60).
    public static var plxFeatures: BluetoothUUID { 0x2A60 }
    /// The characteristic Pulse Oximetry Control Point (2A62).
    public static var pulseOximetryControlPoint: BluetoothUUID { 0x2A62 }
    /// The characteristic Cycling Power Measurement (2A63).
    public static var cyclingPowerMeasurement: BluetoothUUID { 0x2A63 }
    /// The characteristic Cycling Power Vector (2A64).
    public static var cyclingPowerVector: BluetoothUUID { 0x2A64 }
    /// The characteristic Cycling Power Feature (2A65).
    public static var cyclingPowerFeature: BluetoothUUID { 0x2A65 }
    /// The characteristic Cycling Power Control Point (2A66).
    public static var cyclingPowerControlPoint: BluetoothUUID { 0x2A66 }
    /// The characteristic Location and Speed Characteristic (2A67).
    public static var locationAndSpeedCharacteristic: BluetoothUUID { 0x2A67 }
    /// The characteristic Navigation (2A68).
    public static var navigation: BluetoothUUID { 0x2A68 }
    /// The characteristic Position Quality (2A69).
    public static var positionQuality: BluetoothUUID { 0x2A69 }
    /// The characteristic LN Feature (2A6A).
    public static var lnFeature: BluetoothUUID { 0x2A6A }
    /// The characteristic LN Control Point (2A6B).
    public static var lnControlPoint: BluetoothUUID { 0x2A6B }
    /// The characteristic Elevation (2A6C).
    public static var elevation: BluetoothUUID { 0x2A6C }
    /// The characteristic Pressure (2A6D).
    public static var pressure: BluetoothUUID { 0x2A6D }
    /// The characteristic Temperature (2A6E).
    public static var temperature: BluetoothUUID { 0x2A6E }
    /// The characteristic Humidity (2A6F).
    public static var humidity: BluetoothUUID { 0x2A6F }
    /// The characteristic True Wind Speed (2A70).
    public static var trueWindSpeed: BluetoothUUID { 0x2A70 }
    /// The characteristic True Wind Direction (2A71).
    public static var trueWindDirection: BluetoothUUID { 0x2A71 }
    /// The characteristic Apparent Wind Speed (2A72).
    public static var apparentWindSpeed: BluetoothUUID { 0x2A72 }
    /// The characteristic Apparent Wind Direction (2A73).
    public static var apparentWindDirection: BluetoothUUID { 0x2A73 }
    /// The characteristic Gust Factor (2A74).
    public static var gustFactor: BluetoothUUID { 0x2A74 }
    /// The characteristic Pollen Concentration (2A75).
    public static var pollenConcentration: BluetoothUUID { 0x2A75 }
    /// The characteristic UV Index (2A76).
    public static var uvIndex: BluetoothUUID { 0x2A76 }
    /// The characteristic Irradiance (2A77).
    public static var irradiance: BluetoothUUID { 0x2A77 }
    /// The characteristic Rainfall (2A78).
    public static var rainfall: BluetoothUUID { 0x2A78 }
    /// The characteristic Wind Chill (2A79).
    public static var windChill: BluetoothUUID { 0x2A79 }
    /// The characteristic Heat Index (2A7A).
    public static var heatIndex: BluetoothUUID { 0x2A7A }
    /// The characteristic Dew Point (2A7B).
    public static var dewPoint: BluetoothUUID { 0x2A7B }
    /// The characteristic Descriptor Value Changed (2A7D).
    public static var descriptorValueChanged: BluetoothUUID { 0x2A7D }
    /// The characteristic Aerobic Heart Rate Lower Limit (2A7E).
    public static var aerobicHeartRateLowerLimit: BluetoothUUID { 0x2A7E }
    /// The characteristic Aerobic Threshold (2A7F).
    public static var aerobicThreshold: BluetoothUUID { 0x2A7F }
    /// The characteristic Age (2A80).
    public static var age: BluetoothUUID { 0x2A80 }
    /// The characteristic Anaerobic Heart Rate Lower Limit (2A81).
    public static var anaerobicHeartRateLowerLimit: BluetoothUUID { 0x2A81 }
    /// The characteristic Anaerobic Heart Rate Upper Limit (2A82).
    public static var anaerobicHeartRateUpperLimit: BluetoothUUID { 0x2A82 }
    /// The characteristic Anaerobic Threshold (2A83).
    public static var anaerobicThreshold: BluetoothUUID { 0x2A83 }
    /// The characteristic Aerobic Heart Rate Upper Limit (2A84).
    public static var aerobicHeartRateUpperLimit: BluetoothUUID { 0x2A84 }
    /// The characteristic Date of Birth (2A85).
    public static var dateOfBirth: BluetoothUUID { 0x2A85 }
    /// The characteristic Date of Threshold Assessment (2A86).
    public static var dateOfThresholdAssessment: BluetoothUUID { 0x2A86 }
    /// The characteristic Email Address (2A87).
    public static var emailAddress: BluetoothUUID { 0x2A87 }
    /// The characteristic Fat Burn Heart Rate Lower Limit (2A88).
    public static var fatBurnHeartRateLowerLimit: BluetoothUUID { 0x2A88 }
    /// The characteristic Fat Burn Heart Rate Upper Limit (2A89).
    public static var fatBurnHeartRateUpperLimit: BluetoothUUID { 0x2A89 }
    /// The characteristic First Name (2A8A).
    public static var firstName: BluetoothUUID { 0x2A8A }
    /// The characteristic Five Zone Heart Rate Limits (2A8B).
    public static var fiveZoneHeartRateLimits: BluetoothUUID { 0x2A8B }
    /// The characteristic Gender (2A8C).
    public static var gender: BluetoothUUID { 0x2A8C }
    /// The characteristic Heart Rate Max (2A8D).
    public static var heartRateMax: BluetoothUUID { 0x2A8D }
    /// The characteristic Height (2A8E).
    public static var height: BluetoothUUID { 0x2A8E }
    /// The characteristic Hip Circumference (2A8F).
    public static var hipCircumference: BluetoothUUID { 0x2A8F }
    /// The characteristic Last Name (2A90).
    public static var lastName: BluetoothUUID { 0x2A90 }
    /// The characteristic Maximum Recommended Heart Rate (2A91).
    public static var maximumRecommendedHeartRate: BluetoothUUID { 0x2A91 }
    /// The characteristic Resting Heart Rate (2A92).
    public static var restingHeartRate: BluetoothUUID { 0x2A92 }
    /// The characteristic Sport Type for Aerobic and Anaerobic Thresholds (2A93).
    public static var sportTypeForAerobicAndAnaerobicThresholds: BluetoothUUID { 0x2A93 }
    /// The characteristic Three Zone Heart Rate Limits (2A94).
    public static var threeZoneHeartRateLimits: BluetoothUUID { 0x2A94 }
    /// The characteristic Two Zone Heart Rate Limit (2A95).
    public static var twoZoneHeartRateLimit: BluetoothUUID { 0x2A95 }
    /// The characteristic VO2 Max (2A96).
    public static var vo2Max: BluetoothUUID { 0x2A96 }
    /// The characteristic Waist Circumference (2A97).
    public static var waistCircumference: BluetoothUUID { 0x2A97 }
    /// The characteristic Weight (2A98).
    public static var weight: BluetoothUUID { 0x2A98 }
    /// The characteristic Database Change Increment (2A99).
    public static var databaseChangeIncrement: BluetoothUUID { 0x2A99 }
    /// The characteristic User Index (2A9A).
    public static var userIndex: BluetoothUUID { 0x2A9A }
    /// The characteristic Body Composition Feature (2A9B).
    public static var bodyCompositionFeature: BluetoothUUID { 0x2A9B }
    /// The characteristic Body Composition Measurement (2A9C).
    public static var bodyCompositionMeasurement: BluetoothUUID { 0x2A9C }
    /// The characteristic Weight Measurement (2A9D).
    public static var weightMeasurement: BluetoothUUID { 0x2A9D }
    /// The characteristic Weight Scale Feature (2A9E).
    public static var weightScaleFeature: BluetoothUUID { 0x2A9E }
    /// The characteristic User Control Point (2A9F).
    public static var userControlPoint: BluetoothUUID { 0x2A9F }
    /// The characteristic Magnetic Flux Density - 2D (2AA0).
    public static var magneticFluxDensity2D: BluetoothUUID { 0x2AA0 }
    /// The characteristic Magnetic Flux Density - 3D (2AA1).
    public static var magneticFluxDensity3D: BluetoothUUID { 0x2AA1 }
    /// The characteristic Language (2AA2).
    public static var language: BluetoothUUID { 0x2AA2 }
    /// The characteristic Barometric Pressure Trend (2AA3).
    public static var barometricPressureTrend: BluetoothUUID { 0x2AA3 }
    /// The characteristic Bond Management Control Point (2AA4).
    public static var bondManagementControlPoint: BluetoothUUID { 0x2AA4 }
    /// The characteristic Bond Management Features (2AA5).
    public static var bondManagementFeatures: BluetoothUUID { 0x2AA5 }
    /// The characteristic Central Address Resolution (2AA6).
    public static var centralAddressResolution: BluetoothUUID { 0x2AA6 }
    /// The characteristic CGM Measurement (2AA7).
    public static var cgmMeasurement: BluetoothUUID { 0x2AA7 }
    /// The characteristic CGM Feature (2AA8).
    public static var cgmFeature: BluetoothUUID { 0x2AA8 }
    /// The characteristic CGM Status (2AA9).
    public static var cgmStatus: BluetoothUUID { 0x2AA9 }
    /// The characteristic CGM Session Start Time (2AAA).
    public static var cgmSessionStartTime: BluetoothUUID { 0x2AAA }
    /// The characteristic CGM Session Run Time (2AAB).
    public static var cgmSessionRunTime: BluetoothUUID { 0x2AAB }
    /// The characteristic CGM Specific Ops Control Point (2AAC).
    public static var cgmSpecificOpsControlPoint: BluetoothUUID { 0x2AAC }
    /// The characteristic Indoor Positioning Configuration (2AAD).
    public static var indoorPositioningConfiguration: BluetoothUUID { 0x2AAD }
    /// The characteristic Latitude (2AAE).
    public static var latitude: BluetoothUUID { 0x2AAE }
    /// The characteristic Longitude (2AAF).
    public static var longitude: BluetoothUUID { 0x2AAF }
    /// The characteristic Local North Coordinate (2AB0).
    public static var localNorthCoordinate: BluetoothUUID { 0x2AB0 }
    /// The characteristic Local East Coordinate (2AB1).
    public static var localEastCoordinate: BluetoothUUID { 0x2AB1 }
    /// The characteristic Floor Number (2AB2).
    public static var floorNumber: BluetoothUUID { 0x2AB2 }
    /// The characteristic Altitude (2AB3).
    public static var altitude: BluetoothUUID { 0x2AB3 }
    /// The characteristic Uncertainty (2AB4).
    public static var uncertainty: BluetoothUUID { 0x2AB4 }
    /// The characteristic Location Name (2AB5).
    public static var locationName: BluetoothUUID { 0x2AB5 }
    /// The characteristic URI (2AB6).
    public static var uri: BluetoothUUID { 0x2AB6 }
    /// The characteristic HTTP Headers (2AB7).
    public static var httpHeaders: BluetoothUUID { 0x2AB7 }
    /// The characteristic HTTP Status Code (2AB8).
    public static var httpStatusCode: BluetoothUUID { 0x2AB8 }
    /// The characteristic HTTP Entity Body (2AB9).
    public static var httpEntityBody: BluetoothUUID { 0x2AB9 }
    /// The characteristic HTTP Control Point (2ABA).
    public static var httpControlPoint: BluetoothUUID { 0x2ABA }
    /// The characteristic HTTPS Security (2ABB).
    public static var httpsSecurity: BluetoothUUID { 0x2ABB }
    /// The characteristic TDS Control Point (2ABC).
    public static var tdsControlPoint: BluetoothUUID { 0x2ABC }
    /// The characteristic OTS Feature (2ABD).
    public static var otsFeature: BluetoothUUID { 0x2ABD }
    /// The characteristic Object Name (2ABE).
    public static var objectName: BluetoothUUID { 0x2ABE }
    /// The characteristic Object Type (2ABF).
    public static var objectType: BluetoothUUID { 0x2ABF }
    /// The characteristic Object Size (2AC0).
    public static var objectSize: BluetoothUUID { 0x2AC0 }
    /// The characteristic Object First-Created (2AC1).
    public static var objectFirstCreated: BluetoothUUID { 0x2AC1 }
    /// The characteristic Object Last-Modified (2AC2).
    public static var objectLastModified: BluetoothUUID { 0x2AC2 }
    /// The characteristic Object ID (2AC3).
    public static var objectID: BluetoothUUID { 0x2AC3 }
    /// The characteristic Object Properties (2AC4).
    public static var objectProperties: BluetoothUUID { 0x2AC4 }
    /// The characteristic Object Action Control Point (2AC5).
    public static var objectActionControlPoint: BluetoothUUID { 0x2AC5 }
    /// The characteristic Object List Control Point (2AC6).
    public static var objectListControlPoint: BluetoothUUID { 0x2AC6 }
    /// The characteristic Object List Filter (2AC7).
    public static var objectListFilter: BluetoothUUID { 0x2AC7 }
    /// The characteristic Object Changed (2AC8).
    public static var objectChanged: BluetoothUUID { 0x2AC8 }
    /// The characteristic Resolvable Private Address Only (2AC9).
    public static var resolvablePrivateAddressOnly: BluetoothUUID { 0x2AC9 }
    /// The characteristic Fitness Machine Feature (2ACC).
    public static var fitnessMachineFeature: BluetoothUUID { 0x2ACC }
    /// The characteristic Treadmill Data (2ACD).
    public static var treadmillData: BluetoothUUID { 0x2ACD }
    /// The characteristic Cross Trainer Data (2ACE).
    public static var crossTrainerData: BluetoothUUID { 0x2ACE }
    /// The characteristic Step Climber Data (2ACF).
    public static var stepClimberData: BluetoothUUID { 0x2ACF }
    /// The characteristic Stair Climber Data (2AD0).
    public static var stairClimberData: BluetoothUUID { 0x2AD0 }
    /// The characteristic Rower Data (2AD1).
    public static var rowerData: BluetoothUUID { 0x2AD1 }
    /// The characteristic Indoor Bike Data (2AD2).
    public static var indoorBikeData: BluetoothUUID { 0x2AD2 }
    /// The characteristic Training Status (2AD3).
    public static var trainingStatus: BluetoothUUID { 0x2AD3 }
    /// The characteristic Supported Speed Range (2AD4).
    public static var supportedSpeedRange: BluetoothUUID { 0x2AD4 }
    /// The characteristic Supported Inclination Range (2AD5).
    public static var supportedInclinationRange: BluetoothUUID { 0x2AD5 }
    /// The characteristic Supported Resistance Level Range (2AD6).
    public static var supportedResistanceLevelRange: BluetoothUUID { 0x2AD6 }
    /// The characteristic Supported Heart Rate Range (2AD7).
    public static var supportedHeartRateRange: BluetoothUUID { 0x2AD7 }
    /// The characteristic Supported Power Range (2AD8).
    public static var supportedPowerRange: BluetoothUUID { 0x2AD8 }
    /// The characteristic Fitness Machine Control Point (2AD9).
    public static var fitnessMachineControlPoint: BluetoothUUID { 0x2AD9 }
    /// The characteristic Fitness Machine Status (2ADA).
    public static var fitnessMachineStatus: BluetoothUUID { 0x2ADA }
    /// The characteristic Mesh Provisioning Data In (2ADB).
    public static var meshProvisioningDataIn: BluetoothUUID { 0x2ADB }
    /// The characteristic Mesh Provisioning Data Out (2ADC).
    public static var meshProvisioningDataOut: BluetoothUUID { 0x2ADC }
    /// The characteristic Mesh Proxy Data In (2ADD).
    public static var meshProxyDataIn: BluetoothUUID { 0x2ADD }
    /// The characteristic Mesh Proxy Data Out (2ADE).
    public static var meshProxyDataOut: BluetoothUUID { 0x2ADE }
    /// The characteristic Average Current (2AE0).
    public static var averageCurrent: BluetoothUUID { 0x2AE0 }
    /// The characteristic Average Voltage (2AE1).
    public static var averageVoltage: BluetoothUUID { 0x2AE1 }
    /// The characteristic Boolean (2AE2).
    public static var boolean: BluetoothUUID { 0x2AE2 }
    /// The characteristic Chromatic Distance From Planckian (2AE3).
    public static var chromaticDistanceFromPlanckian: BluetoothUUID { 0x2AE3 }
    /// The characteristic Chromaticity Coordinates (2AE4).
    public static var chromaticityCoordinates: BluetoothUUID { 0x2AE4 }
    /// The characteristic Chromaticity In CCT And Duv Values (2AE5).
    public static var chromaticityInCCTAndDuvValues: BluetoothUUID { 0x2AE5 }
    /// The characteristic Chromaticity Tolerance (2AE6).
    public static var chromaticityTolerance: BluetoothUUID { 0x2AE6 }
    /// The characteristic CIE 13.3-1995 Color Rendering Index (2AE7).
    public static var cie1331995ColorRenderingIndex: BluetoothUUID { 0x2AE7 }
    /// The characteristic Coefficient (2AE8).
    public static var coefficient: BluetoothUUID { 0x2AE8 }
    /// The characteristic Correlated Color Temperature (2AE9).
    public static var correlatedColorTemperature: BluetoothUUID { 0x2AE9 }
    /// The characteristic Count 16 (2AEA).
    public static var count16: BluetoothUUID { 0x2AEA }
    /// The characteristic Count 24 (2AEB).
    public static var count24: BluetoothUUID { 0x2AEB }
    /// The characteristic Country Code (2AEC).
    public static var countryCode: BluetoothUUID { 0x2AEC }
    /// The characteristic Date UTC (2AED).
    public static var dateUTC: BluetoothUUID { 0x2AED }
    /// The characteristic Electric Current (2AEE).
    public static var electricCurrent: BluetoothUUID { 0x2AEE }
    /// The characteristic Electric Current Range (2AEF).
    public static var electricCurrentRange: BluetoothUUID { 0x2AEF }
    /// The characteristic Electric Current Specification (2AF0).
    public static var electricCurrentSpecification: BluetoothUUID { 0x2AF0 }
    /// The characteristic Electric Current Statistics (2AF1).
    public static var electricCurrentStatistics: BluetoothUUID { 0x2AF1 }
    /// The characteristic Energy (2AF2).
    public static var energy: BluetoothUUID { 0x2AF2 }
    /// The characteristic Energy In A Period Of Day (2AF3).
    public static var energyInAPeriodOfDay: BluetoothUUID { 0x2AF3 }
    /// The characteristic Event Statistics (2AF4).
    public static var eventStatistics: BluetoothUUID { 0x2AF4 }
    /// The characteristic Fixed String 16 (2AF5).
    public static var fixedString16: BluetoothUUID { 0x2AF5 }
    /// The characteristic Fixed String 24 (2AF6).
    public static var fixedString24: BluetoothUUID { 0x2AF6 }
    /// The characteristic Fixed String 36 (2AF7).
    public static var fixedString36: BluetoothUUID { 0x2AF7 }
    /// The characteristic Fixed String 8 (2AF8).
    public static var fixedString8: BluetoothUUID { 0x2AF8 }
    /// The characteristic Generic Level (2AF9).
    public static var genericLevel: BluetoothUUID { 0x2AF9 }
    /// The characteristic Global Trade Item Number (2AFA).
    public static var globalTradeItemNumber: BluetoothUUID { 0x2AFA }
    /// The characteristic Illuminance (2AFB).
    public static var illuminance: BluetoothUUID { 0x2AFB }
    /// The characteristic Luminous Efficacy (2AFC).
    public static var luminousEfficacy: BluetoothUUID { 0x2AFC }
    /// The characteristic Luminous Energy (2AFD).
    public static var luminousEnergy: BluetoothUUID { 0x2AFD }
    /// The characteristic Luminous Exposure (2AFE).
    public static var luminousExposure: BluetoothUUID { 0x2AFE }
    /// The characteristic Luminous Flux (2AFF).
    public static var luminousFlux: BluetoothUUID { 0x2AFF }
    /// The characteristic Luminous Flux Range (2B00).
    public static var luminousFluxRange: BluetoothUUID { 0x2B00 }
    /// The characteristic Luminous Intensity (2B01).
    public static var luminousIntensity: BluetoothUUID { 0x2B01 }
    /// The characteristic B02 Mass Flow (2B02).
    public static var b02MassFlow: BluetoothUUID { 0x2B02 }
    /// The characteristic Perceived Lightness (2B03).
    public static var perceivedLightness: BluetoothUUID { 0x2B03 }
    /// The characteristic Percentage 8 (2B04).
    public static var percentage8: BluetoothUUID { 0x2B04 }
    /// The characteristic Power (2B05).
    public static var power: BluetoothUUID { 0x2B05 }
    /// The characteristic Power Specification (2B06).
    public static var powerSpecification: BluetoothUUID { 0x2B06 }
    /// The characteristic Relative Runtime In A Current Range (2B07).
    public static var relativeRuntimeInACurrentRange: BluetoothUUID { 0x2B07 }
    /// The characteristic Relative Runtime In A Generic Level Range (2B08).
    public static var relativeRuntimeInAGenericLevelRange: BluetoothUUID { 0x2B08 }
    /// The characteristic Relative Value In A Voltage Range (2B09).
    public static var relativeValueInAVoltageRange: BluetoothUUID { 0x2B09 }
    /// The characteristic Relative Value In An Illuminance Range (2B0A).
    public static var relativeValueInAnIlluminanceRange: BluetoothUUID { 0x2B0A }
    /// The characteristic Relative Value In A Period Of Day (2B0B).
    public static var relativeValueInAPeriodOfDay: BluetoothUUID { 0x2B0B }
    /// The characteristic Relative Value In A Temperature Range (2B0C).
    public static var relativeValueInATemperatureRange: BluetoothUUID { 0x2B0C }
    /// The characteristic Temperature 8 (2B0D).
    public static var temperature8: BluetoothUUID { 0x2B0D }
    /// The characteristic Temperature 8 In A Period Of Day (2B0E).
    public static var temperature8InAPeriodOfDay: BluetoothUUID { 0x2B0E }
    /// The characteristic Temperature 8 Statistics (2B0F).
    public static var temperature8Statistics: BluetoothUUID { 0x2B0F }
    /// The characteristic Temperature Range (2B10).
    public static var temperatureRange: BluetoothUUID { 0x2B10 }
    /// The characteristic Temperature Statistics (2B11).
    public static var temperatureStatistics: BluetoothUUID { 0x2B11 }
    /// The characteristic Time Decihour 8 (2B12).
    public static var timeDecihour8: BluetoothUUID { 0x2B12 }
    /// The characteristic Time Exponential 8 (2B13).
    public static var timeExponential8: BluetoothUUID { 0x2B13 }
    /// The characteristic Time Hour 24 (2B14).
    public static var timeHour24: BluetoothUUID { 0x2B14 }
    /// The characteristic Time Millisecond 24 (2B15).
    public static var timeMillisecond24: BluetoothUUID { 0x2B15 }
    /// The characteristic Time Second 16 (2B16).
    public static var timeSecond16: BluetoothUUID { 0x2B16 }
    /// The characteristic Time Second 8 (2B17).
    public static var timeSecond8: BluetoothUUID { 0x2B17 }
    /// The characteristic Voltage (2B18).
    public static var voltage: BluetoothUUID { 0x2B18 }
    /// The characteristic Voltage Specification (2B19).
    public static var voltageSpecification: BluetoothUUID { 0x2B19 }
    /// The characteristic Voltage Statistics (2B1A).
    public static var voltageStatistics: BluetoothUUID { 0x2B1A }
    /// The characteristic Volume Flow (2B1B).
    public static var volumeFlow: BluetoothUUID { 0x2B1B }
    /// The characteristic Chromaticity Coordinate (2B1C).
    public static var chromaticityCoordinate: BluetoothUUID { 0x2B1C }
    /// The characteristic RC Feature (2B1D).
    public static var rcFeature: BluetoothUUID { 0x2B1D }
    /// The characteristic RC Settings (2B1E).
    public static var rcSettings: BluetoothUUID { 0x2B1E }
    /// The characteristic Reconnection Configuration Control Point (2B1F).
    public static var reconnectionConfigurationControlPoint: BluetoothUUID { 0x2B1F }
    /// The characteristic IDD Status Changed (2B20).
    public static var iddStatusChanged: BluetoothUUID { 0x2B20 }
    /// The characteristic IDD Status (2B21).
    public static var iddStatus: BluetoothUUID { 0x2B21 }
    /// The characteristic IDD Annunciation Status (2B22).
    public static var iddAnnunciationStatus: BluetoothUUID { 0x2B22 }
    /// The characteristic IDD Features (2B23).
    public static var iddFeatures: BluetoothUUID { 0x2B23 }
    /// The characteristic IDD Status Reader Control Point (2B24).
    public static var iddStatusReaderControlPoint: BluetoothUUID { 0x2B24 }
    /// The characteristic IDD Command Control Point (2B25).
    public static var iddCommandControlPoint: BluetoothUUID { 0x2B25 }
    /// The characteristic IDD Command Data (2B26).
    public static var iddCommandData: BluetoothUUID { 0x2B26 }
    /// The characteristic IDD Record Access Control Point (2B27).
    public static var iddRecordAccessControlPoint: BluetoothUUID { 0x2B27 }
    /// The characteristic IDD History Data (2B28).
    public static var iddHistoryData: BluetoothUUID { 0x2B28 }
    /// The characteristic Client Supported Features (2B29).
    public static var clientSupportedFeatures: BluetoothUUID { 0x2B29 }
    /// The characteristic Database Hash (2B2A).
    public static var databaseHash: BluetoothUUID { 0x2B2A }
    /// The characteristic BSS Control Point (2B2B).
    public static var bssControlPoint: BluetoothUUID { 0x2B2B }
    /// The characteristic BSS Response (2B2C).
    public static var bssResponse: BluetoothUUID { 0x2B2C }
    /// The characteristic Emergency ID (2B2D).
    public static var emergencyID: BluetoothUUID { 0x2B2D }
    /// The characteristic Emergency Text (2B2E).
    public static var emergencyText: BluetoothUUID { 0x2B2E }
    /// The characteristic Enhanced Blood Pressure Measurement (2B34).
    public static var enhancedBloodPressureMeasurement: BluetoothUUID { 0x2B34 }
    /// The characteristic Enhanced Intermediate Cuff Pressure (2B35).
    public static var enhancedIntermediateCuffPressure: BluetoothUUID { 0x2B35 }
    /// The characteristic Blood Pressure Record (2B36).
    public static var bloodPressureRecord: BluetoothUUID { 0x2B36 }
    /// The characteristic BR-EDR Handover Data (2B38).
    public static var brEDRHandoverData: BluetoothUUID { 0x2B38 }
    /// The characteristic Bluetooth SIG Data (2B39).
    public static var bluetoothSIGData: BluetoothUUID { 0x2B39 }
    /// The characteristic Server Supported Features (2B3A).
    public static var serverSupportedFeatures: BluetoothUUID { 0x2B3A }
    /// The characteristic Physical Activity Monitor Features (2B3B).
    public static var physicalActivityMonitorFeatures: BluetoothUUID { 0x2B3B }
    /// The characteristic General Activity Instantaneous Data (2B3C).
    public static var generalActivityInstantaneousData: BluetoothUUID { 0x2B3C }
    /// The characteristic General Activity Summary Data (2B3D).
    public static var generalActivitySummaryData: BluetoothUUID { 0x2B3D }
    /// The characteristic CardioRespiratory Activity Instantaneous Data (2B3E).
    public static var cardioRespiratoryActivityInstantaneousData: BluetoothUUID { 0x2B3E }
    /// The characteristic CardioRespiratory Activity Summary Data (2B3F).
    public static var cardioRespiratoryActivitySummaryData: BluetoothUUID { 0x2B3F }
    /// The characteristic Step Counter Activity Summary Data (2B40).
    public static var stepCounterActivitySummaryData: BluetoothUUID { 0x2B40 }
    /// The characteristic Sleep Activity Instantaneous Data (2B41).
    public static var sleepActivityInstantaneousData: BluetoothUUID { 0x2B41 }
    /// The characteristic Sleep Activity Summary Data (2B42).
    public static var sleepActivitySummaryData: BluetoothUUID { 0x2B42 }
    /// The characteristic Physical Activity Monitor Control Point (2B43).
    public static var physicalActivityMonitorControlPoint: BluetoothUUID { 0x2B43 }
    /// The characteristic Activity Current Session (2B44).
    public static var activityCurrentSession: BluetoothUUID { 0x2B44 }
    /// The characteristic Physical Activity Session Descriptor (2B45).
    public static var physicalActivitySessionDescriptor: BluetoothUUID { 0x2B45 }
    /// The characteristic Preferred Units (2B46).
    public static var preferredUnits: BluetoothUUID { 0x2B46 }
    /// The characteristic High Resolution Height (2B47).
    public static var highResolutionHeight: BluetoothUUID { 0x2B47 }
    /// The characteristic Middle Name (2B48).
    public static var middleName: BluetoothUUID { 0x2B48 }
    /// The characteristic Stride Length (2B49).
    public static var strideLength: BluetoothUUID { 0x2B49 }
    /// The characteristic Handedness (2B4A).
    public static var handedness: BluetoothUUID { 0x2B4A }
    /// The characteristic Device Wearing Position (2B4B).
    public static var deviceWearingPosition: BluetoothUUID { 0x2B4B }
    /// The characteristic Four Zone Heart Rate Limits (2B4C).
    public static var fourZoneHeartRateLimits: BluetoothUUID { 0x2B4C }
    /// The characteristic High Intensity Exercise Threshold (2B4D).
    public static var highIntensityExerciseThreshold: BluetoothUUID { 0x2B4D }
    /// The characteristic Activity Goal (2B4E).
    public static var activityGoal: BluetoothUUID { 0x2B4E }
    /// The characteristic Sedentary Interval Notification (2B4F).
    public static var sedentaryIntervalNotification: BluetoothUUID { 0x2B4F }
    /// The characteristic Caloric Intake (2B50).
    public static var caloricIntake: BluetoothUUID { 0x2B50 }
    /// The characteristic TMAP Role (2B51).
    public static var tmapRole: BluetoothUUID { 0x2B51 }
    /// The characteristic Audio Input State (2B77).
    public static var audioInputState: BluetoothUUID { 0x2B77 }
    /// The characteristic Gain Settings Attribute (2B78).
    public static var gainSettingsAttribute: BluetoothUUID { 0x2B78 }
    /// The characteristic Audio Input Type (2B79).
    public static var audioInputType: BluetoothUUID { 0x2B79 }
    /// The characteristic Audio Input Status (2B7A).
    public static var audioInputStatus: BluetoothUUID { 0x2B7A }
    /// The characteristic Audio Input Control Point (2B7B).
    public static var audioInputControlPoint: BluetoothUUID { 0x2B7B }
    /// The characteristic Audio Input Description (2B7C).
    public static var audioInputDescription: BluetoothUUID { 0x2B7C }
    /// The characteristic Volume State (2B7D).
    public static var volumeState: BluetoothUUID { 0x2B7D }
    /// The characteristic Volume Control Point (2B7E).
    public static var volumeControlPoint: BluetoothUUID { 0x2B7E }
    /// The characteristic Volume Flags (2B7F).
    public static var volumeFlags: BluetoothUUID { 0x2B7F }
    /// The characteristic Volume Offset State (2B80).
    public static var volumeOffsetState: BluetoothUUID { 0x2B80 }
    /// The characteristic Audio Location (2B81).
    public static var audioLocation: BluetoothUUID { 0x2B81 }
    /// The characteristic Volume Offset Control Point (2B82).
    public static var volumeOffsetControlPoint: BluetoothUUID { 0x2B82 }
    /// The characteristic Audio Output Description (2B83).
    public static var audioOutputDescription: BluetoothUUID { 0x2B83 }
    /// The characteristic Set Identity Resolving Key (2B84).
    public static var setIdentityResolvingKey: BluetoothUUID { 0x2B84 }
    /// The characteristic Coordinated Set Size (2B85).
    public static var coordinatedSetSize: BluetoothUUID { 0x2B85 }
    /// The characteristic Set Member Lock (2B86).
    public static var setMemberLock: BluetoothUUID { 0x2B86 }
    /// The characteristic Set Member Rank (2B87).
    public static var setMemberRank: BluetoothUUID { 0x2B87 }
    /// The characteristic Device Time Feature (2B8E).
    public static var deviceTimeFeature: BluetoothUUID { 0x2B8E }
    /// The characteristic Device Time Parameters (2B8F).
    public static var deviceTimeParameters: BluetoothUUID { 0x2B8F }
    /// The characteristic Device Time (2B90).
    public static var deviceTime: BluetoothUUID { 0x2B90 }
    /// The characteristic Device Time Control Point (2B91).
    public static var deviceTimeControlPoint: BluetoothUUID { 0x2B91 }
    /// The characteristic Time Change Log Data (2B92).
    public static var timeChangeLogData: BluetoothUUID { 0x2B92 }
    /// The characteristic Media Player Name (2B93).
    public static var mediaPlayerName: BluetoothUUID { 0x2B93 }
    /// The characteristic Media Player Icon Object ID (2B94).
    public static var mediaPlayerIconObjectID: BluetoothUUID { 0x2B94 }
    /// The characteristic Media Player Icon URL (2B95).
    public static var mediaPlayerIconURL: BluetoothUUID { 0x2B95 }
    /// The characteristic Track Changed (2B96).
    public static var trackChanged: BluetoothUUID { 0x2B96 }
    /// The characteristic Track Title (2B97).
    public static var trackTitle: BluetoothUUID { 0x2B97 }
    /// The characteristic Track Duration (2B98).
    public static var trackDuration: BluetoothUUID { 0x2B98 }
    /// The characteristic Track Position (2B99).
    public static var trackPosition: BluetoothUUID { 0x2B99 }
    /// The characteristic Playback Speed (2B9A).
    public static var playbackSpeed: BluetoothUUID { 0x2B9A }
    /// The characteristic Seeking Speed (2B9B).
    public static var seekingSpeed: BluetoothUUID { 0x2B9B }
    /// The characteristic Current Track Segments Object ID (2B9C).
    public static var currentTrackSegmentsObjectID: BluetoothUUID { 0x2B9C }
    /// The characteristic Current Track Object ID (2B9D).
    public static var currentTrackObjectID: BluetoothUUID { 0x2B9D }
    /// The characteristic Next Track Object ID (2B9E).
    public static var nextTrackObjectID: BluetoothUUID { 0x2B9E }
    /// The characteristic Parent Group Object ID (2B9F).
    public static var parentGroupObjectID: BluetoothUUID { 0x2B9F }
    /// The characteristic Current Group Object ID (2BA0).
    public static var currentGroupObjectID: BluetoothUUID { 0x2BA0 }
    /// The characteristic Playing Order (2BA1).
    public static var playingOrder: BluetoothUUID { 0x2BA1 }
    /// The characteristic Playing Orders Supported (2BA2).
    public static var playingOrdersSupported: BluetoothUUID { 0x2BA2 }
    /// The characteristic Media State (2BA3).
    public static var mediaState: BluetoothUUID { 0x2BA3 }
    /// The characteristic Media Control Point (2BA4).
    public static var mediaControlPoint: BluetoothUUID { 0x2BA4 }
    /// The characteristic Media Control Point Opcodes Supported (2BA5).
    public static var mediaControlPointOpcodesSupported: BluetoothUUID { 0x2BA5 }
    /// The characteristic Search Results Object ID (2BA6).
    public static var searchResultsObjectID: BluetoothUUID { 0x2BA6 }
    /// The characteristic Search Control Point (2BA7).
    public static var searchControlPoint: BluetoothUUID { 0x2BA7 }
    /// The characteristic Media Player Icon Object Type (2BA9).
    public static var mediaPlayerIconObjectType: BluetoothUUID { 0x2BA9 }
    /// The characteristic Track Segments Object Type (2BAA).
    public static var trackSegmentsObjectType: BluetoothUUID { 0x2BAA }
    /// The characteristic Track Object Type (2BAB).
    public static var trackObjectType: BluetoothUUID { 0x2BAB }
    /// The characteristic Group Object Type (2BAC).
    public static var groupObjectType: BluetoothUUID { 0x2BAC }
    /// The characteristic Constant Tone Extension Enable (2BAD).
    public static var constantToneExtensionEnable: BluetoothUUID { 0x2BAD }
    /// The characteristic Advertising Constant Tone Extension Minimum Length (2BAE).
    public static var advertisingConstantToneExtensionMinimumLength: BluetoothUUID { 0x2BAE }
    /// The characteristic Advertising Constant Tone Extension Minimum Transmit Count (2BAF).
    public static var advertisingConstantToneExtensionMinimumTransmitCount: BluetoothUUID { 0x2BAF }
    /// The characteristic Advertising Constant Tone Extension Transmit Duration (2BB0).
    public static var advertisingConstantToneExtensionTransmitDuration: BluetoothUUID { 0x2BB0 }
    /// The characteristic Advertising Constant Tone Extension Interval (2BB1).
    public static var advertisingConstantToneExtensionInterval: BluetoothUUID { 0x2BB1 }
    /// The characteristic Advertising Constant Tone Extension PHY (2BB2).
    public static var advertisingConstantToneExtensionPHY: BluetoothUUID { 0x2BB2 }
    /// The characteristic Bearer Provider Name (2BB3).
    public static var bearerProviderName: BluetoothUUID { 0x2BB3 }
    /// The characteristic Bearer UCI (2BB4).
    public static var bearerUCI: BluetoothUUID { 0x2BB4 }
    /// The characteristic Bearer Technology (2BB5).
    public static var bearerTechnology: BluetoothUUID { 0x2BB5 }
    /// The characteristic Bearer URI Schemes Supported List (2BB6).
    public static var bearerURISchemesSupportedList: BluetoothUUID { 0x2BB6 }
    /// The characteristic Bearer Signal Strength (2BB7).
    public static var bearerSignalStrength: BluetoothUUID { 0x2BB7 }
    /// The characteristic Bearer Signal Strength Reporting Interval (2BB8).
    public static var bearerSignalStrengthReportingInterval: BluetoothUUID { 0x2BB8 }
    /// The characteristic Bearer List Current Calls (2BB9).
    public static var bearerListCurrentCalls: BluetoothUUID { 0x2BB9 }
    /// The characteristic Content Control ID (2BBA).
    public static var contentControlID: BluetoothUUID { 0x2BBA }
    /// The characteristic Status Flags (2BBB).
    public static var statusFlags: BluetoothUUID { 0x2BBB }
    /// The characteristic Incoming Call Target Bearer URI (2BBC).
    public static var incomingCallTargetBearerURI: BluetoothUUID { 0x2BBC }
    /// The characteristic Call State (2BBD).
    public static var callState: BluetoothUUID { 0x2BBD }
    /// The characteristic Call Control Point (2BBE).
    public static var callControlPoint: BluetoothUUID { 0x2BBE }
    /// The characteristic Call Control Point Optional Opcodes (2BBF).
    public static var callControlPointOptionalOpcodes: BluetoothUUID { 0x2BBF }
    /// The characteristic Termination Reason (2BC0).
    public static var terminationReason: BluetoothUUID { 0x2BC0 }
    /// The characteristic Incoming Call (2BC1).
    public static var incomingCall: BluetoothUUID { 0x2BC1 }
    /// The characteristic Call Friendly Name (2BC2).
    public static var callFriendlyName: BluetoothUUID { 0x2BC2 }
    /// The characteristic Mute (2BC3).
    public static var mute: BluetoothUUID { 0x2BC3 }
    /// The characteristic Sink ASE (2BC4).
    public static var sinkASE: BluetoothUUID { 0x2BC4 }
    /// The characteristic Source ASE (2BC5).
    public static var sourceASE: BluetoothUUID { 0x2BC5 }
    /// The characteristic ASE Control Point (2BC6).
    public static var aseControlPoint: BluetoothUUID { 0x2BC6 }
    /// The characteristic Broadcast Audio Scan Control Point (2BC7).
    public static var broadcastAudioScanControlPoint: BluetoothUUID { 0x2BC7 }
    /// The characteristic Broadcast Receive State (2BC8).
    public static var broadcastReceiveState: BluetoothUUID { 0x2BC8 }
    /// The characteristic Sink PAC (2BC9).
    public static var sinkPAC: BluetoothUUID { 0x2BC9 }
    /// The characteristic Sink Audio Locations (2BCA).
    public static var sinkAudioLocations: BluetoothUUID { 0x2BCA }
    /// The characteristic Source PAC (2BCB).
    public static var sourcePAC: BluetoothUUID { 0x2BCB }
    /// The characteristic Source Audio Locations (2BCC).
    public static var sourceAudioLocations: BluetoothUUID { 0x2BCC }
    /// The characteristic Available Audio Contexts (2BCD).
    public static var availableAudioContexts: BluetoothUUID { 0x2BCD }
    /// The characteristic Supported Audio Contexts (2BCE).
    public static var supportedAudioContexts: BluetoothUUID { 0x2BCE }
    /// The characteristic Ammonia Concentration (2BCF).
    public static var ammoniaConcentration: BluetoothUUID { 0x2BCF }
    /// The characteristic Carbon Monoxide Concentration (2BD0).
    public static var carbonMonoxideConcentration: BluetoothUUID { 0x2BD0 }
    /// The characteristic Methane Concentration (2BD1).
    public static var methaneConcentration: BluetoothUUID { 0x2BD1 }
    /// The characteristic Nitrogen Dioxide Concentration (2BD2).
    public static var nitrogenDioxideConcentration: BluetoothUUID { 0x2BD2 }
    /// The characteristic Non-Methane Volatile Organic Compounds Concentration (2BD3).
    public static var nonMethaneVolatileOrganicCompoundsConcentration: BluetoothUUID { 0x2BD3 }
    /// The characteristic Ozone Concentration (2BD4).
    public static var ozoneConcentration: BluetoothUUID { 0x2BD4 }
    /// The characteristic Particulate Matter - PM1 Concentration (2BD5).
    public static var particulateMatterPM1Concentration: BluetoothUUID { 0x2BD5 }
    /// The characteristic Particulate Matter - PM2.5 Concentration (2BD6).
    public static var particulateMatterPM25Concentration: BluetoothUUID { 0x2BD6 }
    /// The characteristic Particulate Matter - PM10 Concentration (2BD7).
    public static var particulateMatterPM10Concentration: BluetoothUUID { 0x2BD7 }
    /// The characteristic Sulfur Dioxide Concentration (2BD8).
    public static var sulfurDioxideConcentration: BluetoothUUID { 0x2BD8 }
    /// The characteristic Sulfur Hexafluoride Concentration (2BD9).
    public static var sulfurHexafluorideConcentration: BluetoothUUID { 0x2BD9 }
    /// The characteristic Hearing Aid Features (2BDA).
    public static var hearingAidFeatures: BluetoothUUID { 0x2BDA }
    /// The characteristic Hearing Aid Preset Control Point (2BDB).
    public static var hearingAidPresetControlPoint: BluetoothUUID { 0x2BDB }
    /// The characteristic Active Preset Index (2BDC).
    public static var activePresetIndex: BluetoothUUID { 0x2BDC }
    /// The characteristic Battery Critical Status (2BE9).
    public static var batteryCriticalStatus: BluetoothUUID { 0x2BE9 }
    /// The characteristic Battery Health Status (2BEA).
    public static var batteryHealthStatus: BluetoothUUID { 0x2BEA }
    /// The characteristic Battery Health Information (2BEB).
    public static var batteryHealthInformation: BluetoothUUID { 0x2BEB }
    /// The characteristic Battery Information (2BEC).
    public static var batteryInformation: BluetoothUUID { 0x2BEC }
    /// The characteristic Battery Level Status (2BED).
    public static var batteryLevelStatus: BluetoothUUID { 0x2BED }
    /// The characteristic Battery Time Status (2BEE).
    public static var batteryTimeStatus: BluetoothUUID { 0x2BEE }
    /// The characteristic Estimated Service Date (2BEF).
    public static var estimatedServiceDate: BluetoothUUID { 0x2BEF }
    /// The characteristic Battery Energy Status (2BF0).
    public static var batteryEnergyStatus: BluetoothUUID { 0x2BF0 }
}
