import BLE

/// What a person sees and does in a live scan: the table of devices, and the pages of those that were opened from it.
///
/// A value without a terminal or a radio: keys and what happens on links come in with their time, and what is to be
/// done about it comes out.
struct Browser {
    enum Action: Equatable, Sendable {
        /// The person has seen enough.
        case end
        /// The screen is to be drawn again as a whole.
        case repaint
        case link(DeviceAddress, LinkTask)
        /// Whose page is shown, and measured meanwhile.
        case watch(DeviceAddress?)
        case answer(UInt64, ScreenQuestion.Answer)
    }

    /// Pages that are kept: beyond them, those without a link make room.
    static let capacity = 64
    /// The smallest terminal in which what matters is seen.
    static let leastColumns = 40
    static let leastRows = 10
    /// Questions that wait: a device that asks again and again gets no more answers.
    static let questionCapacity = 16

    var table = ScanTable()
    private(set) var pages: [DeviceAddress: DevicePage] = [:]
    /// The devices in the order in which they were opened.
    private(set) var opened: [DeviceAddress] = []
    /// The device whose page is shown; `nil` for the table.
    private(set) var shown: DeviceAddress?
    private(set) var questions: [ScreenQuestion] = []

    /// The page that is shown.
    var page: DevicePage? { shown.flatMap { pages[$0] } }

    /// Which devices were opened, and whether there is a link.
    var marks: [DeviceAddress: Bool] { pages.filter { $0.value.phase != .unconnectable }.mapValues(\.isOpen) }

    // MARK: Keys

    /// What a key does.
    /// - Parameter rows: of the screen.
    mutating func press(_ key: Key, rows: Int, at now: Double) -> [Action] {
        if key == .control("l") { return [.repaint] }
        if !questions.isEmpty { return answer(key, at: now) }
        guard let shown, let page = pages[shown] else { return pressInTable(key, rows: rows, at: now) }
        if page.writing == nil, !page.showsHelp {
            switch key {
            case .escape where page.showsCommand || page.showsAdvertisement: break
            case .escape, .character("q"), .backspace: return show(nil)
            case .tab: return showNext()
            case .character("X"): return tasks(of: shown) { $0.close(at: now) }
            default: break
            }
        }
        return tasks(of: shown) { $0.press(key, rows: max(1, rows - 8), at: now) }
    }

    private mutating func pressInTable(_ key: Key, rows: Int, at now: Double) -> [Action] {
        if !table.isTypingFilter, !table.showsHelp {
            switch key {
            case .enter: return openSelected(at: now)
            case .tab: return showNext()
            case .character("X"):
                guard let device = table.visibleSelection, pages[device] != nil else { return [] }
                return tasks(of: device) { $0.close(at: now) }
            default: break
            }
        }
        return table.press(key, page: max(1, rows - 4)) ? [] : [.end]
    }

    /// Opens the page of the chosen device, the topmost if none is chosen, and connects to it if it accepts connections.
    private mutating func openSelected(at now: Double) -> [Action] {
        if table.visibleSelection == nil { _ = table.press(.home, page: 1) }
        guard let device = table.visibleSelection, let row = table.rows[device] else { return [] }
        if pages[device] == nil {
            makeRoom()
            pages[device] = DevicePage(device, name: row.name)
            opened.append(device)
        }
        pages[device]?.hear(row)
        var actions = show(device)
        // A page whose link was lost says so first.
        let phase = pages[device]?.phase
        if phase == .closed || phase == .unconnectable { actions = tasks(of: device) { $0.open(at: now) } + actions }
        return actions
    }

    private mutating func makeRoom() {
        guard pages.count >= Self.capacity, let place = opened.firstIndex(where: { pages[$0]?.isOpen != true }) else {
            return
        }
        pages[opened.remove(at: place)] = nil
    }

    private mutating func show(_ device: DeviceAddress?) -> [Action] {
        guard shown != device else { return [] }
        shown = device
        return [.watch(device)]
    }

    /// Shows the page that was opened after this one; from the table, the first.
    private mutating func showNext() -> [Action] {
        guard !opened.isEmpty else { return [] }
        let place = shown.flatMap { opened.firstIndex(of: $0) } ?? -1
        return show(opened[(place + 1) % opened.count])
    }

    private mutating func tasks(
        of device: DeviceAddress, _ body: (inout DevicePage) -> [LinkTask]
    ) -> [Action] {
        guard var page = pages.removeValue(forKey: device) else { return [] }
        let tasks = body(&page)
        pages[device] = page
        return tasks.map { .link(device, $0) }
    }

    // MARK: Links

    /// What has happened on a link.
    /// - Parameter number: that of the attempt to connect.
    mutating func handle(
        _ event: LinkEvent, of device: DeviceAddress, number: Int, at now: Double
    ) -> [Action] {
        tasks(of: device) { $0.handle(event, of: number, at: now) }
    }

    // MARK: Questions

    /// - Returns: `false` where too many wait already.
    mutating func ask(_ question: ScreenQuestion) -> Bool {
        guard questions.count < Self.questionCapacity else { return false }
        questions.append(question)
        return true
    }

    /// The question needs no answer any more.
    mutating func withdraw(_ id: UInt64) {
        guard let place = questions.firstIndex(where: { $0.id == id }) else { return }
        questions.remove(at: place)
        // What is typed for this one is not for the next.
        if place == 0, !questions.isEmpty { questions[0].shownSince = nil }
    }

    private mutating func answer(_ key: Key, at now: Double) -> [Action] {
        guard let answer = questions[0].press(key, at: now) else { return [] }
        let question = questions.removeFirst()
        return [.answer(question.id, answer)]
    }

    // MARK: The screen

    /// Lines of a whole screen, none wider than it.
    mutating func screen(_ canvas: Canvas, _ figures: ScanTable.Figures, _ command: CommandText) -> [String] {
        if let lines = canvas.complaint(leastColumns: Self.leastColumns, leastRows: Self.leastRows) { return lines }
        // From now on the person can read it.
        if !questions.isEmpty, questions[0].shownSince == nil { questions[0].shownSince = figures.now }
        var lines: [String]
        if let shown, var page = pages.removeValue(forKey: shown) {
            let around = DevicePage.Surroundings(
                now: figures.now, command: command, question: questions.first,
                others: pages.values.count { $0.isOpen }, note: figures.note)
            if let row = table.rows[shown] { page.hear(row) }
            page.settle(for: canvas, around)
            pages[shown] = page
            lines = page.screen(canvas, around)
        } else {
            table.settle(for: canvas)
            var figures = figures
            figures.opened = marks
            lines = table.screen(canvas, figures)
            if let question = questions.first { lines = Self.asking(question, over: lines, canvas) }
        }
        return lines.suffix(canvas.rows).map(canvas.legible)
    }

    /// The question in the place of the last lines.
    private static func asking(_ question: ScreenQuestion, over lines: [String], _ canvas: Canvas) -> [String] {
        let asked =
            [canvas.dim(canvas.rule)]
            + question.text.folded(to: canvas.columns, indent: 0, deeper: 0)
            .flatMap { $0.cut(to: canvas.columns, most: 4) }.prefix(4).map {
                canvas.bold($0.fitted(to: canvas.columns))
            }
            + [canvas.dim(question.keys.fitted(to: canvas.columns))]
        return Array((lines.dropLast(asked.count) + asked).suffix(canvas.rows))
    }
}
