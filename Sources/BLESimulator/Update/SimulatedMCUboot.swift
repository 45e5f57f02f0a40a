/// MCUboot on a simulated flash with two slots: images are swapped page by page, and a swap that power has interrupted goes
/// on at the next start (MCUboot, Design, Swap using scratch).
struct SimulatedMCUboot {
    /// What the trailers of the slots say. Each change is one write.
    struct Flags {
        /// The image in the second slot is started next, for good or on trial.
        var pending: (isPermanent: Bool, hash: [UInt8])?
        /// The running image remains.
        var isConfirmed = true
        /// A swap that has begun, and its step.
        var swap: (step: Int, remains: Bool)?
    }

    var flash: SimulatedFlash
    let slotByteCount: Int
    private(set) var flags = Flags()

    init(running image: [UInt8], slotByteCount: Int, _ timing: SimulatedFlashTiming, powerLosses: [Int]) {
        let page = timing.pageByteCount
        self.slotByteCount = max((slotByteCount + page - 1) / page, (image.count + page - 1) / page) * page
        flash = SimulatedFlash(byteCount: 2 * self.slotByteCount + page, timing, powerLosses: [])
        for start in stride(from: 0, to: image.count, by: page) {
            // Nothing is lost while the factory writes.
            try? flash.write(image[start..<min(image.count, start + page)], at: start)
        }
        flash.leaveFactory(powerLosses)
    }

    func slot(_ number: Int) -> Range<Int> { number * slotByteCount..<(number + 1) * slotByteCount }
    private var scratch: Int { 2 * slotByteCount }

    /// Version and hash of the image in a slot; `nil` if it is none, or damaged.
    func image(in slot: Int) -> (version: String, hash: [UInt8], body: ArraySlice<UInt8>)? {
        let octets = flash.octets[self.slot(slot)]
        let start = octets.startIndex
        func number(_ offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, offset + count <= octets.count else { return nil }
            return (0..<count).reversed().reduce(0) { $0 << 8 | Int(octets[start + offset + $1]) }
        }
        guard number(0, 4) == 0x96F3_B83D, let header = number(8, 2), let protected = number(10, 2),
            let length = number(12, 4), let build = number(24, 4), let revision = number(22, 2), header >= 32
        else { return nil }
        let trailer = header + length + protected
        guard number(trailer, 2) == 0x6907, let total = number(trailer + 2, 2) else { return nil }
        var place = trailer + 4
        while place < trailer + total, let type = number(place, 2), let count = number(place + 2, 2) {
            if type == 0x10, count == 32, place + 36 <= octets.count {
                let hash = Array(octets[start + place + 4..<start + place + 36])
                guard SecureHash.sha256(octets[start..<start + trailer]) == hash else { return nil }
                let version = "\(octets[start + 20]).\(octets[start + 21]).\(revision)"
                return (
                    version + (build == 0 ? "" : ".\(build)"), hash, octets[start + header..<start + header + length]
                )
            }
            place += 4 + count
        }
        return nil
    }

    // MARK: What the application does

    mutating func setPending(_ hash: [UInt8], isPermanent: Bool) throws(SimulatedFlash.PowerLoss) {
        try flash.commit()
        flags.pending = (isPermanent, hash)
    }

    mutating func confirm() throws(SimulatedFlash.PowerLoss) {
        try flash.commit()
        flags.isConfirmed = true
    }

    mutating func eraseSecondSlot() throws(SimulatedFlash.PowerLoss) {
        try flash.commit()
        flags.pending = nil
        try flash.erase(slot(1))
    }

    // MARK: What the bootloader does

    /// Chooses the image to start: finishes a swap, begins one, or takes an image on trial back.
    mutating func start() throws(SimulatedFlash.PowerLoss) {
        if flags.swap == nil {
            if let pending = flags.pending {
                try flash.commit()
                // An image that is damaged is not started.
                guard image(in: 1)?.hash == pending.hash else {
                    flags.pending = nil
                    return
                }
                flags.swap = (0, pending.isPermanent)
            } else if !flags.isConfirmed {
                try flash.commit()
                flags.swap = (0, true)
            } else {
                return
            }
        }
        while let swap = flags.swap, swap.step < 3 * slotByteCount / flash.pageByteCount {
            let page = swap.step / 3 * flash.pageByteCount
            switch swap.step % 3 {
            case 0: try flash.copy(pageAt: slot(1).lowerBound + page, to: scratch)
            case 1: try flash.copy(pageAt: page, to: slot(1).lowerBound + page)
            default: try flash.copy(pageAt: scratch, to: page)
            }
            flags.swap?.step += 1
        }
        try flash.commit()
        let remains = flags.swap?.remains ?? true
        flags = Flags(pending: nil, isConfirmed: remains, swap: nil)
    }
}

/// Images for simulated devices and tests.
package enum SimulatedImage {
    /// An image of MCUboot with this version and body.
    package static func mcuboot(version: (UInt8, UInt8, UInt16), body: [UInt8]) -> [UInt8] {
        func octets(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        var image = octets(0x96F3_B83D, 4) + octets(0, 4) + octets(32, 2) + octets(0, 2) + octets(body.count, 4)
        image += octets(0, 4) + [version.0, version.1] + octets(Int(version.2), 2) + octets(0, 4) + octets(0, 4) + body
        let hash = SecureHash.sha256(image)
        return image + octets(0x6907, 2) + octets(40, 2) + octets(0x10, 2) + octets(32, 2) + hash
    }
}
