import BLE
import BLEScripts

/// What is known of a device that was opened, and what its page shows of it.
struct DevicePage {
    enum Phase: Equatable {
        /// The device accepts no connections; Enter looks whether it does now.
        case unconnectable
        case connecting
        /// There is a link; its services are sought.
        case discovering
        case ready
        /// There is no link any more, for this reason.
        case ended(String)
        /// This side has closed the link.
        case closed
    }

    /// Measurements of the signal that are kept.
    static let signalCapacity = 60
    /// Values that are kept: a device that changes its services again and again has new handles each time.
    static let valueCapacity = 16384

    let address: DeviceAddress
    /// What the device is called; empty where it has no name.
    var name: String
    /// Which of the attempts to connect this is: what happens on an earlier link is no longer of interest.
    private(set) var number = 0
    private(set) var phase = Phase.closed
    /// When the phase began, on the scan's clock.
    private(set) var since = 0.0
    private(set) var tree = AttributeTree()
    private(set) var values: [AttributeHandle: ShownValue] = [:]
    private(set) var subscribed: Set<AttributeHandle> = []
    private(set) var facts: LinkFacts?
    private(set) var signals: [Int8] = []
    /// What was said last of the device as a whole.
    private(set) var note = ""
    /// The row that is chosen, of those that the tree shows.
    private(set) var row = 0
    private(set) var writing: ValueWriting?
    private(set) var showsCommand = false
    private(set) var showsHelp = false
    private(set) var helpScroll = TextScroll()
    /// The device's row of the scan; `nil` before the first advertisement.
    private(set) var heard: ScanRow?
    /// What it advertises, a line for each part.
    private(set) var advertised: [String] = []
    /// Whether the person wants to see that instead of the services.
    private(set) var showsAdvertisement = false
    private(set) var advertisementScroll = TextScroll()
    /// What is subscribed to again when there is a link again.
    private var wanted: [Characteristic] = []

    init(_ address: DeviceAddress, name: String) {
        self.address = address
        self.name = name
    }

    /// Whether what it advertises is seen, not its services.
    var seesAdvertisement: Bool { showsAdvertisement || tree.visible.isEmpty }

    var hasLink: Bool { phase == .ready || phase == .discovering }

    /// Whether a link is there or on its way.
    var isOpen: Bool { hasLink || phase == .connecting }

    /// The place of the chosen node.
    var place: Int? { tree.visible.indices.contains(row) ? tree.visible[row] : nil }

    // MARK: What happens in the air

    /// The device has advertised.
    mutating func hear(_ row: ScanRow) {
        let isNew = heard?.advertisement != row.advertisement || heard?.scanResponse != row.scanResponse
        heard = row
        if !row.name.isEmpty { name = row.name }
        guard isNew else { return }
        advertised =
            row.says.map { "says " + $0 }
            + AdvertisingDataOutput(
                advertisement: row.advertisement, scanResponse: row.scanResponse, scanFor: [], from: row.address
            ).rows
    }

    /// The screen is drawn in this size.
    mutating func settle(for canvas: Canvas, _ around: Surroundings) {
        let layout = layout(canvas, around)
        if showsHelp { helpScroll.settle(Self.help.lines(layout.width).count, in: layout.space) }
        if seesAdvertisement {
            advertisementScroll.settle(advertisementLines(canvas, layout.width, around).count, in: layout.space)
        }
    }

    // MARK: What happens on the link

    /// Connects, or connects again, if the device accepts connections.
    mutating func open(at now: Double) -> [LinkTask] {
        guard !isOpen else { return [] }
        if heard?.isConnectable == false {
            begin(.unconnectable, at: now)
            return []
        }
        number += 1
        begin(.connecting, at: now)
        (note, facts, signals) = ("", nil, [])
        return [.connect(number: number)]
    }

    /// Closes the link, or no longer tries to connect.
    mutating func close(at now: Double) -> [LinkTask] {
        guard isOpen else { return [] }
        end(.closed, at: now)
        wanted = []
        return [.disconnect]
    }

    mutating func handle(_ event: LinkEvent, of number: Int, at now: Double) -> [LinkTask] {
        guard number == self.number, isOpen else { return [] }
        switch event {
        case .connected: begin(.discovering, at: now)
        case .discovered(let contents): return show(contents, at: now)
        case .facts(let facts): show(facts)
        case .value(let handle, let octets): change(handle) { $0.read(octets) }
        case .notified(let handle, let octets): change(handle) { $0.notified(octets) }
        case .written(let handle, let count):
            change(handle) { $0.settle() }
            note = "written: \(count == 1 ? "1 byte" : "\(count) bytes") to \(Self.text(handle))"
        case .subscribed(let handle):
            subscribed.insert(handle)
            change(handle) { $0.settle() }
        case .unsubscribed(let handle, let reason):
            subscribed.remove(handle)
            change(handle) { value in if let reason { value.failed(reason) } else { value.settle() } }
            if reason != nil, let place = tree.place(of: handle), let found = tree.nodes[place].characteristic {
                wanted.append(found)
            }
        case .failed(let handle, let text): change(handle) { $0.failed(text) }
        case .note(let text): note = text
        case .ended(let text): end(.ended(text), at: now)
        }
        return []
    }

