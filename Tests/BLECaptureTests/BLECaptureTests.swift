import Testing

@testable import BLECapture
