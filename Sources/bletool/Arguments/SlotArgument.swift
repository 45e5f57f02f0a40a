import ArgumentParser
import BLE
import BLEScripts

/// A response slot of a periodic train and what is sent in it: `3=01FF`.
struct SlotArgument {
    let slot: UInt8
    let data: [UInt8]

    init(_ text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let slot = UInt8(parts[0]), let data = Hexadecimal.bytes(String(parts[1])),
            data.count <= PeriodicResponse.longestData
        else { throw ValidationError("name a slot, 0 to 255, and at most 247 bytes in hexadecimal: 3=01FF") }
        (self.slot, self.data) = (slot, data)
    }
}
