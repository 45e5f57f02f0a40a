import BLE
import BLEAssignedNumbers
import BLEJSON
import BLEScripts

/// What the steps of a check conclude from what they saw. Pure, like `CheckVerdict`.
enum CheckJudge {
    // MARK: What it is

    static func chip(_ information: ControllerInformation) -> CheckFinding {
        let company = AssignedNumbers.company(information.companyIdentifier)?.description
        let version =
            HCIVersion(rawValue: information.hciVersion).name ?? Hexadecimal.number(information.hciVersion, digits: 2)
        let maker = company ?? "company \(Hexadecimal.number(information.companyIdentifier, digits: 4))"
        let name = information.family.map { "\($0.name), reported as \(maker)" } ?? maker
        let isClone = information.traits.contains(.isClone)
        return CheckFinding(
            .chip, .ok,
            "\(name); Bluetooth \(version), HCI \(Hexadecimal.number(information.hciSubversion, digits: 4)), "
                + "LMP \(Hexadecimal.number(information.lmpSubversion, digits: 4))\(isClone ? ", a clone" : "")",
            [
                "family": JSONValue(information.family?.name), "manufacturer": JSONValue(information.companyIdentifier),
                "manufacturerName": JSONValue(company), "version": .string(version),
                "hciRevision": JSONValue(information.hciSubversion),
                "lmpSubversion": JSONValue(information.lmpSubversion),
            ])
    }

    static func firmware(_ traits: ControllerTraits) -> CheckFinding {
        traits.contains(.lacksFirmware)
            ? CheckFinding(
                .firmware, .weak,
                "was not loaded: install the firmware package of its maker (Debian: firmware-realtek, "
                    + "firmware-brcm80211, firmware-misc-nonfree …), and unplug the adapter and plug it in again")
            : CheckFinding(.firmware, .ok, "nothing shows that it is missing")
    }

    /// - Parameter hardware: `nil` for an adapter that neither the kernel nor USB knows.
    static func device(_ hardware: AdapterHardware?, transport: String) -> CheckFinding {
        guard let hardware else {
            return CheckFinding(.device, .skipped, "\(transport): its device is not known to the kernel")
        }
        let figures: JSONValue = [
            "bus": JSONValue(hardware.bus), "usb": JSONValue(hardware.usb?.identifiers),
            "usbRelease": JSONValue(hardware.usb?.releaseText), "port": JSONValue(hardware.place),
            "driver": JSONValue(hardware.driver), "blocked": JSONValue(hardware.block?.isBlocked),
        ]
        if let block = hardware.block, block.isBlocked {
            return CheckFinding(
                .device, .weak,
                block.isHard
                    ? "a switch of the machine blocks the radio"
                    : "rfkill blocks the radio: ‘rfkill unblock bluetooth’",
                figures)
        }
        var parts: [String] = []
        if let usb = hardware.usb {
            parts.append("USB \(usb.identifiers), release \(usb.releaseText), port \(usb.port)")
        } else if let bus = hardware.bus {
            parts.append("\(bus) \(hardware.deviceName ?? "")")
        }
        if let driver = hardware.driver { parts.append("driver \(driver)") }
        let text =
            parts.isEmpty
            ? "the kernel knows no device behind it, as for a virtual adapter" : parts.joined(separator: ", ")
        return CheckFinding(.device, parts.isEmpty ? .skipped : .ok, text, figures)
    }

    static func power(_ hardware: AdapterHardware?) -> CheckFinding {
        guard let power = hardware?.power else {
            return CheckFinding(.power, .skipped, "nothing is known of its power management")
        }
        let figures: JSONValue = [
            "control": .string(power.isAutomatic ? "auto" : "on"),
            "delayMilliseconds": JSONValue(power.delayMilliseconds),
        ]
        guard power.mayBeSuspended else {
            return CheckFinding(.power, .ok, "the kernel does not suspend the device", figures)
        }
        let isHarmless = hardware?.usb == nil
        return CheckFinding(
            .power, isHarmless ? .ok : .weak,
            "the kernel may suspend the device while it seems idle: write “on” into \(power.path)", figures)
    }

    // MARK: What it receives

