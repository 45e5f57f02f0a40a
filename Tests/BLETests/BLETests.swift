import Testing

@testable import BLE
