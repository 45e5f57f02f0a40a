import Glibc

/// Allows one question at the terminal at a time.
actor QuestionDesk {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// Whether the last question was withdrawn while the user may have been answering it.
    private var wasWithdrawn = false
    private let input: Int32

    /// The pause after a withdrawn question, so that its answer is not taken for one to the next question.
    private static let pause = Duration.seconds(1)

    init(input: Int32 = 0) { self.input = input }

    /// Asks the question when it is its turn.
    /// - Returns: `nil` if the task was cancelled before its turn.
    func turn<Answer: Sendable>(_ ask: @Sendable () -> Answer?) async -> Answer? {
        if isTaken { await withCheckedContinuation { waiting.append($0) } }
        isTaken = true
        defer { leave() }
        if wasWithdrawn, !Task.isCancelled { try? await Task.sleep(for: Self.pause) }
        guard !Task.isCancelled else { return nil }
        wasWithdrawn = false
        discardTyped()
        let answer = ask()
        wasWithdrawn = Task.isCancelled
        return answer
    }

    private func leave() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }

    /// What was typed before the question was shown does not answer it.
    private func discardTyped() { tcflush(input, TCIFLUSH) }
}
