import BLECapture
import BLEPackets
import BLESimulator
import BLETransport
import Glibc

/// A capture that plays the controller.
///
/// What the recorded controller said of itself, its address, version, features and buffers, becomes a simulated
/// controller. While the host scans, the recorded advertising reports come at their recorded distances, in the form of
/// its scan; while it does not, the capture waits. A device whose GATT session is in the capture can be connected to:
/// it has the recorded database, the values that were read, and sends by itself what it sent then, at the recorded
/// distances, to clients that have subscribed. What the capture lacks is reported. Other recorded events are not
/// played.
struct PlayedCapture {
    var configuration = SimulatedControllerConfiguration()
    /// In their order; the time counts from the first of them.
    private(set) var reports: [(time: Int64, report: LEExtendedAdvertisingReport.Report)] = []
    private(set) var sessions: [PlayedSession] = []
    /// Links to devices beyond those that are played.
    private var omitted = 0
    /// What the file has besides HCI, in words.
    private var omission: String?

    /// `FILE@RATE` plays RATE times faster, unless a file has exactly that name.
    /// - Throws: `TransportError.unusableFile` if what follows the last `@` is no such rate. An `@` in the name of a
    ///   folder is none of a rate.
    static func pathAndRate(_ text: String) throws(TransportError) -> (path: String, rate: Double) {
        guard unsafe access(text, F_OK) != 0, let mark = text.lastIndex(of: "@"), !text[mark...].contains("/") else {
            return (text, 1)
        }
        guard let rate = Double(text[text.index(after: mark)...]), PlayedPace.rates.contains(rate) else {
            throw .unusableFile(
                text,
                reason:
                    "no file has this name, and what follows ‘@’ is not a speed: write FILE@RATE with a number from "
                    + "0.001 to 1000000, such as @10 to play ten times faster")
        }
        return (String(text[..<mark]), rate)
    }

    /// - Throws: `CaptureError` when the file is not a capture. A damaged one is played as far as it can be read.
    init(path: String) throws(CaptureError) {
        var reader = try CaptureReader(path: path)
        try self.init(&reader)
    }

    init(_ reader: inout CaptureReader) throws(CaptureError) {
        var collector = SessionCollector()
        var features: LEFeatures?
        var isExtended = false
        var first: Int64?
        var translator = LinkLayerTranslator()
        func take(_ bytes: RawSpan, _ direction: CaptureDirection, at time: Int64) {
            let packet = bytes.extracting(droppingFirst: 1)
            switch bytes.byte(at: 0).flatMap(H4PacketType.init) {
            case .acl: collector.handle(data: packet, from: direction, at: time)
            case .event where direction == .controllerToHost:
                guard let event = Self.event(packet) else { return }
                switch event {
                case .leAdvertisingReport(let event):
                    for report in event.reports { add(Self.extended(report), at: time, &first) }
                case .leExtendedAdvertisingReport(let event):
                    isExtended = true
                    for report in event.reports { add(report, at: time, &first) }
                case .commandComplete(let answer): read(answer, &features)
                default: collector.handle(event)
                }
            default: break
            }
        }
        reading: while true {
            do throws(CaptureError) {
                guard let record = try reader.next() else { break reading }
                let time = record.timestampMicroseconds
                guard let direction = record.direction else {
                    // What a sniffer captured plays as what its central would have got.
                    for packet in translator.packets(of: record) {
                        take(packet.bytes.span.bytes, packet.direction, at: time)
                    }
                    continue
                }
                guard record.packetType != nil, !record.isShortened else { continue }
                take(record.bytes, direction, at: time)
            } catch {
                // A damaged record is skipped; after a final error there is nothing to read.
                if error.isFinal { break reading }
            }
        }
        if var features {
            features.formIntersection(SimulatedControllerConfiguration.allFeatures)
            configuration.features = features
        }
        if isExtended {
            configuration.features.insert(.extendedAdvertising)
        } else if !reports.isEmpty {
            configuration.features.remove(.extendedAdvertising)
        }
        sessions = collector.finish()
        omitted = collector.omitted
        omission = reader.omission
    }

    private static func event(_ packet: RawSpan) -> HCIEventPacket? {
        do throws(DecodingError) { return try HCIEventPacket(decoding: packet) } catch { return nil }
    }

    private mutating func add(
        _ report: LEExtendedAdvertisingReport.Report, at time: Int64, _ first: inout Int64?
    ) {
        let start = first ?? time
        first = start
        // If the clock was set back during the recording, the reports follow at once.
        let (distance, isTooFar) = time.subtractingReportingOverflow(start)
        reports.append((isTooFar ? reports.last?.time ?? 0 : max(reports.last?.time ?? 0, distance), report))
    }

