import BLE
import BLEScripts

extension DevicePage {
    /// What stands around a page.
    struct Surroundings {
        /// The scan's clock, in seconds.
        var now: Double
        var command = CommandText()
        var question: ScreenQuestion?
        /// Open devices beside this one.
        var others = 0
        /// What was said on the side.
        var note = ""
    }

    /// From how many columns on the link has a panel beside the tree, and how wide that is.
    private static let panelColumns = 112
    private static let panelWidth = 40

    /// What stands above and below the middle of a screen, and what room that has.
    struct Layout {
        var top: [String]
        var pane: [String]
        var width: Int
        var space: Int
    }

    func layout(_ canvas: Canvas, _ around: Surroundings) -> Layout {
        let hasPanel = canvas.columns >= Self.panelColumns
        var top = [canvas.bold(headline(canvas, around).fitted(to: canvas.columns))]
        if !hasPanel {
            top += factLines(canvas).prefix(canvas.rows < 16 ? 1 : 2).map { canvas.dim($0.fitted(to: canvas.columns)) }
        }
        let pane = noteLines(canvas, around) + pane(canvas, around)
        // The rule and the keys.
        return Layout(
            top: top, pane: pane, width: hasPanel ? canvas.columns - Self.panelWidth - 3 : canvas.columns,
            space: max(1, canvas.rows - top.count - pane.count - 2))
    }

    /// Lines of a whole screen, none wider than it.
    func screen(_ canvas: Canvas, _ around: Surroundings) -> [String] {
        let layout = layout(canvas, around)
        let (width, space) = (layout.width, layout.space)
        var lines = layout.top
        var middle: [String]
        if showsHelp {
            middle = helpScroll.shown(Self.help.lines(width), in: space).map { $0.fitted(to: width) }
        } else if seesAdvertisement {
            middle = advertisementScroll.shown(advertisementLines(canvas, width, around), in: space)
                .map { $0.fitted(to: width) }
        } else {
            middle = treeLines(canvas, width, space)
        }
        while middle.count < space { middle.append(String(repeating: " ", count: width)) }
        if canvas.columns >= Self.panelColumns {
            let panel = panel(canvas, around)
            for row in middle.indices {
                let text = panel.indices.contains(row) ? panel[row] : ""
                middle[row] += canvas.dim(canvas.isUnicode ? " │ " : " | ") + text.fitted(to: Self.panelWidth)
            }
        }
        lines += middle
        lines.append(canvas.dim(rule(canvas, around)))
        lines += layout.pane
        lines.append(canvas.dim(footer(canvas, around).fitted(to: canvas.columns)))
        return Array(lines.suffix(canvas.rows))
    }

    private func headline(_ canvas: Canvas, _ around: Surroundings) -> String {
        let seconds = Int(max(0, around.now - since))
        let state =
            switch phase {
            case .unconnectable: "not connectable"
            case .connecting: "connecting … \(seconds) s"
            case .discovering: "looking for services … \(seconds) s"
            case .ready: "connected"
            case .ended: "NO LINK"
            case .closed: "link closed"
            }
        var parts = [name.isEmpty ? "(no name)" : name, address.description, state]
        if around.others > 0 { parts.append("\(around.others) more open") }
        return parts.joined(separator: canvas.divider)
    }

    /// What was said last.
    private func said(_ around: Surroundings) -> String { note.isEmpty ? around.note : note }

    /// The line below the tree, with what was said last where that has room in it.
    private func rule(_ canvas: Canvas, _ around: Surroundings) -> String {
        let said = said(around)
        guard !said.isEmpty, noteLines(canvas, around).isEmpty else { return canvas.rule }
        var rule = canvas
        rule.columns = canvas.columns - said.displayWidth - 5
        return (canvas.isUnicode ? "─── " : "--- ") + said + " " + rule.rule
    }

    /// What was said last, below the line, where it has no room in it.
    private func noteLines(_ canvas: Canvas, _ around: Surroundings) -> [String] {
        let said = said(around)
        guard said.displayWidth > canvas.columns - 6 else { return [] }
        return canvas.wrapped(said, most: 3).map { $0.fitted(to: canvas.columns) }
    }

    /// The link: bond, MTU, PHYs, signal, parameters; a line for each.
    private func facts(_ canvas: Canvas, hasPlot: Bool = false) -> [String] {
        guard let facts else { return [] }
        var lines = ["MTU \(facts.mtu)"]
        if let rssi = facts.rssi {
            let plot = Sparkline.text(signals.map(Double.init), width: 12, isUnicode: canvas.isUnicode)
            lines.append("\(rssi) dBm \(canvas.bar(Int(rssi)))" + (hasPlot && signals.count > 2 ? " \(plot)" : ""))
        }
        if let phys = facts.phys { lines.append(phys) }
        lines.append("\(facts.encryption), \(facts.isBonded ? "bonded" : "no bond")")
        if let parameters = facts.parameters { lines.append(LinkTexts.text(parameters)) }
        return lines
    }

