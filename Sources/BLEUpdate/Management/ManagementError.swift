import BLEManagement

/// The error with which a device answers a management request.
public struct ManagementError: Error, Hashable, Sendable {
    /// The group whose number it is; `nil` for the numbers of the protocol itself.
    public var group: UInt16?
    /// The number; what it means depends on the group.
    public var code: Int
    /// What the device added in words, if it did.
    public var reason: String?

    public init(group: UInt16? = nil, code: Int, reason: String? = nil) {
        self.group = group
        self.code = code
        self.reason = reason
    }

    /// The error in the content of a response; `nil` if there is none.
    public init?(in content: CBORValue) {
        if let error = content["err"], error.members != nil {
            let code = error["rc"]?.integer ?? 1
            guard code != 0 else { return nil }
            self.init(group: error["group"]?.integer.flatMap { UInt16(exactly: $0) } ?? 0, code: code)
        } else if let code = content["rc"]?.integer, code != 0 {
            self.init(code: code, reason: content["rsn"]?.string)
        } else {
            return nil
        }
    }

    /// The meaning of the number.
    public var text: String {
        let texts: [Int: String] =
            switch group {
            case nil: Self.general
            case 0: Self.system
            case 1: Self.image
            case 3: Self.settings
            case 8: Self.files
            case 9: Self.shell
            default: [:]
            }
        let fallback = group.map { "error \(code) of group \($0)" } ?? "error \(code)"
        let text = texts[code] ?? fallback
        return reason.map { "\(text) (\($0))" } ?? text
    }

    /// What went wrong.
    public var cause: String { "the device refused the request: \(text)" }

    /// What helps, if that is known.
    public var remedy: String? {
        switch (group, code) {
        case (nil, 8): "its firmware is built without this command"
        case (nil, 11): "the command needs a paired link, or the firmware forbids it"
        case (nil, 6), (1, 28): "another image is pending: restart the device, or confirm the image that it runs"
        case (1, 9): "confirm the image that it runs, or erase its other slot"
        case (1, 27): "send a newer version, or allow the older one"
        case (1, 30), (1, 31): "the image is too large for its slot"
        case (1, 22), (1, 23): "the file is not an image that this device's bootloader takes"
        case (1, 8), (1, 24): "no image there has this hash; list the images"
        default: nil
        }
    }

    private static let general = [
        1: "unknown error", 2: "not enough memory", 3: "invalid argument", 4: "timeout", 5: "no such entry",
        6: "not in this state", 7: "the response is too large", 8: "not supported", 9: "damaged data", 10: "busy",
        11: "access denied", 12: "this version of the protocol is too old",
        13: "this version of the protocol is too new",
    ]
    private static let system = [
        1: "unknown error", 2: "invalid format", 3: "there is no answer to the query", 4: "the clock is not set",
        5: "the clock failed",
    ]
    private static let image = [
        1: "unknown error", 2: "the layout of the flash cannot be read", 3: "there is no image in the slot",
        4: "the image has no trailer", 5: "the image has an invalid trailer", 6: "the image has several hashes",
        7: "the image's hash has the wrong length", 8: "no image has this hash", 9: "no slot is free",
        10: "the flash cannot be opened", 11: "the flash cannot be read", 12: "the flash cannot be written",
        13: "the flash cannot be erased", 14: "no such slot", 15: "not enough memory", 16: "the flash is in use",
        17: "the flash is not in use", 18: "the flash is missing", 19: "invalid page", 20: "the offset is missing",
        21: "the length is missing", 22: "the image is shorter than its header", 23: "this is no image of MCUboot",
        24: "the hash is not that of the image", 25: "the image is for another address",
        26: "the version cannot be read", 27: "the device has a newer version", 28: "an image is already pending",
        29: "the image has an invalid vector table", 30: "the image is too large",
        31: "more arrived than the image has",
        32: "the image may not be confirmed", 33: "the running image cannot be tested",
    ]
    private static let settings = [
        1: "unknown error", 2: "the name is too long", 3: "there is no such setting", 4: "it cannot be read",
        5: "there is no such group of settings", 6: "it cannot be written", 7: "it cannot be deleted",
        8: "it cannot be saved",
    ]
    private static let files = [
        1: "unknown error", 2: "invalid file name", 3: "no such file", 4: "it is a folder", 5: "it cannot be opened",
        6: "invalid position in the file", 7: "it cannot be read", 8: "it cannot be cut", 9: "it cannot be deleted",
        10: "it cannot be written", 11: "invalid offset", 12: "the offset is behind its end",
        13: "no such kind of hash", 14: "no file system there", 15: "the file system is read-only", 16: "it is empty",
    ]
    private static let shell = [1: "unknown error", 2: "the command line is too long", 3: "the command line is empty"]
}

extension ManagementError: CustomStringConvertible {
    public var description: String { remedy.map { "\(cause); \($0)" } ?? cause }
}
