import BLEManagement

/// An image that a device with MCUboot has in one of its slots.
public struct DeviceImage: Hashable, Sendable {
    /// The number of the image, for devices with several processors; 0 elsewhere.
    public var image: Int
    /// 0: the slot from which the device starts, 1: the other.
    public var slot: Int
    /// As the device says it.
    public var version: String
    /// The SHA-256 of header and body, which the image's trailer has; empty if the device does not say.
    public var hash: [UInt8]
    /// Whether the device can start from it.
    public var isBootable: Bool
    /// Whether the next restart starts it.
    public var isPending: Bool
    /// Whether it remains after the next restart.
    public var isConfirmed: Bool
    /// Whether it runs.
    public var isActive: Bool
    /// Whether a pending image remains without a confirmation.
    public var isPermanent: Bool

    init?(_ value: CBORValue) {
        guard let slot = value["slot"]?.integer, let version = value["version"]?.string else { return nil }
        image = value["image"]?.integer ?? 0
        self.slot = slot
        self.version = version
        hash = value["hash"]?.byteString ?? []
        isBootable = value["bootable"]?.isTrue ?? false
        isPending = value["pending"]?.isTrue ?? false
        isConfirmed = value["confirmed"]?.isTrue ?? false
        isActive = value["active"]?.isTrue ?? false
        isPermanent = value["permanent"]?.isTrue ?? false
    }
}

/// Images: group 1 (Zephyr, Application/software image management group).
extension ManagementClient {
    /// The images in the device's slots.
    public func images() async throws -> [DeviceImage] {
        try Self.images(in: await request(.read, group: 1, command: 0))
    }

    private static func images(in content: CBORValue) throws -> [DeviceImage] {
        guard let list = content["images"]?.elements else {
            throw UpdateError.invalidResponse("a list of images without images")
        }
        return list.compactMap { DeviceImage($0) }
    }

    /// Marks an image to run at the next restart: once, or with `confirm` for good.
    /// - Parameter hash: `nil` confirms the image that runs.
    @discardableResult
    public func setImage(_ hash: [UInt8]?, confirm: Bool) async throws -> [DeviceImage] {
        let content: CBORValue = .object(["hash": hash.map { .octets($0) }, "confirm": .boolean(confirm)])
        return try Self.images(in: await request(.write, group: 1, command: 0, content: content, timeout: .seconds(30)))
    }

    /// Erases a slot, by default the one from which the device did not start.
    public func eraseImage(slot: Int? = nil) async throws {
        let content: CBORValue = .object(["slot": slot.map { .integer($0) }])
        try await request(.write, group: 1, command: 5, content: content, timeout: .seconds(60))
    }

    /// Uploads an image into the free slot.
    /// - Parameters:
    ///   - image: the number of the image, for devices with several processors.
    ///   - hash: the SHA-256 of all octets: the device goes on where it was when it has a part of this image.
    ///   - onlyNewer: whether the device refuses a version that is not newer than its own.
    @discardableResult
    public func uploadImage(
        _ octets: [UInt8], image: Int = 0, hash: [UInt8], onlyNewer: Bool = false, window: Int? = nil,
        progress: @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> Int {
        let first: CBORValue = .object([
            "image": image == 0 ? nil : .integer(image), "len": .integer(octets.count), "sha": .octets(hash),
            "upgrade": onlyNewer ? .boolean(true) : nil,
        ])
        return try await upload(octets, group: 1, command: 1, first: first, window: window, progress: progress)
    }
}

/// The system, settings, files and the shell.
extension ManagementClient {
    /// Sends a text that the device returns.
    public func echo(_ text: String) async throws -> String {
        let answer = try await request(.write, group: 0, command: 0, content: .object(["d": .text(text)]))
        guard let reply = answer["r"]?.string else { throw UpdateError.invalidResponse("an echo without text") }
        return reply
    }

    /// Restarts the device; the link ends soon.
    public func reset() async throws { try await request(.write, group: 0, command: 5) }

