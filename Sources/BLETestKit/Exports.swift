// A test needs the types of the adapters that it opens.
@_exported import BLE
@_exported import BLESimulator
