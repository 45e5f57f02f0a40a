// Made by Tools/AssignedNumbers/generate-uuids; do not edit.

extension BluetoothUUID {
    /// The service Generic Access (1800).
    public static var genericAccess: BluetoothUUID { 0x1800 }
    /// The service Generic Attribute (1801).
    public static var genericAttribute: BluetoothUUID { 0x1801 }
    /// The service Immediate Alert (1802).
    public static var immediateAlert: BluetoothUUID { 0x1802 }
    /// The service Link Loss (1803).
    public static var linkLoss: BluetoothUUID { 0x1803 }
    /// The service Tx Power (1804).
    public static var txPower: BluetoothUUID { 0x1804 }
    /// The service Current Time Service (1805).
    public static var currentTimeService: BluetoothUUID { 0x1805 }
    /// The service Reference Time Update Service (1806).
    public static var referenceTimeUpdateService: BluetoothUUID { 0x1806 }
    /// The service Next DST Change Service (1807).
    public static var nextDSTChangeService: BluetoothUUID { 0x1807 }
    /// The service Glucose (1808).
    public static var glucose: BluetoothUUID { 0x1808 }
    /// The service Health Thermometer (1809).
    public static var healthThermometer: BluetoothUUID { 0x1809 }
    /// The service Device Information (180A).
    public static var deviceInformation: BluetoothUUID { 0x180A }
    /// The service Heart Rate (180D).
    public static var heartRate: BluetoothUUID { 0x180D }
    /// The service Phone Alert Status Service (180E).
    public static var phoneAlertStatusService: BluetoothUUID { 0x180E }
    /// The service Battery Service (180F).
    public static var batteryService: BluetoothUUID { 0x180F }
    /// The service Blood Pressure (1810).
    public static var bloodPressure: BluetoothUUID { 0x1810 }
    /// The service Alert Notification Service (1811).
    public static var alertNotificationService: BluetoothUUID { 0x1811 }
    /// The service Human Interface Device (1812).
    public static var humanInterfaceDevice: BluetoothUUID { 0x1812 }
    /// The service Scan Parameters (1813).
    public static var scanParameters: BluetoothUUID { 0x1813 }
    /// The service Running Speed and Cadence (1814).
    public static var runningSpeedAndCadence: BluetoothUUID { 0x1814 }
    /// The service Automation IO (1815).
    public static var automationIO: BluetoothUUID { 0x1815 }
    /// The service Cycling Speed and Cadence (1816).
    public static var cyclingSpeedAndCadence: BluetoothUUID { 0x1816 }
    /// The service Cycling Power (1818).
    public static var cyclingPower: BluetoothUUID { 0x1818 }
    /// The service Location and Navigation (1819).
    public static var locationAndNavigation: BluetoothUUID { 0x1819 }
    /// The service Environmental Sensing (181A).
    public static var environmentalSensing: BluetoothUUID { 0x181A }
    /// The service Body Composition (181B).
    public static var bodyComposition: BluetoothUUID { 0x181B }
    /// The service User Data (181C).
    public static var userData: BluetoothUUID { 0x181C }
    /// The service Weight Scale (181D).
    public static var weightScale: BluetoothUUID { 0x181D }
    /// The service Bond Management Service (181E).
    public static var bondManagementService: BluetoothUUID { 0x181E }
    /// The service Continuous Glucose Monitoring (181F).
    public static var continuousGlucoseMonitoring: BluetoothUUID { 0x181F }
    /// The service Internet Protocol Support Service (1820).
    public static var internetProtocolSupportService: BluetoothUUID { 0x1820 }
    /// The service Indoor Positioning (1821).
    public static var indoorPositioning: BluetoothUUID { 0x1821 }
    /// The service Pulse Oximeter Service (1822).
    public static var pulseOximeterService: BluetoothUUID { 0x1822 }
    /// The service HTTP Proxy (1823).
    public static var httpProxy: BluetoothUUID { 0x1823 }
    /// The service Transport Discovery (1824).
    public static var transportDiscovery: BluetoothUUID { 0x1824 }
    /// The service Object Transfer Service (1825).
    public static var objectTransferService: BluetoothUUID { 0x1825 }
    /// The service Fitness Machine (1826).
    public static var fitnessMachine: BluetoothUUID { 0x1826 }
    /// The service Mesh Provisioning Service (1827).
    public static var meshProvisioningService: BluetoothUUID { 0x1827 }
    /// The service Mesh Proxy Service (1828).
    public static var meshProxyService: BluetoothUUID { 0x1828 }
    /// The service Reconnection Configuration (1829).
    public static var reconnectionConfiguration: BluetoothUUID { 0x1829 }
    /// The service Insulin Delivery (183A).
    public static var insulinDelivery: BluetoothUUID { 0x183A }
    /// The service Binary Sensor (183B).
    public static var binarySensor: BluetoothUUID { 0x183B }
    /// The service Emergency Configuration (183C).
    public static var emergencyConfiguration: BluetoothUUID { 0x183C }
    /// The service Physical Activity Monitor (183E).
    public static var physicalActivityMonitor: BluetoothUUID { 0x183E }
    /// The service Audio Input Control (1843).
    public static var audioInputControl: BluetoothUUID { 0x1843 }
    /// The service Volume Control (1844).
    public static var volumeControl: BluetoothUUID { 0x1844 }
    /// The service Volume Offset Control (1845).
    public static var volumeOffsetControl: BluetoothUUID { 0x1845 }
    /// The service Coordinated Set Identification (1846).
    public static var coordinatedSetIdentification: BluetoothUUID { 0x1846 }
    /// The service Device Time (1847).
    public static var deviceTimeService: BluetoothUUID { 0x1847 }
    /// The service Media Control (1848).
    public static var mediaControl: BluetoothUUID { 0x1848 }
    /// The service Generic Media Control (1849).
    public static var genericMediaControl: BluetoothUUID { 0x1849 }
    /// The service Constant Tone Extension (184A).
    public static var constantToneExtension: BluetoothUUID { 0x184A }
    /// The service Telephone Bearer (184B).
    public static var telephoneBearer: BluetoothUUID { 0x184B }
    /// The service Generic Telephone Bearer (184C).
    public static var genericTelephoneBearer: BluetoothUUID { 0x184C }
    /// The service Microphone Control (184D).
    public static var microphoneControl: BluetoothUUID { 0x184D }
    /// The service Audio Stream Control (184E).
    public static var audioStreamControl: BluetoothUUID { 0x184E }
    /// The service Broadcast Audio Scan (184F).
    public static var broadcastAudioScan: BluetoothUUID { 0x184F }
    /// The service Published Audio Capabilities (1850).
    public static var publishedAudioCapabilities: BluetoothUUID { 0x1850 }
    /// The service Basic Audio Announcement (1851).
    public static var basicAudioAnnouncement: BluetoothUUID { 0x1851 }
    /// The service Broadcast Audio Announcement (1852).
    public static var broadcastAudioAnnouncement: BluetoothUUID { 0x1852 }
    /// The service Common Audio (1853).
    public static var commonAudio: BluetoothUUID { 0x1853 }
    /// The service Hearing Access (1854).
    public static var hearingAccess: BluetoothUUID { 0x1854 }
    /// The service TMAS (1855).
    public static var tmas: BluetoothUUID { 0x1855 }
}
