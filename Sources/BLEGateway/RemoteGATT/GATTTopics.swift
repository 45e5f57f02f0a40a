/// The topics of remote GATT. Whoever may publish and read below them is decided by the broker.
package struct GATTTopics: Equatable, Sendable {
    package let request: String
    /// What the identifier of a request is added to.
    package let response: String
    package let notification: String

    package init(gateway: String) {
        let base = "jelling/\(gateway)/gatt/"
        request = base + "request"
        response = base + "response/"
        notification = base + "notify/"
    }
}
