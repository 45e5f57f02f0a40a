// A program that imports BLE needs the types in its interface.
@_exported import BLEChips
@_exported import BLEHost
@_exported import BLEPackets
@_exported import BLETransport