    /// The same in lines as wide as the screen, each broken between two facts.
    private func factLines(_ canvas: Canvas) -> [String] {
        var lines: [String] = []
        for fact in facts(canvas) {
            if let line = lines.last, (line + canvas.divider + fact).displayWidth <= canvas.columns {
                lines[lines.count - 1] = line + canvas.divider + fact
            } else {
                lines.append(fact)
            }
        }
        return lines
    }

    // MARK: The advertisement

    /// Its signal strength and interval, and all that it advertises.
    func advertisementLines(_ canvas: Canvas, _ width: Int, _ around: Surroundings) -> [String] {
        guard let heard else { return [] }
        var parts = heard.strength.map { ["\($0) dBm \(canvas.bar($0))\(canvas.arrow(heard.trend))"] } ?? []
        if let interval = heard.interval { parts.append("every \(Int((interval * 1000).rounded())) ms") }
        parts.append("\(heard.reports) packets, the last \(Int(max(0, around.now - heard.lastSeen))) s ago")
        let lines = ["advertises  " + parts.joined(separator: "  ")] + advertised.map { "  " + $0 }
        return lines.flatMap { $0.wrapped(to: width, deeper: 6, most: .max) }
    }

    /// What stands beside the tree: the link, and below it what the device says of itself.
    private func panel(_ canvas: Canvas, _ around: Surroundings) -> [String] {
        let link = facts(canvas, hasPlot: true)
        guard !seesAdvertisement else { return link }
        return link + (link.isEmpty ? [] : [""]) + advertisementLines(canvas, Self.panelWidth, around)
    }

    // MARK: The tree

    private func treeLines(_ canvas: Canvas, _ width: Int, _ space: Int) -> [String] {
        // The chosen row stays in sight.
        let first = max(0, min(row - space / 2, tree.visible.count - space))
        return tree.visible[first...].prefix(space).enumerated().map { offset, place in
            let line = line(place, canvas, width)
            if first + offset == row { return canvas.selected(line) }
            if !hasLink { return canvas.dim(line) }
            return tree.nodes[place].depth == 0 ? canvas.bold(line) : line
        }
    }

    private func line(_ place: Int, _ canvas: Canvas, _ width: Int) -> String {
        let node = tree.nodes[place]
        let marks = canvas.isUnicode ? (open: "▾ ", closed: "▸ ") : (open: "- ", closed: "+ ")
        let mark = node.hasChildren ? (node.isOpen ? marks.open : marks.closed) : "  "
        let title = String(repeating: "  ", count: node.depth) + mark + node.title
        guard let handle = node.valueHandle else { return title.fittedShorteningUUIDs(to: width) }
        let properties = width >= 72 ? 18 : 0
        let left = max(0, width - properties - (properties > 0 ? 2 : 1))
        let titleWidth = left * 11 / 20
        var parts = [title.fittedShorteningUUIDs(to: titleWidth)]
        if properties > 0 {
            parts.append((node.characteristic?.properties.names.joined(separator: " ") ?? "").fitted(to: properties))
        }
        parts.append(value(of: handle, node, canvas, left - titleWidth))
        return parts.joined(separator: " ").fitted(to: width)
    }

    private func value(of handle: AttributeHandle, _ node: AttributeTree.Node, _ canvas: Canvas, _ width: Int) -> String
    {
        let value = values[handle] ?? ShownValue()
        let mark = subscribed.contains(handle) ? (canvas.isUnicode ? "● " : "* ") : ""
        let text = value.trouble.map { "! " + $0 } ?? value.briefText(node.uuid) ?? ""
        let shown = mark + (value.isPending ? "… " : "") + text
        let plotWidth = min(12, width / 3)
        guard plotWidth >= 6, value.history.count > 1, value.trouble == nil else { return shown.fitted(to: width) }
        let plot = Sparkline.text(
            value.numbers(node.uuid, last: plotWidth), width: plotWidth, isUnicode: canvas.isUnicode)
        return plot.isEmpty
            ? shown.fitted(to: width) : shown.fitted(to: width - plotWidth - 1) + " " + plot.padded(to: plotWidth)
    }

    // MARK: Below the tree

