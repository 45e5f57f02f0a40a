import BLE
import BLEScripts
import Glibc

/// The report of a check, to attach to an issue: Markdown without addresses, names and paths.
struct CheckReport: Sendable {
    let findings: [CheckFinding]
    let verdict: CheckVerdict
    let information: ControllerInformation?
    let experience: ControllerExperience?
    let transport: TransportAddress
    let hardware: AdapterHardware?
    let isWithSecond: Bool
    /// The kernel's name, release and machine.
    var system = CheckReport.systemName

    var text: String {
        var lines = ["# Bluetooth adapter: \(cell(chip))", ""]
        lines += [
            "| | |", "|---|---|", "| verdict | \(cell(verdict.text)) |",
            "| identifiers | \(cell(identifiers)) |", "| transport | \(cell(transportText)) |",
            "| second adapter | \(isWithSecond ? "yes" : "no") |", "| bletool | \(BLETool.configuration.version) |",
            "| system | \(cell(system)) |", "",
        ]
        lines += ["## Steps", "", "| step | verdict | result |", "|---|---|---|"]
        lines += findings.map { "| \($0.step.rawValue) | \($0.grade.rawValue) | \(cell($0.text)) |" }
        lines += ["", "## Weak points", ""]
        lines += verdict.weaknesses.isEmpty ? ["None."] : verdict.weaknesses.map { "- \(cell($0))" }
        lines += ["", "## Figures", "", "```text"]
        lines += findings.map { clean("\($0.step.rawValue) \($0.figures.text)") }
        lines += ["```", ""]
        if let information {
            let known = TraitTexts.names(of: information.traits).joined(separator: ", ")
            lines += ["Traits: \(known.isEmpty ? "none" : known).", ""]
        }
        if let experience, !experience.isEmpty {
            let found =
                TraitTexts.names(of: experience.found) + TraitTexts.names(of: experience.refuted).map { "not \($0)" }
            lines += ["Learned: \(found.joined(separator: ", ")).", ""]
        }
        lines += ["Row for the table of controllers:", "", row, ""]
        return lines.joined(separator: "\n")
    }

    /// A row of Documentation/Controllers.md.
    var row: String {
        let weak = verdict.points.map { cell($0) }.joined(separator: "; ")
        return "| \(cell(chip)) | \(cell(identifiers)) | \(cell(transportText)) | \(cell(verdict.text)) "
            + "| \(weak.isEmpty ? "–" : weak) |"
    }

    private var chip: String {
        findings.first { $0.step == .chip }?.text.split(separator: ";").first.map(String.init) ?? "unknown"
    }

    private var identifiers: String {
        if let usb = hardware?.usb { return "USB \(usb.identifiers) (\(usb.releaseText))" }
        guard let information else { return "–" }
        return "company \(Hexadecimal.number(information.companyIdentifier, digits: 4)), LMP "
            + Hexadecimal.number(information.lmpSubversion, digits: 4)
    }

    /// A path or a host may say who the user is; the name of a simulated family does not.
    private var transportText: String {
        switch transport {
        case .simulator(let name?) where !name.contains("/") && !name.contains("."): "sim:\(name)"
        default: transport.scheme
        }
    }

    /// Text for one cell of a table.
    private func cell(_ text: String) -> String { clean(text).split(separator: "|").joined(separator: "\\|") }

    private func clean(_ text: String) -> String {
        var text = text
        let address = transport.description
        // Not a scheme of its own, which is a word like others.
        if address != transport.scheme, transportText != address {
            text = text.split(separator: address, omittingEmptySubsequences: false).joined(separator: transport.scheme)
        }
        return Self.withoutAddresses(text)
    }

    /// The text with a word in place of each address of a device: six pairs of hexadecimal digits with one sign between
    /// them, `:`, `-` or `_`.
    static func withoutAddresses(_ text: String) -> String {
        let octets = Array(text.utf8)
        var kept: [UInt8] = []
        var place = 0
        while place < octets.count {
            if isAddress(octets, at: place) {
                kept += Array("(address)".utf8)
                place += addressLength
            } else {
                kept.append(octets[place])
                place += 1
            }
        }
        return String(decoding: kept, as: UTF8.self)
    }

    private static let addressLength = 17

    private static func isAddress(_ octets: [UInt8], at start: Int) -> Bool {
        guard start + addressLength <= octets.count else { return false }
        let sign = octets[start + 2]
        guard [UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(sign) else { return false }
        return (0..<addressLength).allSatisfy { offset in
            offset % 3 == 2 ? octets[start + offset] == sign : isDigit(octets[start + offset])
        }
    }

    private static func isDigit(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    /// Such as `Linux 6.12.0 x86_64`; without the name of the machine.
    static var systemName: String {
        var name = utsname()
        guard unsafe uname(&name) == 0 else { return "unknown" }
        func text(_ field: some Any) -> String {
            unsafe withUnsafeBytes(of: field) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return "\(text(name.sysname)) \(text(name.release)) \(text(name.machine))"
    }
}
