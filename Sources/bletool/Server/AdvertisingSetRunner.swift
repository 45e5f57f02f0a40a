import BLE
import BLEJSON

/// Advertises the sets of `--set`, and prints what happens to them.
struct AdvertisingSetRunner: Sendable {
    let adapter: Adapter
    let console: Console
    let requests: [AdvertisingSetRequest]

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
        let set = try await adapter.advertiseSet(request)
        do {
            for try await event in set { print(event, request, number) }
        } catch {
            guard case .limitReached = error else { throw error }
            throw Failure(
                "the controller has no advertising set left for set \(number); see ‘bletool info’ for how many it has",
                code: .controllerRefused)
        }
        guard !Task.isCancelled else { return }
        tell(number, "ended", [], "has ended")
    }

    private func print(_ event: AdvertisingSetEvent, _ request: AdvertisingSetRequest, _ number: Int) {
        switch event {
        case .started(let power):
            let address = request.address.map { " as \($0.addressText)" } ?? ""
            let octets = max(request.data.count, request.scanResponse.count)
            tell(
                number, "started", [.init(key: "txPower", value: power == 127 ? .null : JSONValue(power))],
                "advertises \(octets) bytes\(address)")
        case .stopped: tell(number, "stopped", [], "pauses")
        case .connected: tell(number, "connected", [], "led to a connection")
        }
    }

    private func tell(_ number: Int, _ state: String, _ members: [JSONValue.Member], _ text: String) {
        console.print(
            .object(
                [
                    .init(key: "event", value: "advertisingSet"), .init(key: "set", value: JSONValue(number)),
                    .init(key: "state", value: .string(state)),
                ] + members), text: "set \(number) \(text)")
    }
}
