import BLE
import BLEScripts
import Testing

@testable import bletool

@Suite("The page of a device")
struct DevicePageTests {
    private static let device = BrowsedDevice.address(1)
    private static let battery = BrowsedDevice.handle(22)
    private static let heart = BrowsedDevice.handle(3)

    private var browser = BrowsedDevice.opened()

    @discardableResult
    private mutating func press(_ keys: Key...) -> [Browser.Action] {
        keys.flatMap { browser.press($0, rows: 24, at: 10) }
    }

    @discardableResult
    private mutating func press(_ letters: String) -> [Browser.Action] {
        letters.flatMap { browser.press(.character($0), rows: 24, at: 10) }
    }

    private mutating func handle(_ event: LinkEvent) -> [Browser.Action] {
        browser.handle(event, of: Self.device, number: 1, at: 11)
    }

    private mutating func text(_ canvas: Canvas = BrowsedDevice.canvas) -> String {
        BrowsedDevice.text(&browser, canvas)
    }

    private static func link(_ task: LinkTask) -> [Browser.Action] { [.link(device, task)] }

    /// The characteristic whose value has this handle.
    private func characteristic(_ handle: AttributeHandle) -> Characteristic? {
        browser.page?.tree.nodes.compactMap(\.characteristic).first { $0.valueHandle == handle }
    }

    /// Chooses the row with this text.
    private mutating func choose(_ title: String) {
        press(.home)
        for _ in 0..<40 {
            guard let page = browser.page, let place = page.place, !page.tree.nodes[place].title.contains(title) else {
                return
            }
            press(.down)
        }
    }

    @Test("services, characteristics with their properties, and the link are shown; descriptors when they are opened")
    mutating func tree() {
        let shown = text()
        for part in [
            "Belt · C0:DE:00:00:00:01/random · connected", "MTU 517", "-48 dBm", "LE 1M", "not encrypted, no bond",
            "interval 30 ms, latency 0, timeout 5000 ms", "▾ 180D Heart Rate", "2A37 Heart Rate Measurement", "notify",
            "2A19 Battery Level", "Esc table",
        ] {
            #expect(shown.contains(part), "\(part)\n\(shown)")
        }
        #expect(!shown.contains("2902"))
        press(.down, .right)
        #expect(text().contains("2902 Client"))
        press(.left)
        #expect(!text().contains("2902"))
        press(.left, .left)
        #expect(!text().contains("2A37") && text().contains("▸ 180D"))
        press(.enter)
        #expect(text().contains("2A37"))
    }

    @Test("a value is read, shown with its meaning, and in other forms; what fails is said where it was asked")
    mutating func reads() {
        choose("2A19")
        #expect(press("r") == Self.link(.read([Self.battery])))
        // It is under way.
        #expect(press("r").isEmpty)
        _ = handle(.value(Self.battery, [87]))
        #expect(text().contains("57 = 87 %"))
        press("ff")
        #expect(text().contains("as uint8"))
        #expect(press(.enter) == Self.link(.read([Self.battery])))
        _ = handle(.failed(Self.battery, "read not permitted"))
        #expect(text().contains("! read not permitted"))
        choose("2A39")
        #expect(press("r").isEmpty)
        #expect(text().contains("2A39 Heart Rate Control Point cannot be read"))
        choose("180D")
        #expect(press("R") == Self.link(.read([BrowsedDevice.handle(6)])))
        #expect(press("r").isEmpty)
    }

