import BLE

extension ScanTable {
    /// What a table says beside its rows.
    struct Figures {
        /// The scan's clock, in seconds.
        var now: Double
        /// Packets a second.
        var rate: Int
        /// Seconds until the scan is over; `nil`: no limit.
        var left: Int?
        /// What was said on the side.
        var note = ""
        /// The devices that were opened, and whether there is a link.
        var opened: [DeviceAddress: Bool] = [:]
    }

    /// Lines of a whole screen, none wider than it.
    func screen(_ canvas: Canvas, _ figures: Figures) -> [String] {
        let (headline, note) = headline(canvas, figures)
        var lines = [canvas.bold(headline.fitted(to: canvas.columns))]
        let columns = Columns(width: canvas.columns)
        lines.append(canvas.dim(columns.header(order, isReversed, canvas).fitted(to: canvas.columns)))
        let shown = visibleRows
        let details = (showsDetails && !showsHelp ? detailLines(shown, canvas) : []) + note
        let space = max(1, canvas.rows - lines.count - 1 - details.count)
        if showsHelp {
            lines += helpScroll.shown(Self.help.lines(canvas.columns), in: space).map { $0.fitted(to: canvas.columns) }
        } else {
            // The selected row stays in sight.
            let place = selection.flatMap { address in shown.firstIndex { $0.address == address } } ?? 0
            let first = max(0, min(place - space / 2, shown.count - space))
            for row in shown[first...].prefix(space) {
                let line = columns.line(row, canvas, figures)
                lines.append(
                    row.address == selection ? canvas.selected(line) : columns.coloured(line, row, canvas, figures))
            }
            if shown.isEmpty {
                lines.append(
                    canvas.dim((rows.isEmpty ? "no device heard yet" : "no device matches").fitted(to: canvas.columns)))
            }
        }
        while lines.count < canvas.rows - 1 - details.count { lines.append("") }
        lines += details
        lines.append(canvas.dim(footer(canvas).fitted(to: canvas.columns)))
        return lines
    }

    /// All rows for a terminal that goes on behind them.
    func report(_ canvas: Canvas, _ figures: Figures) -> [String] {
        let columns = Columns(width: canvas.columns)
        return [columns.header(order, isReversed, canvas)] + visibleRows.map { columns.line($0, canvas, figures) }
    }

    /// The first line, and what was said on the side where that has no room in it.
    private func headline(_ canvas: Canvas, _ figures: Figures) -> (line: String, note: [String]) {
        let shown = visibleRows.count
        var parts = [shown == rows.count ? "\(shown) devices" : "\(shown) of \(rows.count) devices"]
        parts.append("\(figures.rate)/s")
        let links = figures.opened.values.count(where: \.self)
        if links > 0 { parts.append(links == 1 ? "1 link" : "\(links) links") }
        parts.append("by \(order.title)\(isReversed ? ", reversed" : "")")
        if showsConnectableOnly { parts.append("connectable only") }
        if isTypingFilter || !filter.isEmpty { parts.append("filter: \(filter)\(isTypingFilter ? "_" : "")") }
        if isPaused { parts.append("PAUSED") }
        if let left = figures.left { parts.append("\(left) s left") }
        let line = parts.joined(separator: canvas.divider)
        guard !figures.note.isEmpty, !showsHelp else { return (line, []) }
        let whole = line + canvas.divider + figures.note
        if whole.displayWidth <= canvas.columns { return (whole, []) }
        return (line, canvas.wrapped(figures.note, most: 3).map { $0.fitted(to: canvas.columns) })
    }

    private func footer(_ canvas: Canvas) -> String {
        if showsHelp { return KeyHelp.footer(helpScroll) }
        return isTypingFilter
            ? "type a part of a name, address or service; Enter keeps the filter, Esc takes it away"
            : canvas.columns < 103
                ? "q quit   ? keys   arrows + Enter open   / filter   sort: n a r s i   p pause"
                : "arrows + Enter open   d details   sort: n a r s i, R reverse   / filter   c connectable   p pause   q quit"
    }

    static let help = KeyHelp(entries: [
        ("n a r s i", "sort by name, address, RSSI, seen, interval; again: the other way round"),
        ("R", "reverse the order"),
        ("/", "filter by name, address or offer; Esc: all"),
        ("c", "only devices that accept connections"),
        ("arrows", "choose a device; Page Up, Page Down, Home, End"),
        ("Enter", "open it: all that it advertises, and its services if it accepts connections"),
        ("Tab", "the page of the next open device"),
        ("X", "close the link of the chosen device"),
        ("d", "what the device advertises, below the table"),
        ("p, space", "hold the table still; the scan goes on"),
        ("x", "forget all devices"),
        ("q", "end the scan and close all links"),
    ])