    private static func text(_ handle: AttributeHandle) -> String { Hexadecimal.number(handle.rawValue, digits: 4) }

    private mutating func begin(_ phase: Phase, at now: Double) { (self.phase, since) = (phase, now) }

    private mutating func end(_ phase: Phase, at now: Double) {
        begin(phase, at: now)
        wanted += tree.nodes.compactMap(\.characteristic).filter { subscribed.contains($0.valueHandle) }
        subscribed = []
        writing = nil
        // What it ended with is of more interest.
        showsCommand = false
        for handle in values.keys { values[handle]?.isPending = false }
    }

    private mutating func change(_ handle: AttributeHandle, _ body: (inout ShownValue) -> Void) {
        if values[handle] == nil, values.count >= Self.valueCapacity { values = [:] }
        body(&values[handle, default: ShownValue()])
    }

    private mutating func show(_ facts: LinkFacts) {
        self.facts = facts
        guard let rssi = facts.rssi else { return }
        if signals.count >= Self.signalCapacity { signals.removeFirst() }
        signals.append(rssi)
    }

    private mutating func show(_ contents: [ServiceContents], at now: Double) -> [LinkTask] {
        let old = place.map { tree.nodes[$0] }
        let isSame = tree.nodes.map(\.kind) == AttributeTree(contents).nodes.map(\.kind)
        if !isSame {
            tree = AttributeTree(contents)
            // Handles may belong to other attributes now.
            values = [:]
            let place = old.flatMap { old in tree.nodes.firstIndex { $0.kind == old.kind } }
            row = place.flatMap { place in tree.visible.firstIndex(of: place) } ?? 0
        }
        if writing.map({ tree.place(of: $0.handle) == nil }) ?? false { writing = nil }
        begin(.ready, at: now)
        let found = Set(tree.nodes.compactMap(\.characteristic))
        subscribed.formIntersection(found.map(\.valueHandle))
        let again = wanted.filter { found.contains($0) && !subscribed.contains($0.valueHandle) }
        wanted = []
        return again.map { .subscribe($0) }
    }

    // MARK: Keys

    /// What a key does.
    /// - Parameter rows: how many rows of the tree are seen.
    mutating func press(_ key: Key, rows: Int, at now: Double) -> [LinkTask] {
        if writing != nil { return type(key) }
        if showsHelp {
            showsHelp = helpScroll.press(key, rows: rows)
            return []
        }
        note = ""
        if seesAdvertisement, advertisementScroll.press(key, rows: rows) { return [] }
        switch key {
        case .escape: if showsCommand { showsCommand = false } else { showsAdvertisement = false }
        case .character("d"): showsAdvertisement.toggle()
        case .character("r"), .character("R"), .character("s"), .character("w"), .character("f"), .left, .right:
            // The row that they are for is not seen.
            if showsAdvertisement { showsAdvertisement = false } else { return use(key) }
        case _ where showsAdvertisement && [.up, .down, .pageUp, .pageDown, .home, .end].contains(key): break
        case .up, .character("k"): move(to: row - 1)
        case .down, .character("j"): move(to: row + 1)
        case .pageUp: move(to: row - rows)
        case .pageDown: move(to: row + rows)
        case .home: move(to: 0)
        case .end: move(to: tree.visible.count - 1)
        case .enter: return enter(at: now)
        case .character("c"): showsCommand.toggle()
        case .character("b"): return hasLink ? [.pair] : []
        case .character("?"), .character("h"): (showsHelp, helpScroll) = (true, TextScroll())
        default: break
        }
        return []
    }

    /// What a key does with the chosen row.
    private mutating func use(_ key: Key) -> [LinkTask] {
        switch key {
        case .left: goOut()
        case .right: if let place { tree.setOpen(true, at: place) }
        case .character("r"): return place.map { read(tree.nodes[$0]) } ?? []
        case .character("R"): return readAll()
        case .character("s"): return toggleSubscription()
        case .character("w"): return write()
        case .character("f"): changeForm()
        default: break
        }
        return []
    }

    private mutating func move(to wanted: Int) { row = max(0, min(wanted, tree.visible.count - 1)) }