    @Test("a subscription draws its values as a plot, with their bounds, until it is ended")
    mutating func subscribes() throws {
        choose("2A37")
        let found = try #require(characteristic(Self.heart))
        #expect(press("s") == Self.link(.subscribe(found)))
        #expect(press("s").isEmpty)
        _ = handle(.subscribed(Self.heart))
        for rate in [60, 66, 72, 60] as [UInt8] { _ = handle(.notified(Self.heart, [0, rate])) }
        let shown = text()
        for part in ["● 60 bpm", "60 … 72 bpm  ▁▅█▁", "subscribed, 4 values"] {
            #expect(shown.contains(part), "\(part)\n\(shown)")
        }
        var plain = BrowsedDevice.canvas
        plain.isUnicode = false
        #expect(text(plain).contains("* 60 bpm") && text(plain).contains(".+@."))
        #expect(press("s") == Self.link(.unsubscribe(found)))
        _ = handle(.unsubscribed(Self.heart, nil))
        #expect(!text().contains("●"))
        choose("2A38")
        #expect(press("s").isEmpty)
        #expect(text().contains("sends no values"))
    }

    @Test("a plot and a table of values take no more memory however many come")
    mutating func isBounded() {
        for count in 0..<10_000 { _ = handle(.notified(Self.heart, [0, UInt8(count % 200)])) }
        #expect(browser.page?.values[Self.heart]?.history.count == ShownValue.capacity)
        for number in 0..<UInt16.max { _ = handle(.value(BrowsedDevice.handle(number), [1])) }
        #expect((browser.page?.values.count ?? 0) <= DevicePage.valueCapacity)
        for _ in 0..<500 { _ = handle(.facts(BrowsedDevice.facts)) }
        #expect(browser.page?.signals.count == DevicePage.signalCapacity)
    }

    // MARK: Writing

    @Test("a value is typed as hex, text or an integer, its meaning is shown, and it is written in the chosen way")
    mutating func writes() {
        choose("2A39")
        press("w")
        #expect(text().contains("hex > _") && text().contains("no value yet"))
        #expect(press(.enter).isEmpty)
        press("0x")
        #expect(text().contains("not a value in hexadecimal") == false)
        press("1")
        #expect(text().contains("this is not a value in hexadecimal"))
        #expect(press(.enter).isEmpty)
        press(.control("u"))
        press("01")
        #expect(text().contains("01"))
        let octets: [UInt8] = [1]
        #expect(press(.enter) == Self.link(.write(BrowsedDevice.handle(9), octets, .confirmed)))
        _ = handle(.written(BrowsedDevice.handle(9), octets: 1))
        #expect(text().contains("written: 1 byte to 0x0009"))
        // Text is typed as text by itself; Tab chooses another form.
        choose("2A00")
        press("w")
        #expect(text().contains("text > _"))
        press("q?")
        #expect(text().contains("text > q?_"))
        press(.control("u"), .tab, .tab)
        press("258")
        #expect(text().contains("uint16 > 258_") && browser.page?.writing?.octets == [2, 1])
        press(.escape)
        #expect(browser.page?.writing == nil && browser.shown != nil)
        choose("2A37")
        press("w")
        #expect(browser.page?.writing == nil && text().contains("cannot be written"))
    }

    @Test("the arrows change how a value is written, among the ways that the characteristic has")
    mutating func procedures() {
        let both = BrowsedDevice.service(0x180D, from: 1, [(0x2A39, [.write, .writeWithoutResponse])])
        browser = BrowsedDevice.opened([both])
        choose("2A39")
        press("w01")
        #expect(text().contains("with a response"))
        press(.down)
        #expect(text().contains("without a response"))
        press("")
        #expect(press(.enter) == Self.link(.write(Self.heart, [1], .withoutResponse)))
    }

    // MARK: Commands

    @Test("c shows the command that does the same, with a target that means the same")
    mutating func commands() {
        press("c")
        #expect(text().contains("bletool -t sim gatt C0:DE:00:00:00:01/random discover --service 180D"))
        choose("2A19")
        #expect(text().contains("gatt C0:DE:00:00:00:01/random read 2A19 "))
        #expect(text().contains("gatt C0:DE:00:00:00:01/random subscribe 2A19"))
        press("ff")
        #expect(text().contains("read 2A19 --uint8"))
        choose("2A00")
        press("w")
        press("my lamp")
        #expect(text().contains("write 2A00 'my lamp' --text"))
        press(.escape)
        press("c")
        #expect(!text().contains("gatt C0"))
    }

