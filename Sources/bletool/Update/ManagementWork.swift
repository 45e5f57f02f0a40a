import BLE
import BLEJSON
import BLEManagement
import BLEScripts
import BLEText
import BLEUpdate

/// A verb of `smp` at work on a device.
struct ManagementWork {
    let verb: ManagementVerb
    let console: Console
    var image = 0
    var slot: Int?
    var window: Int?
    var onlyNewer = false
    /// The octets of the file that is sent.
    private var octets: [UInt8] = []
    private var firmware: MCUbootImage?
    private var target: CheckReportFile?

    init(verb: ManagementVerb, console: Console) {
        self.verb = verb
        self.console = console
    }

    /// Reads what is sent and opens what is written, before the device is looked for.
    mutating func prepare() throws {
        switch verb {
        case .upload(let path):
            octets = try TextFile.bytes(of: path)
            do throws(FirmwareFileError) { firmware = try MCUbootImage(octets) } catch {
                throw Failure("‘\(path)’: \(error)", status: .usage)
            }
        case .uploadFile(let path, _): octets = try TextFile.bytes(of: path)
        case .downloadFile(_, let path): target = try CheckReportFile(path, permissions: 0o600)
        default: break
        }
    }

    func run(_ client: ManagementClient) async throws {
        do { try await perform(client) } catch {
            target?.release()
            console.showProgress("")
            throw error
        }
        console.showProgress("")
    }

    private func done(_ what: String) {
        console.print(["event": "managed", "done": .string(what)], text: what)
    }

    private func perform(_ client: ManagementClient) async throws {
        switch verb {
        case .echo(let text):
            let reply = try await client.echo(text)
            console.print(["event": "echo", "text": .string(reply)], text: reply.printable)
        case .reset:
            do { try await client.reset() } catch BLEError.linkLost {}
            done("reset")
        case .information: try await show(client, group: 0, command: 7)
        case .statistics: try await show(client, group: 0, command: 2)
        case .memory: try await show(client, group: 0, command: 3)
        case .buffers: try await show(client, group: 0, command: 6)
        case .images: show(try await client.images())
        case .test(let hash): show(try await client.setImage(hash, confirm: false))
        case .confirm(let hash): show(try await client.setImage(hash, confirm: true))
        case .erase:
            try await client.eraseImage(slot: slot)
            done("erased")
        case .upload: try await uploadImage(client)
        case .readSetting(let name):
            let value = try await client.setting(name)
            console.print(
                ["event": "setting", "name": .string(name), "value": .string(Hexadecimal.text(value))],
                text: Hexadecimal.text(value))
        case .writeSetting(let name, let value):
            try await client.setSetting(name, value)
            done("written")
        case .deleteSetting(let name):
            try await client.deleteSetting(name)
            done("deleted")
        case .commitSettings:
            try await client.commitSettings()
            done("committed")
        case .loadSettings:
            try await client.loadSettings()
            done("loaded")
        case .saveSettings:
            try await client.saveSettings()
            done("saved")
        case .uploadFile, .downloadFile, .fileStatus, .fileHash: try await handleFile(client)
        case .shell(let words):
            let (output, status) = try await client.shell(words)
            let text = output.split(separator: "\n").map { String($0).printable }.joined(separator: "\n")
            console.print(
                ["event": "shell", "output": .string(output), "status": JSONValue(status)], text: text)
            if status != 0 { throw Failure("the device's shell returned \(status)", code: .updateRefused) }
        }
    }

    private func show(_ images: [DeviceImage]) {
        console.print(
            ["event": "images", "images": .array(images.map(\.object))],
            text: images.isEmpty ? "no images" : images.map(\.text).joined(separator: "\n"))
    }

    /// Prints an answer with whatever it has.
    private func show(_ client: ManagementClient, group: UInt16, command: UInt8) async throws {
        let answer = try await client.request(.read, group: group, command: command)
        console.print(
            ["event": "managed", "answer": answer.json], text: answer.lines(indent: 0).joined(separator: "\n"))
    }

