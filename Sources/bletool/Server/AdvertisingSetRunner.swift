import BLE
import BLEJSON
import BLEScripts

/// Advertises the sets of `--set`, and prints what happens to them.
struct AdvertisingSetRunner: Sendable {
    let adapter: Adapter
    let console: Console
    let requests: [AdvertisingSetRequest]
    /// Whether the trains of the sets are transferred to each device that connects.
    var transfersTrains = false

    /// Runs until all sets have ended or the task is cancelled.
    /// - Throws: `Failure` when the controller refuses a set.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, request) in requests.enumerated() {
                group.addTask { try await run(request, number: index + 1) }
            }
            while try await group.next() != nil {}
        }
    }

    private func run(_ request: AdvertisingSetRequest, number: Int) async throws {
        // What the user gave for the train is what each of its subevents sends.
        var request = request
        let data = request.train?.data ?? []
        if request.train?.subevents != nil { request.train?.data = [] }
        let set = try await adapter.advertiseSet(request)
        var transfers: Task<Void, any Error>?
        if transfersTrains, request.train != nil { transfers = await transfer(set, number) }
        defer { transfers?.cancel() }
        do {
            for try await event in set {
                if case .dataRequested(let first, let count) = event, let subevents = request.train?.subevents {
                    await send(data, in: subevents, from: first, count: count, of: set)
                } else {
                    print(event, request, number)
                }
            }
        } catch {
            guard case .limitReached = error else { throw error }
            throw Failure(
                "the controller has no advertising set left for set \(number); see ‘bletool info’ for how many it has",
                code: .controllerRefused)
        }
        guard !Task.isCancelled else { return }
        report(number, "ended", [], "has ended")
    }

    /// Transfers the train of a set to each device that connects from now on.
    private func transfer(_ set: AdvertisingSet, _ number: Int) async -> Task<Void, any Error> {
        let events = await adapter.serverEvents()
        return Task {
            for try await case .connected(let link) in events {
                let name = link.peer.addressText
                do {
                    try await set.transferPeriodicSync(to: link.id)
                    report(
                        number, "transferred", [.init(key: "to", value: .string(name))],
                        "told \(name) how to follow its periodic advertising")
                } catch {
                    guard !Task.isCancelled else { return }
                    console.note("the periodic advertising of set \(number) was not transferred to \(name): \(error)")
                }
            }
        }
    }

    /// Gives the data that the controller asks for.
    private func send(
        _ data: [UInt8], in train: PeriodicSubevents, from first: UInt8, count: UInt8, of set: AdvertisingSet
    ) async {
        let subevents = (0..<Int(count)).map { offset in
            SubeventData(
                subevent: UInt8((Int(first) + offset) % Int(train.count)), responseSlotCount: train.responseSlotCount,
                data: data)
        }
        do { try await set.send(subevents) } catch {
            guard !Task.isCancelled else { return }
            console.note("the data of subevents \(first) to \(Int(first) + Int(count) - 1) were not sent: \(error)")
        }
    }

    private func print(_ event: AdvertisingSetEvent, _ request: AdvertisingSetRequest, _ number: Int) {
        switch event {
        case .started(let power):
            let address = request.address.map { " as \($0.addressText)" } ?? ""
            let octets = max(request.data.count, request.scanResponse.count)
            report(
                number, "started", [.init(key: "txPower", value: power == 127 ? .null : JSONValue(power))],
                "advertises \(octets) bytes\(address)\n"
                    + AdvertisementWords(
                        request.data, request.scanResponse, isConnectable: request.isConnectable
                    ).text)
        case .stopped: report(number, "stopped", [], "pauses")
        case .connected: report(number, "connected", [], "led to a connection")
        case .dataRequested: break
        case .response(let response):
            let data = response.data.map(Hexadecimal.text)
            report(
                number, "response",
                [
                    .init(key: "subevent", value: JSONValue(response.subevent)),
                    .init(key: "slot", value: JSONValue(response.slot)),
                    .init(key: "rssi", value: response.rssi == 127 ? .null : JSONValue(response.rssi)),
                    .init(key: "data", value: data.map { .string($0) } ?? .null),
                    .init(key: "truncated", value: .boolean(response.isTruncated)),
                ],
                "got in subevent \(response.subevent), slot \(response.slot)  "
                    + "\(response.rssi == 127 ? "?" : String(response.rssi)) dBm  "
                    + "\(data ?? "something unreadable")\(response.isTruncated ? "…" : "")")
        }
    }

    private func report(_ number: Int, _ state: String, _ members: [JSONValue.Member], _ text: String) {
        console.print(
            .object(
                [
                    .init(key: "event", value: "advertisingSet"), .init(key: "set", value: JSONValue(number)),
                    .init(key: "state", value: .string(state)),
                ] + members), text: "set \(number) \(text)")
    }
}