    @Test("a UUID that occurs twice is named with its service, or by its handle")
    func targets() {
        let tree = AttributeTree([
            BrowsedDevice.service(0x180D, from: 1, [(0x2A19, [.read]), (0x2A19, [.read])]),
            BrowsedDevice.service(0x180F, from: 20, [(0x2A19, [.read])]),
            BrowsedDevice.service(0x180F, from: 40, [(0x2A19, [.read])]),
        ])
        let targets = tree.nodes.indices.compactMap { place in
            tree.nodes[place].characteristic.flatMap { _ in tree.target(at: place) }
        }
        #expect(targets == ["2A19", "0x0006", "180F/2A19", "0x002a"])
        let descriptors = tree.nodes.indices.filter { tree.nodes[$0].depth == 2 }.compactMap(tree.target(at:))
        #expect(descriptors == ["2902", "0x0007", "0x0017", "0x002b"])
    }

    @Test("words are quoted as a shell takes them")
    func quoting() {
        let text = CommandText(program: ["bletool", "-t", "sim:/a b/it's.json"])
        #expect(text.line(["read", "2A19", ""]) == "bletool -t 'sim:/a b/it'\\''s.json' read 2A19 ''")
        #expect(!text.line(["a\u{1B}[2Jb\u{202E}"]).contains("\u{1B}"))
    }

    // MARK: The end of the link

    @Test("the end of the link is said in place; Enter connects again, and what was subscribed to is again")
    mutating func lost() throws {
        choose("2A19")
        press("r")
        _ = handle(.value(Self.battery, [87]))
        choose("2A37")
        let found = try #require(characteristic(Self.heart))
        press("s")
        _ = handle(.subscribed(Self.heart))
        press("w")
        _ = handle(.ended("the link was lost: connection timeout"))
        let shown = text()
        for part in ["NO LINK", "connection timeout. Enter connects again", "87 %", "Enter connect again"] {
            #expect(shown.contains(part), "\(part)\n\(shown)")
        }
        #expect(press("rsRb").isEmpty)
        #expect(press(.enter) == Self.link(.connect(number: 2)))
        #expect(press(.enter).isEmpty)
        #expect(text().contains("connecting …"))
        // The first attempt is in vain.
        _ = browser.handle(.ended("not reached"), of: Self.device, number: 2, at: 12)
        #expect(press(.enter) == Self.link(.connect(number: 3)))
        _ = browser.handle(.connected, of: Self.device, number: 3, at: 13)
        let again = browser.handle(.discovered(BrowsedDevice.heart), of: Self.device, number: 3, at: 14)
        #expect(again == Self.link(.subscribe(found)))
        #expect(text().contains("87 %"))
    }

    @Test("X closes the link; the page stays, and opening the device from the table connects again")
    mutating func closed() {
        #expect(press("X") == Self.link(.disconnect))
        #expect(press("X").isEmpty)
        #expect(text().contains("The link is closed"))
        _ = handle(.ended("closed by us"))
        #expect(browser.page?.phase == .closed)
        press(.escape)
        #expect(press(.enter) == [.link(Self.device, .connect(number: 2)), .watch(Self.device)])
    }

    @Test("a device that changes its services is shown anew, and what it still has is subscribed to again")
    mutating func changed() throws {
        choose("2A19")
        let found = try #require(characteristic(Self.battery))
        press("s")
        _ = handle(.subscribed(Self.battery))
        _ = handle(.unsubscribed(Self.battery, "the device has changed its services"))
        let rest = [BrowsedDevice.heart[1]]
        #expect(handle(.discovered(rest)) == Self.link(.subscribe(found)))
        #expect(!text().contains("2A37") && text().contains("2A19"))
        #expect(browser.page?.place.map { browser.page?.tree.nodes[$0].uuid } == 0x2A19)
        #expect(handle(.discovered([])).isEmpty)
        #expect(text().contains("the device offers no services"))
        #expect(press(.enter) == Self.link(.discover))
        #expect(press(.up, .down, .left, .right, .end, .home).isEmpty)
        #expect(press("rRswfb?").contains(.link(Self.device, .pair)))
    }

