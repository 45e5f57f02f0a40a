/// What a test waited for in vain.
struct Missing: Error, CustomStringConvertible {
    let description: String
}

/// Waits until a condition holds, for as long as a busy machine may need.
func eventually(_ what: @autoclosure () -> String, _ holds: () async throws -> Bool) async throws {
    let end = ContinuousClock.now.advanced(by: .seconds(300))
    while try await !holds() {
        guard ContinuousClock.now < end else { throw Missing(description: what()) }
        try await Task.sleep(for: .milliseconds(2))
    }
}
