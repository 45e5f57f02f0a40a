/// MCUboot on a simulated flash with two slots for each image: images are swapped page by page, and a swap that power has
/// interrupted goes on at the next start (MCUboot, Design, Swap using scratch).
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
    /// Of each image.
    private(set) var flags: [Flags]

    init(running images: [[UInt8]], slotByteCount: Int, _ timing: SimulatedFlashTiming, powerLosses: [Int]) {
        let page = timing.pageByteCount
        let longest = images.map(\.count).max() ?? 0
        self.slotByteCount = max((slotByteCount + page - 1) / page, (longest + page - 1) / page) * page
        flags = Array(repeating: Flags(), count: images.count)
        flash = SimulatedFlash(byteCount: 2 * images.count * self.slotByteCount + page, timing, powerLosses: [])
        for (number, image) in images.enumerated() {
            let first = slot(0, of: number).lowerBound
            for start in stride(from: 0, to: image.count, by: page) {
                // Nothing is lost while the factory writes.
                try? flash.write(image[start..<min(image.count, start + page)], at: first + start)
            }
        }
        flash.leaveFactory(powerLosses)
    }

    var imageCount: Int { flags.count }

    func slot(_ number: Int, of image: Int) -> Range<Int> {
        let start = (2 * image + number) * slotByteCount
        return start..<start + slotByteCount
    }

    private var scratch: Int { 2 * imageCount * slotByteCount }

    /// Version and hash of the image in a slot; `nil` if it is none, or damaged.
    func image(in slot: Int, of image: Int) -> (version: String, hash: [UInt8], body: ArraySlice<UInt8>)? {
        let octets = flash.octets[self.slot(slot, of: image)]
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

    mutating func setPending(_ hash: [UInt8], isPermanent: Bool, of image: Int) throws(SimulatedFlash.PowerLoss) {
        try flash.commit()
        flags[image].pending = (isPermanent, hash)
    }

    mutating func confirm(_ image: Int) throws(SimulatedFlash.PowerLoss) {
        try flash.commit()
        flags[image].isConfirmed = true
    }

    mutating func eraseSecondSlot(of image: Int) throws(SimulatedFlash.PowerLoss) {
        try flash.commit()
        flags[image].pending = nil
        try flash.erase(slot(1, of: image))
    }

    // MARK: What the bootloader does

    /// Chooses the images to start: finishes swaps that power has interrupted, before others need the scratch area; begins
    /// those that are pending; or takes images on trial back, once all of them have run.
    mutating func start() throws(SimulatedFlash.PowerLoss) {
        let hasWork = flags.contains { $0.swap != nil || $0.pending != nil }
        for image in flags.indices where flags[image].swap != nil { try swap(image) }
        for image in flags.indices {
            if let pending = flags[image].pending {
                try flash.commit()
                // An image that is damaged is not started.
                guard self.image(in: 1, of: image)?.hash == pending.hash else {
                    flags[image].pending = nil
                    continue
                }
                flags[image].swap = (0, pending.isPermanent)
            } else if !flags[image].isConfirmed, !hasWork {
                try flash.commit()
                flags[image].swap = (0, true)
            } else {
                continue
            }
            try swap(image)
        }
    }

    private mutating func swap(_ number: Int) throws(SimulatedFlash.PowerLoss) {
        let (first, second) = (slot(0, of: number).lowerBound, slot(1, of: number).lowerBound)
        while let swap = flags[number].swap, swap.step < 3 * slotByteCount / flash.pageByteCount {
            let page = swap.step / 3 * flash.pageByteCount
            switch swap.step % 3 {
            case 0: try flash.copy(pageAt: second + page, to: scratch)
            case 1: try flash.copy(pageAt: first + page, to: second + page)
            default: try flash.copy(pageAt: scratch, to: first + page)
            }
            flags[number].swap?.step += 1
        }
        try flash.commit()
        let remains = flags[number].swap?.remains ?? true
        flags[number] = Flags(pending: nil, isConfirmed: remains, swap: nil)
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