    // MARK: What it advertises

    @Test("what a device advertises is seen until its services are, with d again, and where it accepts no connections")
    mutating func advertisement() {
        browser = Browser()
        browser.table.add(BrowsedDevice.discovery(1, name: "Belt"), at: 0) { DiscoveryOutput($0, scanFor: []) }
        press(.enter)
        #expect(text().contains("0x09 Complete Local Name: 42656c74 = Belt") && text().contains("connecting"))
        _ = handle(.connected)
        _ = handle(.discovered(BrowsedDevice.heart))
        #expect(!text().contains("0x09") && text().contains("2A37"))
        press("d")
        #expect(text().contains("0x09") && !text().contains("2A37"))
        #expect(press("r").isEmpty)
        #expect(text().contains("2A37"))
        press("dd")
        #expect(text().contains("2A37"))
        // On a wide terminal it stands beside the services.
        let wide = Canvas(columns: 200, rows: 60, isColoured: false, isUnicode: true)
        #expect(text(wide).contains("│   0x09 Complete Local Name") && text(wide).contains("2A37"))
        _ = handle(.ended("the link was lost"))
        #expect(text().contains("the link was lost"))
    }

    @Test("a device that accepts no connections is not connected to until it does")
    mutating func beacon() {
        browser = Browser()
        var discovery = BrowsedDevice.discovery(1, name: "Beacon")
        discovery.isConnectable = false
        browser.table.add(discovery, at: 0) { DiscoveryOutput($0, scanFor: []) }
        #expect(press(.enter) == [.watch(Self.device)])
        #expect(text().contains("accepts no connections") && text().contains("= Beacon"))
        #expect(press(.enter).isEmpty && press("X").isEmpty)
        press("c")
        #expect(text().contains("bletool -t sim lescan --accept C0:DE:00:00:00:01/random --count 1"))
        press(.escape)
        #expect(!text().contains("--accept") && browser.shown != nil)
        #expect(browser.marks.isEmpty)
        discovery.isConnectable = true
        browser.table.add(discovery, at: 1) { DiscoveryOutput($0, scanFor: []) }
        #expect(text().contains("Enter connects"))
        #expect(press(.enter) == Self.link(.connect(number: 1)))
        press(.escape)
        #expect(browser.marks == [Self.device: true])
    }

    @Test("a long advertisement is scrolled, and every octet of it is seen")
    mutating func longAdvertisement() {
        let octets = (0..<250).map { UInt8($0) }
        var discovery = BrowsedDevice.discovery(1, name: "Long")
        discovery.advertisement += [251, 0xFF] + octets + [251, 0xFE] + octets
        discovery.isConnectable = false
        browser = Browser()
        browser.table.add(discovery, at: 0) { DiscoveryOutput($0, scanFor: []) }
        press(.enter)
        let canvas = Canvas(columns: 60, rows: 12, isColoured: false, isUnicode: true)
        #expect(text(canvas).contains("arrows scroll") && text(canvas).contains("000102030405060708090a0b0c0d0e0f"))
        press(.end)
        #expect(text(canvas).contains("f0f1f2f3f4f5f6f7f8f9"))
        press(.up)
        #expect(!text(canvas).contains("f0f1f2f3f4f5f6f7f8f9"))
        press(.home)
        #expect(text(canvas).contains("= Long"))
    }

    @Test("a remark that has no room in the line below the tree stands under it, whole")
    mutating func longNote() {
        _ = handle(.note(String(repeating: "word ", count: 25) + "last"))
        #expect(text().contains("last"))
        _ = handle(.note("short"))
        #expect(text().contains("─── short ─"))
    }