    /// - Parameters:
    ///   - trouble: why the scan was not on.
    ///   - hasSecond: whether another adapter advertises nearby.
    static func scan(_ figures: ScanFigures, trouble: ScanTrouble?, hasSecond: Bool) -> CheckFinding {
        let object = figures.object
        if figures.reports == 0 {
            if let trouble { return CheckFinding(.scan, .failed, trouble.failure.message, object) }
            let seconds = LinkSummaryOutput.decimal(figures.seconds, digits: 1)
            return hasSecond
                ? CheckFinding(
                    .scan, .failed, "no report in \(seconds) s although the second adapter advertises", object)
                : CheckFinding(
                    .scan, .weak,
                    "no report in \(seconds) s: either no device is near, or it hears none; switch one on, or name a second "
                        + "adapter (--with)", object)
        }
        // Some clones report themselves as the sender of all that they receive.
        if figures.ownReports >= 10, figures.ownReports * 10 >= figures.reports * 9 {
            return CheckFinding(
                .scan, .weak,
                "reports itself as the sender of what it receives, or a device nearby uses its address: check it at another "
                    + "place, or use another adapter", object)
        }
        if figures.reports >= 50, figures.emptyReports * 100 >= figures.reports * 98 {
            return CheckFinding(
                .scan, .weak, "\(figures.text): unplug the adapter and plug it in again if that lasts", object)
        }
        return CheckFinding(.scan, .ok, figures.text, object)
    }

    /// Whether one adapter received the other.
    /// - Parameter strength: in dBm.
    static func sighting(_ step: CheckStep, reports: Int, strength: Int8?, seconds: Double) -> CheckFinding {
        let object: JSONValue = ["reports": JSONValue(reports), "strongest": JSONValue(strength)]
        let time = LinkSummaryOutput.decimal(seconds, digits: 1)
        let (receiver, sender) =
            step == .advertise ? ("the second adapter", "this one") : ("this adapter", "the second one")
        guard reports > 0 else {
            return CheckFinding(step, .failed, "\(receiver) did not hear \(sender) within \(time) s", object)
        }
        let at = strength.map { " at \($0) dBm" } ?? ""
        return CheckFinding(step, .ok, "\(receiver) heard \(sender)\(at)", object)
    }

    // MARK: Links

    static func connect(milliseconds: Double, interval: Double?, retries: UInt64) -> CheckFinding {
        let isSlow = milliseconds > 3000
        let again = retries > 0 ? ", after \(retries) more attempt\(retries == 1 ? "" : "s")" : ""
        return CheckFinding(
            .connect, isSlow || retries > 0 ? .weak : .ok,
            "a link after \(LinkSummaryOutput.decimal(milliseconds, digits: 0)) ms\(again)",
            [
                "milliseconds": .number(milliseconds), "intervalMilliseconds": interval.map { .number($0) } ?? .null,
                "retries": JSONValue(retries),
            ])
    }

    /// The least octets a second and the greatest round trip in seconds that count as good: far below what a slow
    /// controller of Core 4.0 does.
    private static let leastRate = 1000.0
    private static let greatestRoundTrip = 0.5

    static func bench(_ step: CheckStep, _ result: BenchResult) -> CheckFinding {
        var figures: JSONValue = [
            "packets": JSONValue(result.packets), "bytes": JSONValue(result.bytes), "lost": JSONValue(result.lost),
            "seconds": .number(result.seconds), "bytesPerSecond": JSONValue(Int(result.bytesPerSecond)),
        ]
        if let statistics = result.statistics {
            figures = figures.adding("medianMilliseconds", .number(statistics.median * 1000))
                .adding("percentile99Milliseconds", .number(statistics.percentile99 * 1000))
        }
        let isSlow = result.statistics.map { $0.median > greatestRoundTrip } ?? (result.bytesPerSecond < leastRate)
        let grade: CheckGrade = result.lost > 0 ? .failed : isSlow ? .weak : .ok
        return CheckFinding(step, grade, result.measured, figures)
    }

    static func pair(_ summary: PairingSummary) -> CheckFinding {
        CheckFinding(
            .pair, .ok, summary.isSecureConnections ? "with LE Secure Connections" : "with LE legacy pairing",
            ["secureConnections": .boolean(summary.isSecureConnections)])
    }

    // MARK: The controller

