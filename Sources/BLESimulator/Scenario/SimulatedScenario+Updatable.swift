import BLEPackets

/// Devices whose firmware can be updated.
extension SimulatedScenario {
    static let updatableKinds = ["mcumgr", "nordic-dfu", "nordic-bonded-dfu", "nordic-legacy-dfu"]

    static func updatableDevice(_ object: ScenarioObject) throws(Problem) -> Device {
        let kind = try object.required("kind", try object.text("kind"))
        guard updatableKinds.contains(kind) else {
            throw object.problem("kind", "‘\(kind)’ is not one of \(updatableKinds.joined(separator: ", "))")
        }
        let address = try object.required("address", try object.address("address"))
        let name = try object.text("name")
        let flash = try ScenarioObject(
            object["flash"] ?? .object([]), path: object.place("flash"),
            keys: ["slot", "page", "eraseTime", "writeTime"])
        var timing = SimulatedFlashTiming()
        timing.pageByteCount = try flash.integer("page", in: 256...65_536, "octets") ?? timing.pageByteCount
        if let time = try flash.number("eraseTime", in: 0...10, "seconds") {
            timing.eraseMicroseconds = Int64(time * 1e6)
        }
        if let time = try flash.number("writeTime", in: 0...10, "seconds") {
            timing.writeMicroseconds = Int64(time * 1e6)
        }
        let slot = try flash.integer("slot", in: 4096...4_194_304, "octets")
        let powerLosses = try object.integers("powerLosses", in: 1...1_000_000)
        let linkLosses = try object.integers("linkLosses", in: 1...100_000_000)
        let rssi = Int8(try object.integer("rssi", in: -127...20, "dBm") ?? -55)
        let mtu = try object.integer("mtu", in: 23...517, "octets")
        let role: Device.Role
        if kind == "mcumgr" {
            var managed = SimulatedManagedDevice(name: name ?? "", address: address)
            managed.flash = timing
            managed.slotByteCount = slot ?? managed.slotByteCount
            (managed.powerLosses, managed.linkLosses, managed.rssi) = (powerLosses, linkLosses, rssi)
            managed.maximumMTU = mtu ?? managed.maximumMTU
            let processors = try object.integer("processors", in: 1...4, "processors") ?? 1
            managed.otherImages = (1..<processors).map {
                SimulatedImage.mcuboot(version: (1, 0, 0), body: Array(repeating: 0xA1 + UInt8($0), count: 3000))
            }
            managed.bufferCount = try object.integer("buffers", in: 1...64, "frames") ?? managed.bufferCount
            role = .managed(managed)
        } else {
            var nordic = SimulatedNordicDevice(name: name ?? "", address: address)
            nordic.bootloader = kind == "nordic-dfu" ? .secure : kind == "nordic-bonded-dfu" ? .bonded : .legacy
            nordic.flash = timing
            nordic.bankByteCount = slot ?? nordic.bankByteCount
            (nordic.powerLosses, nordic.linkLosses, nordic.rssi) = (powerLosses, linkLosses, rssi)
            nordic.maximumMTU = mtu ?? nordic.maximumMTU
            role = .nordic(nordic)
        }
        return Device(
            name: name, address: address, role: role,
            distance: try object.number("distance", in: 0.01...10_000, "metres"), comes: try object.times("comes"),
            goes: try object.times("goes"))
    }
}
