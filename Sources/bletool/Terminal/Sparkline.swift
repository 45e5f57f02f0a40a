/// Numbers as a row of small bars: the least is the lowest bar, the greatest the highest.
enum Sparkline {
    private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    private static let signs: [Character] = [".", ":", "-", "=", "+", "*", "#", "@"]

    /// - Parameters:
    ///   - numbers: in their order; the last ones count where there are more than columns.
    ///   - width: columns, one for each number.
    static func text(_ numbers: [Double], width: Int, isUnicode: Bool) -> String {
        let shown = numbers.suffix(max(0, width)).filter(\.isFinite)
        guard let least = shown.min(), let greatest = shown.max() else { return "" }
        let bars = isUnicode ? blocks : signs
        // Halves, because the distance of two numbers may be more than a number can be.
        let range = greatest / 2 - least / 2
        return String(
            shown.map { number in
                guard range > 0 else { return bars[bars.count / 2] }
                let part = (number / 2 - least / 2) / range
                return bars[min(bars.count - 1, max(0, Int(part * Double(bars.count - 1) + 0.5)))]
            })
    }
}