    /// What is said of the chosen row, or asked.
    private func pane(_ canvas: Canvas, _ around: Surroundings) -> [String] {
        let most = max(1, (canvas.rows - 4) / 3)
        let texts: [String]
        if let question = around.question {
            texts = question.text.folded(to: canvas.columns, indent: 0, deeper: 0)
                .flatMap { $0.cut(to: canvas.columns, most: 4) }
        } else if let writing {
            texts =
                writingLines(writing, canvas)
                + (showsCommand ? commands(around.command).flatMap { $0.cut(to: canvas.columns, most: 4) } : [])
        } else if showsCommand {
            texts = commands(around.command).flatMap { $0.cut(to: canvas.columns, most: 4) }
        } else if case .ended(let reason) = phase {
            texts = "\(reason). Enter connects again, Esc goes back to the table."
                .folded(to: canvas.columns, indent: 0, deeper: 0).flatMap { $0.cut(to: canvas.columns, most: 4) }
        } else if phase == .unconnectable {
            texts = canvas.wrapped(
                heard?.isConnectable ?? true
                    ? "The device accepts connections now: Enter connects."
                    : "The device accepts no connections; this is what it advertises.")
        } else if phase == .closed {
            texts = ["The link is closed. Enter connects again, Esc goes back to the table."]
        } else {
            texts = details(canvas, most)
        }
        // A question and a command are of use only whole.
        let isWhole = around.question != nil || showsCommand
        return texts.prefix(isWhole ? max(most, 4) : most).map { text in
            let line = text.fitted(to: canvas.columns)
            return around.question == nil ? line : canvas.bold(line)
        }
    }

    private func writingLines(_ writing: ValueWriting, _ canvas: Canvas) -> [String] {
        let prompt = "\(writing.formName) > "
        return [
            prompt + writing.editor.marked("_", columns: canvas.columns - prompt.displayWidth), writing.explanation,
            "write \(writing.uuid.attributeText) as \(writing.formName), \(writing.procedureName)",
        ]
    }

    private func details(_ canvas: Canvas, _ most: Int) -> [String] {
        guard let place, let handle = tree.nodes[place].valueHandle else {
            let isBare = phase == .ready && tree.visible.isEmpty
            return [
                place.map { tree.nodes[$0].title } ?? (isBare ? "the device offers no services; Enter looks again" : "")
            ]
        }
        let node = tree.nodes[place]
        let value = values[handle] ?? ShownValue()
        var parts = [node.title, Hexadecimal.number(handle.rawValue, digits: 4)]
        if let found = node.characteristic { parts.append(found.properties.names.joined(separator: " ")) }
        if let form = value.form { parts.append("as \(form.rawValue)") }
        if subscribed.contains(handle) { parts.append("subscribed, \(value.arrivals) values") }
        let title = parts.joined(separator: "  ")
        var plot: String?
        if let range = value.range(node.uuid, last: canvas.columns), value.history.count > 1 {
            let width = max(0, canvas.columns - range.displayWidth - 2)
            plot =
                "\(range)  "
                + Sparkline.text(value.numbers(node.uuid, last: width), width: width, isUnicode: canvas.isUnicode)
        }
        // A small terminal has room for the value only.
        let room = max(1, most - 1 - (plot == nil || most < 3 ? 0 : 1))
        var texts: [String] = []
        if let text = value.trouble ?? value.text(node.uuid) { texts = text.cut(to: canvas.columns, most: room) }
        if most > 1 { texts.insert(title, at: 0) }
        if let plot, most >= 3 { texts.append(plot) }
        return texts.isEmpty ? [title] : texts
    }

    // MARK: Keys

    private func footer(_ canvas: Canvas, _ around: Surroundings) -> String {
        if let question = around.question { return question.keys }
        if writing != nil { return "Enter write   Tab form   arrows up, down: how   Esc leave it" }
        if showsHelp { return KeyHelp.footer(helpScroll) }
        let next = around.others > 0 ? "   Tab next device" : ""
        let scroll = seesAdvertisement && advertisementScroll.isPossible ? "arrows scroll   " : ""
        if !isOpen {
            let connect = phase == .unconnectable ? "Enter look again" : "Enter connect again"
            return scroll + connect + "   Esc table" + next + "   ? keys"
        }
        if showsCommand { return "Esc hides the command   arrows another row   ? keys" }
        if seesAdvertisement {
            return scroll + (showsAdvertisement ? "Esc, d services" : "Esc table") + next + "   X close   ? keys"
        }
        switch canvas.columns {
        case ..<80: return "Esc table  r s w f d c b X  ? keys"
        case ..<160: return "Esc table  r read  s subscribe  w write  d advertised  c command  b pair  ? keys"
        default:
            return "Esc table   Enter open or read   r read  R read all  s subscribe  w write  f form  d advertised  "
                + "c command  b pair  X close the link   Tab next device   ? keys"
        }
    }

    static let help = KeyHelp(entries: [
        ("arrows", "choose; right opens, left closes; Page Up, Page Down, Home, End"),
        ("Enter", "open a service; read, subscribe to or write a value"),
        ("r  R", "read this value; all values of its service"),
        ("s", "subscribe to it, or end that"),
        ("w", "write it: Tab chooses hex, text or an integer"),
        ("f", "show it as text or as an integer"),
        ("d", "what the device advertises, and back"),
        ("c", "the bletool command that does the same; Esc hides it"),
        ("b", "pair with the device, and keep the bond"),
        ("X", "close the link"),
        ("Tab", "the next open device"),
        ("Esc, q", "back to the table; the link stays"),
    ])
}
