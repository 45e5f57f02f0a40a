import BLE
import BLEJSON
import BLEScripts
import BLEText
import BLEUpdate
import Synchronization

/// What an update says: each phase, and how far the upload is.
final class UpdateOutput: Sendable {
    private let console: Console
    private let phase = Mutex<(phase: UpdateProgress.Phase, part: Int)?>(nil)

    init(_ console: Console) { self.console = console }

    func show(_ progress: UpdateProgress) {
        let isNew = phase.withLock { phase in
            defer { phase = (progress.phase, progress.part) }
            return phase?.phase != progress.phase || phase?.part != progress.part
        }
        if isNew, console.isJSON {
            console.print(
                [
                    "event": "updatePhase", "phase": .string(progress.phase.rawValue), "part": JSONValue(progress.part),
                    "parts": JSONValue(progress.parts), "done": JSONValue(progress.done),
                    "total": JSONValue(progress.total),
                ], text: "")
        }
        if isNew, progress.phase == .reconnecting { console.note("the link is lost; connecting again") }
        console.showProgress(Self.text(progress), orShorter: Self.shortText(progress))
    }

    /// A line for the terminal.
    static func text(_ progress: UpdateProgress) -> String {
        switch progress.phase {
        case .preparing: return "asking the device for its state …"
        case .startingBootloader: return "starting the bootloader …"
        case .restarting: return "the device restarts and installs the image …"
        case .reconnecting: return "looking for the device …"
        case .confirming: return "confirming the image …"
        case .uploading:
            let part = progress.parts > 1 ? "part \(progress.part) of \(progress.parts): " : ""
            return part + text(done: progress.done, total: progress.total, rate: progress.rate)
        }
    }

    /// The same for narrow terminals.
    private static func shortText(_ progress: UpdateProgress) -> String {
        guard progress.phase == .uploading else { return text(progress) }
        return shortText(done: progress.done, total: progress.total, rate: progress.rate)
    }

    private static func shortText(done: Int, total: Int, rate: Double?) -> String {
        let percent = total > 0 ? done * 100 / total : 100
        return "\(percent) %" + (left(done: done, total: total, rate: rate).map { ", \($0)" } ?? "")
    }

    private static func left(done: Int, total: Int, rate: Double?) -> String? {
        guard let rate, rate > 0 else { return nil }
        let seconds = Int(min(1e9, (Double(max(0, total - done)) / rate).rounded(.up)))
        return seconds >= 120 ? "\((seconds + 59) / 60) min left" : "\(seconds) s left"
    }

    /// How far a transfer is, its rate, and the time that is left.
    static func text(done: Int, total: Int, rate: Double?) -> String {
        let percent = total > 0 ? done * 100 / total : 100
        var text = "\(percent) %, \(done) of \(total) bytes"
        if let rate, let left = left(done: done, total: total, rate: rate) {
            text += ", \(Self.text(rate: rate)), \(left)"
        }
        return text
    }

    static func text(rate: Double) -> String { "\(Int(min(1e15, rate.rounded()))) bytes/s" }

    /// Shows a transfer of device management.
    func transfer() -> @Sendable (Int, Int) -> Void {
        let start = ContinuousClock.now
        let first = Mutex<Int?>(nil)
        let console = console
        return { done, total in
            let base = first.withLock { first in
                first = first ?? done
                return first ?? done
            }
            let seconds = start.duration(to: .now) / .seconds(1)
            let rate = seconds > 0.3 ? Double(done - base) / seconds : nil
            console.showProgress(
                Self.text(done: done, total: total, rate: rate),
                orShorter: Self.shortText(done: done, total: total, rate: rate))
        }
    }
}

extension FirmwareFile {
    /// The protocol that the file is for, and what is in it, in a line.
    var text: String { "\(protocolText): \(contentText)" }

    private var protocolText: String {
        switch self {
        case .images: "mcumgr's SMP"
        case .nordic(let parts): parts.first?.isSecure ?? false ? "Nordic's secure DFU" : "Nordic's legacy DFU"
        }
    }

    private var contentText: String {
        switch self {
        case .images(let images):
            images.map { image in
                "MCUboot image \(image.version), \(image.octets.count) bytes"
                    + (image.isEncrypted ? ", encrypted" : image.isSigned ? ", signed" : ", not signed")
            }.joined(separator: "; ")
        case .nordic(let parts):
            parts.map { part in
                var text = "\(part.kind.rawValue), \(part.image.count) bytes"
                if case .secure(let command) = part.generation {
                    text += command.firmwareVersion.map { ", version \($0)" } ?? ""
                    text += command.isSigned ? ", signed" : ", not signed"
                }
                return text
            }.joined(separator: "; ")
        }
    }

    var object: JSONValue {
        switch self {
        case .images(let images):
            [
                "event": "firmware", "kind": "mcuboot", "bytes": JSONValue(byteCount),
                "parts": .array(
                    images.map { image in
                        [
                            "image": JSONValue(image.number), "version": .string(image.version),
                            "bytes": JSONValue(image.octets.count), "hash": .string(Hexadecimal.text(image.hash)),
                            "signed": .boolean(image.isSigned), "encrypted": .boolean(image.isEncrypted),
                        ]
                    }),
            ]
        case .nordic(let parts):
            [
                "event": "firmware", "kind": parts.first?.isSecure ?? false ? "secure-dfu" : "legacy-dfu",
                "bytes": JSONValue(byteCount),
                "parts": .array(
                    parts.map { part in
                        let part = part
                        var object: JSONValue = [
                            "content": .string(part.kind.rawValue), "bytes": JSONValue(part.image.count),
                        ]
                        if case .secure(let command) = part.generation {
                            object = object.adding("version", JSONValue(command.firmwareVersion))
                                .adding("signed", .boolean(command.isSigned))
                        }
                        return object
                    }),
            ]
        }
    }
}

extension DeviceImage {
    var object: JSONValue {
        [
            "image": JSONValue(image), "slot": JSONValue(slot), "version": .string(version),
            "hash": .string(Hexadecimal.text(hash)), "bootable": .boolean(isBootable), "pending": .boolean(isPending),
            "confirmed": .boolean(isConfirmed), "active": .boolean(isActive), "permanent": .boolean(isPermanent),
        ]
    }

    var text: String {
        let flags = [
            (isActive, "active"), (isConfirmed, "confirmed"), (isPending, "pending"), (isPermanent, "permanent"),
            (isBootable, "bootable"),
        ].filter(\.0).map(\.1).joined(separator: " ")
        return "image \(image) slot \(slot)  \(version.printable)  \(Hexadecimal.text(hash))  \(flags)"
    }
}

extension Failure {
    /// Errors of update protocols with their codes.
    init(update error: UpdateError) {
        let code: ErrorCode =
            switch error {
            case .noUpdateService, .noManagementService: .attributeNotFound
            case .wrongFile: .usage
            case .deviceNotFound: .deviceNotReached
            case .linkLost: .linkLost
            case .timedOut: .timeout
            case .notBonded: .noBond
            case .invalidResponse, .damagedTransfer, .mtuTooSmall: .protocolError
            case .management, .refused, .unsuitable, .imageNotStarted: .updateRefused
            }
        self.init(error.description, code: code)
    }
}
