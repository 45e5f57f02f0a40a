import BLE

/// The table of a live scan: what was discovered, how it is sorted and filtered, and what the keys do.
struct ScanTable {
    enum Order: CaseIterable {
        case name, address, rssi, seen, interval

        var title: String {
            switch self {
            case .name: "name"
            case .address: "address"
            case .rssi: "RSSI"
            case .seen: "last seen"
            case .interval: "interval"
            }
        }

        /// The key that chooses it.
        var key: Character {
            switch self {
            case .name: "n"
            case .address: "a"
            case .rssi: "r"
            case .seen: "s"
            case .interval: "i"
            }
        }
    }

    /// Devices that are kept; those that were discovered longest ago make room.
    static let capacity = 4096

    private(set) var rows: [DeviceAddress: ScanRow] = [:]
    private(set) var order = Order.rssi
    private(set) var isReversed = false
    private(set) var filter = ""
    private(set) var isTypingFilter = false
    private(set) var showsConnectableOnly = false
    private(set) var isPaused = false
    private(set) var showsDetails = false
    private(set) var selection: DeviceAddress?
    private(set) var showsHelp = false
    private(set) var helpScroll = TextScroll()
    private(set) var reports = 0
    /// What stands while the table is paused.
    private var frozen: [ScanRow] = []

    /// - Parameter describe: makes a discovery readable; asked for when its data changes.
    mutating func add(_ discovery: Discovery, at seconds: Double, describe: (Discovery) -> DiscoveryOutput) {
        reports += 1
        guard let address = discovery.address else { return }
        if rows[address] == nil, rows.count >= Self.capacity {
            guard let oldest = rows.values.min(by: { $0.lastSeen < $1.lastSeen }) else { return }
            rows[oldest.address] = nil
        }
        rows[address, default: ScanRow(address)].update(discovery, at: seconds, describe: describe)
    }

    /// The screen is drawn in this size.
    mutating func settle(for canvas: Canvas) {
        if showsHelp { helpScroll.settle(Self.help.lines(canvas.columns).count, in: Self.helpRows(canvas)) }
    }

    /// The rows that are shown, in their order.
    var visibleRows: [ScanRow] { isPaused ? frozen : sortedRows }
    /// The chosen device, unless a filter hides it.
    var visibleSelection: DeviceAddress? {
        selection.flatMap { chosen in visibleRows.contains { $0.address == chosen } ? chosen : nil }
    }

    private var sortedRows: [ScanRow] {
        let wanted = filter.lowercased()
        let shown = rows.values.filter { row in
            (!showsConnectableOnly || row.isConnectable)
                && (wanted.isEmpty
                    || "\(row.name) \(row.address.addressText) \(row.address.kindText) \(row.offers)".lowercased()
                        .contains(wanted))
        }
        let sorted = shown.sorted { first, second in
            switch compare(first, second) {
            case 0: first.address.value < second.address.value
            case let order: (order < 0) != isReversed
            }
        }
        return sorted
    }

    /// Negative where the first stands above the second.
    private func compare(_ first: ScanRow, _ second: ScanRow) -> Int {
        func sign<Value: Comparable>(_ first: Value, _ second: Value) -> Int {
            first < second ? -1 : first == second ? 0 : 1
        }
        switch order {
        case .name:
            // Those without a name stand below.
            return sign(
                first.name.isEmpty ? "\u{10FFFF}" : first.name.lowercased(),
                second.name.isEmpty ? "\u{10FFFF}" : second.name.lowercased())
        case .address: return sign(first.address.value, second.address.value)
        case .rssi: return sign(second.strength ?? -128, first.strength ?? -128)
        case .seen: return sign(second.lastSeen, first.lastSeen)
        case .interval: return sign(first.interval ?? .infinity, second.interval ?? .infinity)
        }
    }

    /// What a key does.
    /// - Returns: `false` when the scan is to end.
    mutating func press(_ key: Key, page: Int) -> Bool {
        if isTypingFilter {
            type(key)
            return true
        }
        if showsHelp {
            if helpScroll.press(key, rows: page) { return true }
            showsHelp = false
            return key != .character("q")
        }
        switch key {
        case .character("q"), .character("Q"), .control("c"), .control("d"): return false
        case .character("?"), .character("h"): (showsHelp, helpScroll) = (true, TextScroll())
        case .character("/"): isTypingFilter = true
        case .character("c"): showsConnectableOnly.toggle()
        case .character("p"), .character(" "):
            if !isPaused { frozen = sortedRows }
            isPaused.toggle()
        case .character("x"):
            rows = [:]
            frozen = []
            selection = nil
        case .character("R"): isReversed.toggle()
        case .character("d"): showsDetails = visibleSelection != nil && !showsDetails
        case .escape:
            if showsDetails {
                showsDetails = false
            } else if !filter.isEmpty {
                filter = ""
            } else {
                selection = nil
            }
        case .up, .character("k"): move(by: -1)
        case .down, .character("j"): move(by: 1)
        case .pageUp: move(by: -page)
        case .pageDown: move(by: page)
        case .home: selection = visibleRows.first?.address ?? selection
        case .end: move(by: Self.capacity)
        case .character(let letter):
            guard let chosen = Order.allCases.first(where: { $0.key == letter }) else { break }
            isReversed = chosen == order ? !isReversed : false
            order = chosen
        default: break
        }
        return true
    }

    private mutating func type(_ key: Key) {
        switch key {
        case .enter: isTypingFilter = false
        case .escape:
            isTypingFilter = false
            filter = ""
        case .backspace: if !filter.isEmpty { filter.removeLast() }
        case .control("u"): filter = ""
        case .character(let letter): if filter.count < 64 { filter.append(letter) }
        default: break
        }
    }

    private mutating func move(by distance: Int) {
        let rows = visibleRows
        guard !rows.isEmpty else { return }
        let place = selection.flatMap { address in rows.firstIndex { $0.address == address } }
        let next = place.map { $0 + distance } ?? (distance > 0 ? 0 : rows.count - 1)
        selection = rows[min(max(next, 0), rows.count - 1)].address
    }
}
