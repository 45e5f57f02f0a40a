import BLEVirtualTransports
import Testing

@testable import BLE

@Suite("Reports that nobody reads")
struct UnreadReportsTests {
    @Test("reports of a link that are not read in time are dropped, and counted")
    func counted() async throws {
        let configuration = AdapterConfiguration(makeVirtualTransport: VirtualTransports.open)
        let adapter = try await Adapter.open("sim", configuration: configuration)
        var unread: LinkReports?
        // On a machine so busy that nothing runs for seconds, the link can be lost first.
        for _ in 1...5 where unread == nil {
            let heart = try await adapter.connect(to: "Jelling Heart")
            let reports = try await heart.reports()
            #expect(reports.droppedCount == 0)
            let isLinked = await adapter.linkState(heart.link) { state in
                for _ in 0..<LinkReports.capacity + 3 { state.handle(.unauthenticated) }
                return true
            }
            guard isLinked == true else { continue }
            unread = reports
        }
        let reports = try #require(unread)
        #expect(reports.droppedCount == 3)
        var iterator = reports.makeAsyncIterator()
        for _ in 0..<LinkReports.capacity { #expect(try await iterator.next() == .unauthenticated) }
        #expect(reports.droppedCount == 3)
        await adapter.close()
    }
}