    private func uploadImage(_ client: ManagementClient) async throws {
        guard let firmware else { return }
        let start = ContinuousClock.now
        let show = UpdateOutput(console).transfer()
        let resumed = try await client.uploadImage(
            octets, image: image, hash: firmware.fileHash, onlyNewer: onlyNewer, window: window, progress: show)
        report(
            octets.count - resumed, start,
            [JSONValue.Member(key: "hash", value: .string(Hexadecimal.text(firmware.hash)))], resumed: resumed)
    }

    private func report(_ count: Int, _ start: ContinuousClock.Instant, _ members: [JSONValue.Member], resumed: Int) {
        let seconds = start.duration(to: .now) / .seconds(1)
        let rate = seconds > 0 ? Double(count) / seconds : 0
        var object: JSONValue = [
            "event": "transferred", "bytes": JSONValue(count), "seconds": .number(seconds),
            "bytesPerSecond": JSONValue(Int(rate)), "resumedFrom": JSONValue(resumed),
        ]
        var text =
            "\(count) bytes in \(LinkSummaryOutput.decimal(seconds, digits: 1)) s, \(UpdateOutput.text(rate: rate))"
        if resumed > 0 { text += ", from byte \(resumed) on" }
        for member in members {
            object = object.adding(member.key, member.value)
            if case .string(let value) = member.value { text += "; \(member.key) \(value)" }
        }
        console.print(object, text: text)
    }

    private func handleFile(_ client: ManagementClient) async throws {
        let start = ContinuousClock.now
        let show = UpdateOutput(console).transfer()
        switch verb {
        case .uploadFile(_, let path):
            try await client.uploadFile(octets, to: path, window: window, progress: show)
            report(octets.count, start, [], resumed: 0)
        case .downloadFile(let path, _):
            let octets = try await client.downloadFile(path, progress: show)
            try target?.write(octets)
            report(octets.count, start, [], resumed: 0)
        case .fileStatus(let path):
            let count = try await client.fileByteCount(path)
            console.print(
                ["event": "file", "path": .string(path), "bytes": JSONValue(count)], text: "\(count) bytes")
        case .fileHash(let path, let kind):
            let (kind, octets) = try await client.fileHash(path, kind: kind)
            console.print(
                [
                    "event": "file", "path": .string(path), "hash": .string(Hexadecimal.text(octets)),
                    "kind": .string(kind),
                ],
                text: "\(kind.printable) \(Hexadecimal.text(octets))")
        default: break
        }
    }
}

extension CBORValue {
    /// The same in JSON: octets in hexadecimal.
    var json: JSONValue {
        switch self {
        case .unsigned, .negative: integer.map { .integer($0) } ?? .null
        case .octets(let octets): .string(Hexadecimal.text(octets))
        case .text(let text): .string(text)
        case .array(let values): .array(values.map(\.json))
        case .map(let members):
            .object(members.map { JSONValue.Member(key: $0.key.string ?? "\($0.key.json.text)", value: $0.value.json) })
        case .boolean(let isTrue): .boolean(isTrue)
        case .float(let number): number.isFinite ? .number(number) : .null
        case .null: .null
        }
    }

    /// The same for people: a line for each value.
    func lines(indent: Int) -> [String] {
        let space = String(repeating: " ", count: indent)
        guard let members else {
            if let elements { return elements.flatMap { $0.lines(indent: indent) } }
            return [space + (string ?? json.text).printable]
        }
        return members.flatMap { member -> [String] in
            let key = (member.key.string ?? member.key.json.text).printable
            if member.value.members != nil || member.value.elements != nil {
                return ["\(space)\(key):"] + member.value.lines(indent: indent + 2)
            }
            return ["\(space)\(key): \(member.value.lines(indent: 0).joined())"]
        }
    }
}
