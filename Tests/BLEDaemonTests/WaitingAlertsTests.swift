import Testing

@testable import BLEAppLifecycle
@testable import BLEDaemon

@Suite("Alerts that wait")
struct WaitingAlertsTests {
    private func alert(_ number: UInt32) -> Alert {
        Alert(id: AlertID(rawValue: number), app: AppID(rawValue: "app"), kind: .connection, peripheral: nil)
    }

    @Test("the alerts of one user push out only that user's oldest one")
    func limits() {
        var alerts = WaitingAlerts()
        #expect(alerts.add(alert(1), of: 1000) == nil)
        var pushedOut: [UInt32] = []
        for number in 2...UInt32(WaitingAlerts.limitOfUser + 11) {
            guard let surplus = alerts.add(alert(number), of: 1001) else { continue }
            pushedOut.append(surplus.id.rawValue)
            #expect(alerts.remove(surplus.id) == surplus)
        }
        #expect(pushedOut == Array(2...11))
        #expect(alerts[AlertID(rawValue: 1)] == alert(1))
        #expect(alerts.all.count == WaitingAlerts.limitOfUser + 1)
        #expect(alerts.remove(AlertID(rawValue: 2)) == nil)
    }
}