    // MARK: Many attributes

    @Test("five thousand attributes begin as a list of services, and only what is seen is drawn")
    mutating func crowd() throws {
        let crowd = (0..<20).map { number in
            BrowsedDevice.service(
                0x180D, from: UInt16(1 + number * 300),
                Array(repeating: (BluetoothUUID(UInt16(0x2A37)), [.notify]), count: 85))
        }
        browser = BrowsedDevice.opened(crowd)
        let page = try #require(browser.page)
        #expect(page.tree.nodes.count > 3400 && page.tree.visible.count == 20)
        for (columns, rows) in [(40, 10), (80, 24), (200, 60)] {
            let canvas = Canvas(columns: columns, rows: rows, isColoured: true, isUnicode: true)
            press(.home, .enter, .end)
            #expect(BrowsedDevice.lines(&browser, canvas).count == rows)
            for _ in 0..<30 { press(.pageUp, .right) }
            #expect(BrowsedDevice.lines(&browser, canvas).count == rows)
        }
        press(.end)
        #expect(browser.page?.row == (browser.page?.tree.visible.count ?? 0) - 1)
        #expect(press(.pageDown).isEmpty)
        #expect(browser.page?.row == (browser.page?.tree.visible.count ?? 0) - 1)
    }

    @Test("on a wide terminal the link stands beside the tree, on a small one the value is seen")
    mutating func sizes() {
        let wide = Canvas(columns: 200, rows: 60, isColoured: false, isUnicode: true)
        #expect(text(wide).contains("│ MTU 517"))
        choose("2A19")
        press("r")
        _ = handle(.value(Self.battery, [87]))
        let small = text(Canvas(columns: 40, rows: 10, isColoured: false, isUnicode: true))
        #expect(small.contains("57 = 87 %") && small.contains("2A19 Battery") && small.contains("MTU 517"))
    }
}

@Suite("Drawing on a terminal")
struct DrawingTests {
    @Test("only lines that changed are sent; another size, or a screen that was lost, is drawn as a whole")
    func painter() {
        var painter = ScreenPainter()
        let first = painter.paint(["a", "b"], columns: 10)
        #expect(first.contains("\u{1B}[1;1H\u{1B}[Ka\u{1B}[2;1H\u{1B}[Kb") && first.contains("\u{1B}[2J"))
        #expect(painter.paint(["a", "b"], columns: 10).isEmpty)
        #expect(painter.paint(["a", "c"], columns: 10) == "\u{1B}[?2026h\u{1B}[2;1H\u{1B}[Kc\u{1B}[?2026l")
        #expect(painter.paint(["a", "c"], columns: 11).contains("\u{1B}[Ka"))
        painter.forget()
        #expect(painter.paint(["a", "c"], columns: 11).contains("\u{1B}[Ka"))
    }

    @Test("a plot has the lowest bar for the least number; what is no number is left out")
    func sparkline() {
        func text(_ numbers: [Double], width: Int = 8, isUnicode: Bool = true) -> String {
            Sparkline.text(numbers, width: width, isUnicode: isUnicode)
        }
        #expect(text([0, 7]) == "▁█")
        #expect(text([1, 2, 3, 4, 5, 6, 7, 8]) == "▁▂▃▄▅▆▇█")
        #expect(text([9, 1, 2], width: 2) == "▁█")
        #expect(text([5, 5]) == "▅▅")
        #expect(text([0, 1], isUnicode: false) == ".@")
        #expect(text([.nan, .infinity]) == "" && text([]) == "" && text([1], width: 0) == "")
        #expect(text([-.greatestFiniteMagnitude, .greatestFiniteMagnitude, 0]) == "▁█▅")
    }