    /// - Parameters:
    ///   - answer: from the Reset command to its answer, in milliseconds; `nil` if none came.
    ///   - start: from the opening to a controller that can be used, in milliseconds.
    ///   - reports: that came before and after.
    static func reset(
        answer: Double?, start: Double, reports: (before: Int, after: Int), trouble: ScanTrouble?
    ) -> CheckFinding {
        let object: JSONValue = [
            "answerMilliseconds": answer.map { .number($0) } ?? .null, "startMilliseconds": .number(start),
            "reports": JSONValue(reports.after),
        ]
        let times =
            (answer.map { "Reset answered after \(LinkSummaryOutput.decimal($0, digits: 0)) ms, " }
                ?? "Reset not answered, ")
            + "started again in \(LinkSummaryOutput.decimal(start, digits: 0)) ms"
        if reports.after > 0 {
            return CheckFinding(.reset, answer == nil ? .weak : .ok, "\(times), and scans again", object)
        }
        if let trouble { return CheckFinding(.reset, .failed, "\(times); \(trouble.failure.message)", object) }
        return reports.before == 0
            ? CheckFinding(
                .reset, answer == nil ? .weak : .ok, "\(times); it scans, and hears as little as before", object)
            : CheckFinding(.reset, .failed, "\(times), and hears nothing any more", object)
    }

    static func commands(_ information: ControllerInformation) -> CheckFinding {
        let traits = information.traits
        let isExtended = information.features.contains(.extendedAdvertising)
        func family(_ legacy: ControllerTraits) -> String {
            isExtended && !traits.contains(legacy) ? "extended" : "legacy"
        }
        let used = [
            ("scanning", family(.scansWithLegacyCommands)), ("connecting", family(.initiatesWithLegacyCommands)),
            ("advertising", family(.advertisesWithLegacyCommands)),
        ]
        let legacy = used.filter { $0.1 == "legacy" }.map(\.0)
        let text =
            !isExtended
            ? "the legacy ones, as it says"
            : legacy.isEmpty
                ? "the extended ones, as it says"
                : "it claims the extended ones, and needs legacy ones for \(legacy.joined(separator: ", "))"
        return CheckFinding(
            .commands, isExtended && !legacy.isEmpty ? .weak : .ok, text,
            [
                "claimed": .string(isExtended ? "extended" : "legacy"), "scan": .string(used[0].1),
                "connect": .string(used[1].1), "advertise": .string(used[2].1),
                "traits": JSONValue(TraitTexts.names(of: traits)),
            ])
    }

    static func counters(_ counters: HostCounters) -> CheckFinding {
        let all: [(name: String, value: UInt64)] = [
            ("commandTimeouts", counters.commandTimeouts), ("desynchronisations", counters.desynchronisations),
            ("hardwareErrors", counters.hardwareErrors), ("controllerResets", counters.controllerResets),
            ("transportReopenings", counters.transportReopenings), ("scanRestarts", counters.scanRestarts),
            ("malformedPackets", counters.malformedPackets), ("unexpectedEvents", counters.unexpectedEvents),
        ]
        var figures = JSONValue.object([])
        for (name, value) in all { figures = figures.adding(name, JSONValue(value)) }
        func times(_ number: UInt64) -> String { number == 1 ? "once" : "\(number) times" }
        func count(_ number: UInt64, _ what: String) -> String { "\(number) \(what)\(number == 1 ? "" : "s")" }
        let words: [(value: UInt64, text: (UInt64) -> String)] = [
            (counters.commandTimeouts, { "left \(count($0, "command")) unanswered" }),
            (counters.desynchronisations, { "refused a command as out of place \(times($0))" }),
            (counters.hardwareErrors, { "reported a hardware error \(times($0))" }),
            (counters.controllerResets, { "had to be reset \(times($0))" }),
            (counters.transportReopenings, { "had to be opened again \(times($0))" }),
            (counters.scanRestarts, { "its scan was restarted \(times($0))" }),
            (counters.malformedPackets, { "sent \(count($0, "malformed packet"))" }),
            (counters.unexpectedEvents, { "sent \(count($0, "unexpected event"))" }),
        ]
        let seen = words.filter { $0.value > 0 }.map { $0.text($0.value) }
        // Restarts are the answer to silence, which an empty place has, too; strange events harm nobody.
        let isWeak = all.prefix(5).contains { $0.value > 0 } || counters.malformedPackets > 0
        return CheckFinding(
            .counters, isWeak ? .weak : .ok, seen.isEmpty ? "nothing went wrong" : seen.joined(separator: "; "), figures
        )
    }
}

extension HostCounters {
    /// What both have counted of what `CheckJudge.counters` looks at.
    static func + (left: HostCounters, right: HostCounters) -> HostCounters {
        var sum = left
        sum.commandTimeouts += right.commandTimeouts
        sum.desynchronisations += right.desynchronisations
        sum.hardwareErrors += right.hardwareErrors
        sum.controllerResets += right.controllerResets
        sum.transportReopenings += right.transportReopenings
        sum.scanRestarts += right.scanRestarts
        sum.malformedPackets += right.malformedPackets
        sum.unexpectedEvents += right.unexpectedEvents
        return sum
    }
}
