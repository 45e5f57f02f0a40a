/// What a test waited for in vain.
struct Missing: Error, CustomStringConvertible {
    let description: String
}

/// Waits until a condition holds, for as long as a busy machine may need.
/// - Parameter what: names the condition in the error.
func waitUntil(
    _ what: @autoclosure () -> String, seconds: Int = 300, isolation: isolated (any Actor)? = #isolation,
    _ holds: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now.advanced(by: .seconds(seconds))
    while try await !holds() {
        guard ContinuousClock.now < end else { throw Missing(description: what()) }
        try await Task.sleep(for: .milliseconds(2))
    }
}
