// A program that imports BLE needs the values that go in and out of it.
@_exported import BLEHost
@_exported import BLEPackets
@_exported import BLETransport