    @Test("a text is cut into lines by what they take on the screen")
    func cut() {
        #expect("abcdef".cut(to: 3, most: 5) == ["abc", "def"])
        #expect("abcdefg".cut(to: 3, most: 2) == ["abc", "de…"])
        #expect("名前名".cut(to: 3, most: 5) == ["名", "前", "名"])
        #expect("abc".cut(to: 0, most: 1).isEmpty && "abc".cut(to: 1, most: 0).isEmpty)
        #expect("名".cut(to: 1, most: 3) == ["名"])
    }

    @Test("a text is wrapped between words, and within those that are longer than a line")
    func wrapped() {
        func lines(_ text: String, _ width: Int, deeper: Int = 0, most: Int = 9) -> [String] {
            text.wrapped(to: width, deeper: deeper, most: most)
        }
        #expect(lines("two words", 9) == ["two words"])
        #expect(lines("two words", 8) == ["two", "words"])
        #expect(lines("  a  bc def", 7) == ["  a  bc", "def"])
        #expect(lines("ab cdefghijkl", 6) == ["ab cde", "fghijk", "l"])
        #expect(lines("abcdef ghijklmno", 6) == ["abcdef", "ghijkl", "mno"])
        #expect(lines("one two three", 7, deeper: 2) == ["one two", "  three"])
        #expect(lines("one two three", 3, deeper: 2) == ["one", "two", "thr", "ee"])
        #expect(lines("one two three", 5, most: 2) == ["one", "two… "])
        #expect(lines("名前名", 3) == ["名", "前", "名"])
        #expect(lines("", 3) == [""])
    }

    @Test("long UUIDs lose their middle where they have no room, the text its end where that is not enough")
    func shortened() {
        let uuid = "6A656C6C-696E-6700-8000-0000000000A2"
        #expect(uuid.fittedShorteningUUIDs(to: 40) == uuid + "    ")
        #expect("  \(uuid) Name".fittedShorteningUUIDs(to: 27) == "  6A656C6C-6…0000000A2 Name")
        #expect("\(uuid),\(uuid)".fittedShorteningUUIDs(to: 27) == "6A656C…0000A2,6A656C…0000A2")
        #expect("\(uuid) Name".fittedShorteningUUIDs(to: 15) == "6A656C…0000A2 …")
        #expect("a long text without one".fittedShorteningUUIDs(to: 6) == "a lon…")
    }

    @Test("help has a line for each key, folded below its text, and scrolls only where it has no room")
    func help() {
        let help = KeyHelp(entries: [("a", "one two three"), ("b", "four")])
        #expect(help.lines(60) == ["", "  a           one two three", "  b           four", ""])
        #expect(help.lines(22) == ["", "  a           one two", "              three", "  b           four", ""])
        var scroll = TextScroll()
        let lines = help.lines(22)
        scroll.settle(lines.count, in: 5)
        var scrolls = scroll.press(.down, rows: 5)
        #expect(!scrolls && scroll.shown(lines, in: 5).count == 5)
        scroll.settle(lines.count, in: 2)
        for key in [Key.end, .down, .down] {
            scrolls = scroll.press(key, rows: 2)
            #expect(scrolls)
            scroll.settle(lines.count, in: 2)
        }
        #expect(scroll.shown(lines, in: 2) == ["  b           four", ""])
        for _ in 0..<9 { _ = scroll.press(.pageUp, rows: 2) }
        #expect(scroll.shown(lines, in: 2).first == "")
        scrolls = scroll.press(.character("?"), rows: 2)
        #expect(!scrolls)
    }

    @Test("without UTF-8 a line is ASCII and as wide as before")
    func ascii() {
        let canvas = Canvas(columns: 10, rows: 1, isColoured: false, isUnicode: false)
        for line in ["abc", "21.5 °C – ‘x’…", "名前 é", "👩 \u{1B}[7mx\u{1B}[0m"] {
            let shown = canvas.legible(line)
            #expect(shown.utf8.allSatisfy { $0 < 0x80 })
            #expect(shown.displayWidth == line.displayWidth)
        }
    }
}
