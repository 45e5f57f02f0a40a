/// Says what is waited for: at once where progress is shown, otherwise only when it takes long.
final class WaitingNote: Sendable {
    /// How long people are left without a word where nothing shows progress.
    private static let patience = Duration.seconds(2)

    private let console: Console
    private let remark: Task<Void, any Error>

    /// - Parameters:
    ///   - limit: after how long the wait ends.
    ///   - isObsolete: whether something else was said meanwhile.
    init(
        _ text: String, limit: Duration? = nil, on console: Console,
        unless isObsolete: @escaping @Sendable () -> Bool = { false }
    ) {
        self.console = console
        console.showProgress("\(text) …")
        remark = Task {
            try await Task.sleep(for: Self.patience)
            guard !console.showsProgress, !isObsolete() else { return }
            console.note("still \(text)\(limit.map { ", for at most \($0.secondsText) s" } ?? "")")
        }
    }

    /// Nothing is waited for any more.
    func end() {
        remark.cancel()
        console.showProgress("")
    }
}
