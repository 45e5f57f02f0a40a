/// Alerts that are shown to the user: neither answered nor withdrawn, oldest first (SPEC ALR-1 to ALR-5).
///
///     raised ──▶ shown ──answered, or its app comes to the foreground or ends──▶ gone
struct AlertList {
    private var alerts: [Alert] = []
    private var last: UInt32 = 0

    /// - Returns: the alert to show; `nil` if the same one is shown already.
    mutating func raise(
        _ kind: Alert.Kind, for app: AppID, at peripheral: PeripheralDescription? = nil
    ) -> Alert? {
        let isShown =
            peripheral != nil
            && alerts.contains {
                $0.app == app && $0.kind == kind && $0.peripheral?.identifier == peripheral?.identifier
            }
        guard !isShown else { return nil }
        last += 1
        let alert = Alert(id: AlertID(rawValue: last), app: app, kind: kind, peripheral: peripheral)
        alerts.append(alert)
        return alert
    }

    mutating func answer(_ id: AlertID) -> Alert? {
        guard let index = alerts.firstIndex(where: { $0.id == id }) else { return nil }
        return alerts.remove(at: index)
    }

    /// - Returns: the alerts that are no longer relevant.
    mutating func withdraw(_ app: AppID) -> [AlertID] {
        let withdrawn = alerts.filter { $0.app == app }.map(\.id)
        alerts.removeAll { $0.app == app }
        return withdrawn
    }
}