    private static func extended(_ report: LEAdvertisingReport.Report) -> LEExtendedAdvertisingReport.Report {
        let type: ExtendedAdvertisingEventType =
            switch report.eventType {
            case .connectableUndirected: [.legacy, .connectable, .scannable]
            case .connectableDirected: [.legacy, .connectable, .directed]
            case .scannableUndirected: [.legacy, .scannable]
            case .scanResponse: [.legacy, .scanResponse, .scannable]
            default: .legacy
            }
        return .init(
            eventType: type, reportedAddress: ReportedAddress(report.address), rssi: report.rssi, data: report.data)
    }

    // MARK: What the controller said of itself

    private mutating func read(_ answer: CommandComplete, _ features: inout LEFeatures?) {
        do throws(DecodingError) {
            switch answer.opcode {
            case ReadBDADDR.opcode:
                let result = try answer.decode(ReadBDADDR.self)
                if result.status.isSuccess {
                    configuration.publicAddress = result.address.value == 0 ? nil : result.address
                }
            case LEReadLocalSupportedFeatures.opcode:
                let result = try answer.decode(LEReadLocalSupportedFeatures.self)
                if result.status.isSuccess { features = result.features }
            case ReadLocalVersionInformation.opcode:
                let result = try answer.decode(ReadLocalVersionInformation.self)
                guard result.status.isSuccess else { return }
                configuration.version = result.hciVersion
                configuration.manufacturer = result.manufacturer
                configuration.subversion = result.hciSubversion
            case LEReadBufferSize.opcode:
                let result = try answer.decode(LEReadBufferSize.self)
                guard result.status.isSuccess, result.aclDataPacketLength >= 27, result.totalACLDataPackets > 0 else {
                    return
                }
                configuration.aclDataLength = result.aclDataPacketLength
                configuration.aclDataCount = result.totalACLDataPackets
            case LEReadFilterAcceptListSize.opcode:
                let result = try answer.decode(LEReadFilterAcceptListSize.self)
                if result.status.isSuccess, result.size > 0 { configuration.acceptListSize = result.size }
            default: break
            }
        } catch {}
    }

    // MARK: Playing

    /// An air that plays it, so many times faster than it was recorded.
    /// - Parameter report: gets what the capture lacks, in words.
    func makeAir(
        rate: Double = 1, report: @escaping @Sendable (String) -> Void = { _ in }
    ) -> (air: SimulatedAir, controller: SimulatedControllerID) {
        let air = SimulatedAir()
        let controller = air.addController(configuration)
        // Only what was recorded is reported; the peers below advertise so that they can be connected to.
        air.changeFaults(of: controller) { $0.silencesReports = true }
        let pace = PlayedPace(rate: rate)
        for session in sessions {
            if session.begunBefore {
                report(
                    "a link stood before the capture began: its device is played as \(session.peer), and what was "
                        + "discovered before is missing")
            }
            session.join(air, pace, report: report)
        }
        if let omission { report("of the capture, \(omission)") }
        if omitted > 0 {
            report(
                "of the devices with GATT sessions, the first \(sessions.count) are played: \(omitted) links are left "
                    + "out")
        }
        if sessions.isEmpty, !reports.isEmpty {
            report("the capture has no GATT session of a device: there are only its advertisements")
        } else if sessions.isEmpty {
            report("the capture has neither advertisements nor a GATT session of a device")
        }
        if !reports.isEmpty { ReportPlayer(reports: reports, pace: pace, controller: controller).wait(on: air) }
        return (air, controller)
    }
}

/// Plays reports while the host scans.
private final class ReportPlayer {
    private let reports: [(time: Int64, report: LEExtendedAdvertisingReport.Report)]
    private let pace: PlayedPace
    private let controller: SimulatedControllerID
    private var next = 0

    init(
        reports: [(time: Int64, report: LEExtendedAdvertisingReport.Report)], pace: PlayedPace,
        controller: SimulatedControllerID
    ) {
        self.reports = reports
        self.pace = pace
        self.controller = controller
    }

    /// Waits until the host scans.
    func wait(on air: SimulatedAir) {
        guard next < reports.count else { return }
        air.whenScanning(controller) { self.play(on: $0) }
    }

    private func play(on air: SimulatedAir) {
        guard air.isScanning(controller) else { return wait(on: air) }
        let time = reports[next].time
        // Reports with the same time are sent together.
        while next < reports.count, reports[next].time == time {
            air.report(reports[next].report, by: controller)
            next += 1
        }
        guard next < reports.count else { return }
        let distance = pace.microseconds(reports[next].time - time)
        air.schedule(at: air.nowMicroseconds + distance) { self.play(on: $0) }
    }
}
