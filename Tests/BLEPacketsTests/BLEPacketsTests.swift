import Testing

@testable import BLEPackets