    /// How many rows the help has: all but the headlines and the keys.
    static func helpRows(_ canvas: Canvas) -> Int { max(1, canvas.rows - 3) }

    private func detailLines(_ shown: [ScanRow], _ canvas: Canvas) -> [String] {
        guard let row = shown.first(where: { $0.address == selection }) else { return [] }
        let limit = max(1, canvas.rows / 2 - 2)
        let texts = ["\(row.address)  \(row.reports) packets"] + row.details
        var lines = texts.flatMap { canvas.wrapped($0, deeper: 14, most: limit) }
        if lines.count > limit { lines = lines.prefix(limit - 1) + ["… Enter shows all of it"] }
        return [canvas.dim(canvas.rule)] + lines.map { $0.fitted(to: canvas.columns) }
    }

    /// Where the columns stand; on narrow terminals some are left out.
    private struct Columns {
        let name: Int
        let offers: Int
        let showsInterval: Bool
        let showsType: Bool
        let showsSeen: Bool

        init(width: Int) {
            showsSeen = width >= 50
            showsType = width >= 64
            showsInterval = width >= 76
            // Address, RSSI with bar and trend, and what is chosen above, each with a space behind it.
            let fixed = 18 + 11 + (showsSeen ? 6 : 0) + (showsType ? 7 : 0) + (showsInterval ? 8 : 0)
            let left = max(0, width - fixed)
            name = min(max(8, left * 2 / 5), 26)
            offers = max(0, left - name - 1)
        }

        func header(_ order: Order, _ isReversed: Bool, _ canvas: Canvas) -> String {
            func title(_ text: String, _ column: Order) -> String {
                guard column == order else { return text }
                return text + (canvas.isUnicode ? (isReversed ? "▲" : "▼") : (isReversed ? "^" : "v"))
            }
            var parts = [
                title("NAME", .name).fitted(to: name), title("ADDRESS", .address).fitted(to: showsType ? 24 : 17),
            ]
            parts.append(title("RSSI", .rssi).fitted(to: 10))
            if showsSeen { parts.append(title("SEEN", .seen).fitted(to: 5)) }
            if showsInterval { parts.append(title("EVERY", .interval).fitted(to: 7)) }
            if offers > 3 { parts.append("OFFERS".fitted(to: offers)) }
            return parts.joined(separator: " ")
        }

        func line(_ row: ScanRow, _ canvas: Canvas, _ figures: Figures) -> String {
            let mark = figures.opened[row.address].map { $0 ? (canvas.isUnicode ? "●" : "*") : "!" }
            var parts = [((mark.map { $0 + " " } ?? "") + (row.name.isEmpty ? "(no name)" : row.name)).fitted(to: name)]
            parts.append(row.address.addressText + (showsType ? " " + row.address.kindText.padded(to: 6) : ""))
            let strength = row.strength.map(String.init) ?? "?"
            parts.append(
                String(repeating: " ", count: max(0, 4 - strength.count)) + strength + " " + canvas.bar(row.strength)
                    + canvas.arrow(row.trend))
            // Most devices do not advertise while there is a link.
            let hasLink = figures.opened[row.address] == true
            if showsSeen { parts.append((hasLink ? "link" : Self.age(figures.now - row.lastSeen)).fitted(to: 5)) }
            if showsInterval { parts.append(Self.interval(row.interval).fitted(to: 7)) }
            if offers > 3 { parts.append(row.offers.fittedShorteningUUIDs(to: offers)) }
            return parts.joined(separator: " ")
        }

        func coloured(_ line: String, _ row: ScanRow, _ canvas: Canvas, _ figures: Figures) -> String {
            // A device that was silent for long is about to be removed.
            if figures.now - row.lastSeen > 10, figures.opened[row.address] != true { return canvas.dim(line) }
            switch row.strength {
            case nil: return line
            case let strength? where strength >= -60: return canvas.colour(32, line)
            case let strength? where strength >= -80: return canvas.colour(33, line)
            default: return canvas.colour(31, line)
            }
        }

        private static func age(_ seconds: Double) -> String {
            switch seconds {
            case ..<1: "now"
            case ..<60: "\(Int(seconds)) s"
            case ..<3600: "\(Int(seconds) / 60) min"
            default: "\(Int(seconds) / 3600) h"
            }
        }

        private static func interval(_ seconds: Double?) -> String {
            guard let seconds else { return "" }
            return seconds < 10 ? "\(Int((seconds * 1000).rounded())) ms" : "\(Int(seconds.rounded())) s"
        }
    }
}