    /// Closes what is open, or goes to what the row is in.
    private mutating func goOut() {
        guard let place else { return }
        if tree.nodes[place].isOpen { return tree.setOpen(false, at: place) }
        guard let parent = tree.nodes[place].parent else { return }
        row = tree.visible.firstIndex(of: parent) ?? row
    }

    /// Does what the row is there for.
    private mutating func enter(at now: Double) -> [LinkTask] {
        if !isOpen { return open(at: now) }
        guard let place, !showsAdvertisement else { return phase == .ready && place == nil ? [.discover] : [] }
        let node = tree.nodes[place]
        if node.valueHandle == nil {
            tree.setOpen(!node.isOpen, at: place)
            return []
        }
        if node.isReadable { return read(node) }
        if node.characteristic?.properties.subscriptionMode != nil { return toggleSubscription() }
        return write()
    }

    private mutating func read(_ node: AttributeTree.Node) -> [LinkTask] {
        guard phase == .ready else { return [] }
        guard let handle = node.valueHandle else { return sayWhatToChoose() }
        guard node.isReadable else {
            note = "\(node.title) cannot be read"
            return []
        }
        return read([handle])
    }

    /// Reads what can be read of the service in which the row is.
    private mutating func readAll() -> [LinkTask] {
        guard phase == .ready, let place else { return [] }
        return read(tree.characteristics(around: place).filter { $0.properties.contains(.read) }.map(\.valueHandle))
    }

    /// Asks for values that are not asked for already.
    private mutating func read(_ handles: [AttributeHandle]) -> [LinkTask] {
        let wanted = handles.filter { values[$0]?.isPending != true }
        guard !wanted.isEmpty else { return [] }
        for handle in wanted { change(handle) { $0.isPending = true } }
        return [.read(wanted)]
    }

    private mutating func toggleSubscription() -> [LinkTask] {
        guard phase == .ready, let place else { return [] }
        guard let found = tree.nodes[place].characteristic else { return sayWhatToChoose() }
        guard values[found.valueHandle]?.isPending != true else { return [] }
        if subscribed.contains(found.valueHandle) { return [.unsubscribe(found)] }
        guard found.properties.subscriptionMode != nil else {
            note = "\(found.uuid.attributeText) sends no values: it has neither notify nor indicate"
            return []
        }
        change(found.valueHandle) { $0.isPending = true }
        return [.subscribe(found)]
    }

    private mutating func sayWhatToChoose() -> [LinkTask] {
        note = "choose a characteristic first"
        return []
    }

    private mutating func write() -> [LinkTask] {
        guard phase == .ready, let place else { return [] }
        let node = tree.nodes[place]
        writing = ValueWriting(node, node.valueHandle.flatMap { values[$0] })
        guard node.valueHandle != nil else { return sayWhatToChoose() }
        if writing == nil { note = "\(node.title) cannot be written" }
        return []
    }

    private mutating func type(_ key: Key) -> [LinkTask] {
        guard let handle = writing?.handle else { return [] }
        switch writing?.press(key) {
        case .cancelled, nil: writing = nil
        case .goesOn: break
        case .write(let octets, let procedure):
            writing = nil
            change(handle) { $0.isPending = true }
            return [.write(handle, octets, procedure)]
        }
        return []
    }

    private mutating func changeForm() {
        guard let place, let handle = tree.nodes[place].valueHandle else { return }
        let forms = [nil] + ValueForm.allCases
        change(handle) { $0.form = forms[((forms.firstIndex(of: $0.form) ?? 0) + 1) % forms.count] }
    }

    // MARK: The command that does the same

    /// What a script would say for the chosen row.
    func commands(_ text: CommandText) -> [String] {
        if phase == .unconnectable || showsAdvertisement {
            return [text.line(["lescan", "--accept", address.description, "--count", "1"])]
        }
        let peer = ["gatt", address.description]
        guard let place else { return [text.line(peer + ["discover"])] }
        let node = tree.nodes[place]
        guard let target = tree.target(at: place), let handle = node.valueHandle else {
            return [text.line(peer + ["discover", "--service", node.uuid.description])]
        }
        if let writing { return [text.line(peer + ["write", target] + writing.words)] }
        let form = values[handle]?.form.map { ["--\($0.rawValue)"] } ?? []
        var lines: [[String]] = []
        if node.isReadable { lines.append(peer + ["read", target] + form) }
        if node.characteristic?.properties.subscriptionMode != nil {
            lines.append(peer + ["subscribe", target] + form)
        }
        if !node.writeProcedures.isEmpty { lines.append(peer + ["write", target, "VALUE"] + form) }
        return lines.map(text.line)
    }
}