    /// Reads a setting.
    public func setting(_ name: String) async throws -> [UInt8] {
        let answer = try await request(.read, group: 3, command: 0, content: .object(["name": .text(name)]))
        guard let value = answer["val"]?.byteString else {
            throw UpdateError.invalidResponse("a setting without a value")
        }
        return value
    }

    /// Writes a setting; `commitSettings` applies it.
    public func setSetting(_ name: String, _ value: [UInt8]) async throws {
        let content: CBORValue = .object(["name": .text(name), "val": .octets(value)])
        try await request(.write, group: 3, command: 0, content: content)
    }

    /// Deletes a setting.
    public func deleteSetting(_ name: String) async throws {
        try await request(.write, group: 3, command: 1, content: .object(["name": .text(name)]))
    }

    /// Applies the settings that were written.
    public func commitSettings() async throws { try await request(.write, group: 3, command: 2) }

    /// Loads all settings from the device's storage.
    public func loadSettings() async throws { try await request(.read, group: 3, command: 3) }

    /// Saves all settings to the device's storage.
    public func saveSettings() async throws { try await request(.write, group: 3, command: 3) }

    /// Uploads a file.
    public func uploadFile(
        _ octets: [UInt8], to path: String, window: Int? = nil,
        progress: @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws {
        try await upload(
            octets, group: 8, command: 0, first: .object(["len": .integer(octets.count)]),
            members: .object(["name": .text(path)]), window: window, progress: progress)
    }

    /// Downloads a file. A device that answers with pieces of hardly an octet is given up soon.
    /// - Parameter limit: the longest file that is accepted.
    public func downloadFile(
        _ path: String, limit: Int = 64 << 20, progress: @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> [UInt8] {
        var octets: [UInt8] = []
        var total: Int?
        var requests = 0
        repeat {
            // The shortest packets of a link have room for more.
            guard requests <= 64 + octets.count / 8 else {
                throw UpdateError.invalidResponse("\(octets.count) octets of a file in \(requests) answers")
            }
            requests += 1
            let content: CBORValue = .object(["off": .integer(octets.count), "name": .text(path)])
            let answer = try await request(.read, group: 8, command: 0, content: content)
            if octets.isEmpty { total = answer["len"]?.integer }
            guard let total, 0...limit ~= total, answer["off"]?.integer == octets.count,
                let piece = answer["data"]?.byteString, piece.count <= total - octets.count,
                !piece.isEmpty || total == octets.count
            else { throw UpdateError.invalidResponse("a piece of a file that does not belong there") }
            octets += piece
            progress(octets.count, total)
        } while octets.count < total ?? 0
        return octets
    }

    /// The length of a file in octets.
    public func fileByteCount(_ path: String) async throws -> Int {
        let answer = try await request(.read, group: 8, command: 1, content: .object(["name": .text(path)]))
        guard let count = answer["len"]?.integer else { throw UpdateError.invalidResponse("a file without a length") }
        return count
    }

    /// The hash of a file, as the device computes it.
    /// - Parameter kind: `crc32` or `sha256`; `nil` for the device's choice.
    /// - Returns: the kind, and the octets, most significant first.
    public func fileHash(_ path: String, kind: String? = nil) async throws -> (kind: String, octets: [UInt8]) {
        let content: CBORValue = .object(["name": .text(path), "type": kind.map { .text($0) }])
        let answer = try await request(.read, group: 8, command: 2, content: content, timeout: .seconds(60))
        let name = answer["type"]?.string ?? kind ?? "crc32"
        if let octets = answer["output"]?.byteString { return (name, octets) }
        guard let number = answer["output"]?.integer.flatMap({ UInt32(exactly: $0) }) else {
            throw UpdateError.invalidResponse("a hash without a value")
        }
        return (name, (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(24 - 8 * $0)) })
    }

    /// Runs a command of the device's shell.
    /// - Returns: what it printed, and its status: 0 for success.
    public func shell(_ words: [String]) async throws -> (output: String, status: Int) {
        let content: CBORValue = .object(["argv": .array(words.map { .text($0) })])
        let answer = try await request(.write, group: 9, command: 0, content: content, timeout: .seconds(60))
        return (answer["o"]?.string ?? "", answer["ret"]?.integer ?? 0)
    }
}
