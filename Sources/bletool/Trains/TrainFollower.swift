import BLE
import BLEJSON
import BLEScripts

/// Prints the data of a train, transfers it to another device, and responds in it.
struct TrainFollower {
    /// Another device that is to follow the train as well.
    struct Receiver: Sendable {
        var name: String
        var transfer: @Sendable () async throws -> Void
    }

    /// What responds to each packet of a train with responses.
    struct Responder: Sendable {
        var slot: SlotArgument
        var respond: @Sendable (PeriodicResponse) async throws -> Void
    }

    /// How many reports were printed.
    private(set) var printedCount = 0
    /// Whether a train was found.
    private(set) var wasHeard = false

    private let console: Console
    private let printsOnlyChanges: Bool
    private let receiver: Receiver?
    private let responder: Responder?
    /// The data of each train that were printed last, by subevent.
    private var lastData: [PeriodicSyncRequest.Advertiser: [UInt8?: [UInt8]]] = [:]
    /// The trains that are followed and take no responses.
    private var silentTrains: Set<PeriodicSyncRequest.Advertiser> = []
    private var hasTransferred = false
    /// The notes that are made once only.
    private var notes: Set<String> = []
    private static let noteLimit = 64

    /// - Parameters:
    ///   - receiver: called each time a train is found.
    ///   - responder: `nil` for no responses.
    init(_ console: Console, printsOnlyChanges: Bool, receiver: Receiver? = nil, responder: Responder? = nil) {
        self.console = console
        self.printsOnlyChanges = printsOnlyChanges
        self.receiver = receiver
        self.responder = responder
    }

    /// - Throws: the error of the first transfer.
    mutating func handle(_ event: PeriodicSyncEvent) async throws {
        switch event {
        case .synchronized(let information):
            wasHeard = true
            print(information)
            checkResponses(to: information)
            try await transfer(information)
        case .lost(let address, let identifier):
            let train = PeriodicSyncRequest.Advertiser(address: address, identifier: identifier)
            lastData[train] = nil
            silentTrains.remove(train)
            console.print(
                Self.object("trainLost", address, identifier, []),
                text: "\(address.addressText) \(address.kindText) SID \(identifier) is lost; looking for it again")
        case .report(let report):
            // At once: the slots follow the packet closely.
            await respond(to: report)
            // Without the numbers of its data, the controller cannot recognise what is new.
            guard isNew(report) else { return }
            print(report)
            printedCount += 1
        }
    }

    private mutating func isNew(_ report: PeriodicSyncReport) -> Bool {
        guard printsOnlyChanges else { return true }
        let train = report.train
        let before = lastData[train]?[report.subevent]
        lastData[train, default: [:]][report.subevent] = report.data
        return before != report.data
    }

    private mutating func checkResponses(to information: PeriodicSyncInformation) {
        guard responder != nil else { return }
        let train = PeriodicSyncRequest.Advertiser(address: information.advertiser, identifier: information.identifier)
        if let subevents = information.subevents, subevents.responseSlotSpacing > 0 {
            silentTrains.remove(train)
        } else {
            silentTrains.insert(train)
            printOnce(
                "the train of \(train.address.addressText) SID \(train.identifier) takes no responses: --respond has no "
                    + "effect on it")
        }
    }

    private mutating func transfer(_ information: PeriodicSyncInformation) async throws {
        guard let receiver else { return }
        do { try await receiver.transfer() } catch {
            // ^C, or the end of the time: the loop over the train ends with it.
            if Task.isCancelled { return }
            // After the first transfer it follows by itself; it may have left long ago.
            guard hasTransferred else { throw error }
            printOnce("\(receiver.name) was not told again: \((error as? BLEError)?.cause ?? "\(error)")")
            return
        }
        hasTransferred = true
        console.print(
            Self.object(
                "trainTransferred", information.advertiser, information.identifier,
                [.init(key: "to", value: .string(receiver.name))]),
            text: "told \(receiver.name) how to follow it")
    }

    private mutating func respond(to report: PeriodicSyncReport) async {
        guard let responder, let event = report.event, let subevent = report.subevent,
            !silentTrains.contains(report.train)
        else { return }
        let slot = responder.slot
        do {
            try await responder.respond(
                PeriodicResponse(toEvent: event, subevent: subevent, slot: slot.slot, data: slot.data))
        } catch {
            if Task.isCancelled { return }
            printOnce("a response was not sent: \(error)")
        }
    }

    /// A train may last for weeks: what is said of each packet would bury the rest.
    private mutating func printOnce(_ text: String) {
        guard notes.count < Self.noteLimit, notes.insert(text).inserted else { return }
        console.note(text)
    }

    private func print(_ information: PeriodicSyncInformation) {
        let interval = information.interval.milliseconds
        console.print(
            Self.object(
                "synchronized", information.advertiser, information.identifier,
                [
                    .init(key: "interval", value: .number(interval)),
                    .init(key: "phy", value: .string(information.phy.name)),
                    .init(key: "serviceData", value: information.serviceData.map { JSONValue($0) } ?? .null),
                ] + (information.subevents.map { [.init(key: "subevents", value: JSONValue($0.count))] } ?? [])),
            text: "following \(information.advertiser.addressText) \(information.advertiser.kindText) SID "
                + "\(information.identifier), every \(interval) ms, \(information.phy.name)"
                + (information.subevents.map { ", \($0.count) subevents" } ?? ""))
    }

    private func print(_ report: PeriodicSyncReport) {
        let data = Hexadecimal.text(report.data)
        console.print(
            Self.object(
                "train", report.advertiser, report.identifier,
                [
                    .init(key: "rssi", value: report.rssi == 127 ? .null : JSONValue(report.rssi)),
                    .init(key: "txPower", value: report.txPower.map { JSONValue($0) } ?? .null),
                    .init(key: "data", value: .string(data)),
                    .init(key: "truncated", value: .boolean(report.isTruncated)),
                ] + (report.subevent.map { [.init(key: "subevent", value: JSONValue($0))] } ?? [])),
            text: "\(report.advertiser.addressText) SID \(report.identifier)"
                + "\(report.subevent.map { " subevent \($0)" } ?? "")  "
                + "\(report.rssi == 127 ? "?" : String(report.rssi)) dBm  \(data)\(report.isTruncated ? "…" : "")")
    }

    private static func object(
        _ event: String, _ address: DeviceAddress, _ identifier: UInt8, _ members: [JSONValue.Member]
    ) -> JSONValue {
        .object(
            [
                .init(key: "event", value: .string(event)), .init(key: "address", value: .string(address.addressText)),
                .init(key: "addressType", value: .string(address.kindText)),
                .init(key: "sid", value: JSONValue(identifier)),
            ] + members)
    }
}

extension PeriodicSyncReport {
    /// Whose data it has.
    fileprivate var train: PeriodicSyncRequest.Advertiser { .init(address: advertiser, identifier: identifier) }
}
