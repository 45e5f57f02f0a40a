import BLE
import BLEScripts
import BLEText
import Testing

@testable import BLEHost
@testable import bletool

/// Devices, attributes and screens for tests of the browser.
enum BrowsedDevice {
    static let canvas = Canvas(columns: 80, rows: 24, isColoured: false, isUnicode: true)

    static func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(rawValue: number) }

    static func address(_ number: UInt64) -> DeviceAddress {
        DeviceAddress(value: 0xC0DE_0000_0000 | number, kind: .random)
    }

    static func discovery(_ number: UInt64, name: String, rssi: Int8 = -50) -> Discovery {
        let text = Array(name.utf8.prefix(200))
        return Discovery(
            scan: OperationID(rawValue: 1), client: .local, address: address(number), rssi: rssi, isConnectable: true,
            isScannable: false, advertisement: [UInt8(text.count + 1), 9] + text, scanResponse: [], txPower: nil,
            isExtended: false, time: Instant(microseconds: 0))
    }

    /// A service with characteristics that are one after the other: UUID and properties.
    static func service(
        _ uuid: BluetoothUUID, from first: UInt16, _ members: [(BluetoothUUID, CharacteristicProperties)]
    ) -> ServiceContents {
        let last = first + UInt16(3 * members.count)
        return ServiceContents(
            service: Service(uuid: uuid, range: AttributeHandleRange(handle(first), handle(last)), isPrimary: true),
            characteristics: members.enumerated().map { index, member in
                let start = first + 1 + UInt16(3 * index)
                return .init(
                    characteristic: Characteristic(
                        uuid: member.0, handle: handle(start), valueHandle: handle(start + 1),
                        endHandle: handle(start + 2), properties: member.1),
                    descriptors: [Descriptor(uuid: 0x2902, handle: handle(start + 2))])
            })
    }

    static let heart = [
        service(0x180D, from: 1, [(0x2A37, [.notify]), (0x2A38, [.read]), (0x2A39, [.write])]),
        service(0x180F, from: 20, [(0x2A19, [.read, .notify])]),
        service(0x1800, from: 40, [(0x2A00, [.read, .write])]),
    ]

    static let facts = LinkFacts(
        mtu: 517,
        parameters: ConnectionParameters(
            interval: ConnectionInterval(rawValue: 24), peripheralLatency: 0,
            supervisionTimeout: SupervisionTimeout(rawValue: 500)), transmitPHY: .le1M, receivePHY: .le1M, rssi: -48)

    /// A browser that shows the page of the first device, whose services are known.
    static func opened(_ contents: [ServiceContents] = heart, name: String = "Belt") -> Browser {
        var browser = Browser()
        for (number, name) in [(UInt64(1), name), (2, "Lamp")] {
            browser.table.add(discovery(number, name: name, rssi: -40 - Int8(number)), at: 0) {
                DiscoveryOutput($0, scanFor: [])
            }
        }
        _ = browser.press(.enter, rows: 24, at: 0)
        _ = browser.handle(.connected, of: address(1), number: 1, at: 1)
        _ = browser.handle(.facts(facts), of: address(1), number: 1, at: 1)
        _ = browser.handle(.discovered(contents), of: address(1), number: 1, at: 2)
        return browser
    }

    static func lines(_ browser: inout Browser, _ canvas: Canvas = canvas, at now: Double = 5) -> [String] {
        browser.screen(canvas, ScanTable.Figures(now: now, rate: 1), CommandText(program: ["bletool", "-t", "sim"]))
    }

    static func plain(_ line: String) -> String { line.replacing(/\u{1B}\[[0-9;]*m/, with: "") }

    static func text(_ browser: inout Browser, _ canvas: Canvas = canvas, at now: Double = 5) -> String {
        lines(&browser, canvas, at: now).map(plain).joined(separator: "\n")
    }
}

@Suite("The browser of a live scan")
struct BrowserTests {
    private static let first = BrowsedDevice.address(1)
    private static let second = BrowsedDevice.address(2)

    @discardableResult
    private func press(_ browser: inout Browser, _ keys: Key..., at now: Double = 10) -> [Browser.Action] {
        keys.flatMap { browser.press($0, rows: 24, at: now) }
    }

    private func press(_ browser: inout Browser, _ letter: Character) -> [Browser.Action] {
        press(&browser, .character(letter))
    }

    @Test("Enter opens the chosen device and connects, Esc goes back and keeps the link, Enter shows its page again")
    func opens() {
        var browser = BrowsedDevice.opened()
        #expect(browser.shown == Self.first)
        #expect(press(&browser, .escape) == [.watch(nil)])
        #expect(browser.marks == [Self.first: true])
        let table = BrowsedDevice.text(&browser)
        #expect(table.contains("● Belt") && table.contains("1 link"))
        #expect(press(&browser, .enter) == [.watch(Self.first)])
        #expect(BrowsedDevice.text(&browser).contains("connected"))
        press(&browser, .escape)
        #expect(press(&browser, .down, .enter) == [.link(Self.second, .connect(number: 1)), .watch(Self.second)])
        #expect(BrowsedDevice.text(&browser).contains("1 more open"))
        // From page to page, and from the table to the first.
        #expect(press(&browser, .tab) == [.watch(Self.first)])
        press(&browser, .escape)
        #expect(press(&browser, .tab) == [.watch(Self.first)])
        press(&browser, .escape)
        #expect(press(&browser, "X") == [.link(Self.second, .disconnect)])
        #expect(browser.marks == [Self.first: true, Self.second: false])
        #expect(press(&browser, "q") == [.end])
    }

    @Test("q leaves a page for the table, and ends the scan there; ^L draws everything again")
    func ends() {
        var browser = BrowsedDevice.opened()
        #expect(press(&browser, .control("l")) == [.repaint])
        #expect(press(&browser, "q") == [.watch(nil)])
        #expect(press(&browser, "q") == [.end])
    }

    @Test("Enter in the table without a choice opens the topmost device; in an empty one it does nothing")
    func opensTopmost() {
        var empty = Browser()
        #expect(press(&empty, .enter).isEmpty)
        #expect(press(&empty, .tab).isEmpty)
        #expect(press(&empty, "X").isEmpty)
        #expect(BrowsedDevice.opened().shown == Self.first)
    }

    @Test("what happens on an earlier link changes nothing")
    func staleEvents() {
        var browser = BrowsedDevice.opened()
        _ = browser.handle(.ended("the link was lost"), of: Self.first, number: 1, at: 3)
        #expect(press(&browser, .enter) == [.link(Self.first, .connect(number: 2))])
        _ = browser.handle(.ended("too late"), of: Self.first, number: 1, at: 4)
        _ = browser.handle(.connected, of: BrowsedDevice.address(9), number: 1, at: 4)
        #expect(browser.page?.phase == .connecting)
    }

    @Test("pages are limited: those without a link make room")
    func capacity() {
        var browser = Browser()
        for number in 1...UInt64(Browser.capacity + 3) {
            browser.table.add(BrowsedDevice.discovery(number, name: "d\(number)"), at: 0) {
                DiscoveryOutput($0, scanFor: [])
            }
        }
        _ = press(&browser, "a")
        for number in 1...Browser.capacity + 3 {
            press(&browser, .down, .enter)
            let device = browser.shown ?? BrowsedDevice.address(0)
            if number == 1 { _ = browser.handle(.connected, of: device, number: 1, at: 0) }
            if number > 1 { _ = browser.handle(.ended("gone"), of: device, number: 1, at: 0) }
            press(&browser, .escape)
        }
        #expect(browser.pages.count == Browser.capacity)
        #expect(browser.pages[BrowsedDevice.address(1)]?.isOpen == true)
        #expect(Set(browser.opened) == Set(browser.pages.keys))
    }

    // MARK: Questions

    @Test("a question is answered with the keys that it names, not with what was typed before it was seen")
    func question() {
        for page in [true, false] {
            var browser = BrowsedDevice.opened()
            if !page { press(&browser, .escape) }
            let isAsked = browser.ask(ScreenQuestion(id: 7, .compare(1234), peer: Self.first))
            #expect(isAsked)
            // Nobody has seen it.
            #expect(press(&browser, "y").isEmpty)
            #expect(BrowsedDevice.text(&browser, at: 10).contains("does C0:DE:00:00:00:01/random show 001234?"))
            #expect(browser.press(.character("y"), rows: 24, at: 10.2).isEmpty)
            #expect(browser.press(.character("q"), rows: 24, at: 11).isEmpty)
            #expect(browser.press(.character("y"), rows: 24, at: 11) == [.answer(7, .yes)])
            #expect(!BrowsedDevice.text(&browser, at: 12).contains("001234"))
        }
    }

    @Test("one who types without a pause answers no question that comes up meanwhile")
    func typedAhead() {
        var browser = BrowsedDevice.opened()
        _ = browser.ask(ScreenQuestion(id: 7, .compare(1234), peer: Self.first))
        _ = BrowsedDevice.text(&browser, at: 10)
        for place in 0..<50 {
            let time = 10.1 + 0.2 * Double(place)
            #expect(browser.press(.character("y"), rows: 24, at: time).isEmpty)
        }
        #expect(browser.press(.character("y"), rows: 24, at: 20.5) == [.answer(7, .yes)])
    }

    @Test("a passkey is typed, corrected and sent; a question that is withdrawn leaves its keys to nobody")
    func passkey() {
        var browser = BrowsedDevice.opened()
        _ = browser.ask(ScreenQuestion(id: 1, .consent, peer: Self.first))
        _ = browser.ask(ScreenQuestion(id: 2, .enterPasskey, peer: Self.second))
        _ = BrowsedDevice.text(&browser, at: 10)
        browser.withdraw(1)
        #expect(browser.press(.character("1"), rows: 24, at: 11).isEmpty)
        #expect(BrowsedDevice.text(&browser, at: 11).contains("displays: _"))
        for letter in "0012345x" { #expect(browser.press(.character(letter), rows: 24, at: 12).isEmpty) }
        #expect(BrowsedDevice.text(&browser, at: 12).contains("displays: 001234_"))
        #expect(browser.press(.backspace, rows: 24, at: 12).isEmpty)
        #expect(browser.press(.enter, rows: 24, at: 12).isEmpty)
        #expect(browser.press(.character("9"), rows: 24, at: 12).isEmpty)
        #expect(browser.press(.enter, rows: 24, at: 12) == [.answer(2, .passkey(1239))])
        var asked = 0
        for id in 0..<100 where browser.ask(ScreenQuestion(id: UInt64(id), .consent, peer: Self.first)) { asked += 1 }
        #expect(asked == Browser.questionCapacity)
    }

    @Test(
        "Esc says no to every question",
        arguments: [
            ScreenQuestion.Kind.display(1), .enterPasskey, .compare(1), .consent,
            .replaceBond(BrowsedDevice.address(3)),
        ])
    func refusal(_ kind: ScreenQuestion.Kind) {
        var browser = BrowsedDevice.opened()
        _ = browser.ask(ScreenQuestion(id: 3, kind, peer: Self.first))
        _ = BrowsedDevice.text(&browser, at: 10)
        #expect(browser.press(.escape, rows: 24, at: 20) == [.answer(3, .no)])
        #expect(browser.questions.isEmpty)
    }

    // MARK: Every screen

    /// Names that a terminal would obey, that are wide, run to the left, or are long.
    static let names = [
        "Belt", "evil\u{1B}[2J\u{1B}]0;owned\u{07}", "a\u{202E}gpj.exe", "שלום עולם", "名前名前名前名前名前名前名前", "👩‍👩‍👧‍👦 family",
        "Lock\r\nC0:DE:00:00:00:01", String(repeating: "x", count: 200), "e\u{301}\u{301}\u{301}\u{301}\u{301}", "",
    ]

    @Test("every screen has the terminal's size, whatever the device is called and sends", arguments: names)
    func hostile(_ name: String) throws {
        let sizes = [(80, 24), (40, 10), (200, 60), (20, 5), (112, 24)]
        for (columns, rows) in sizes {
            for (isColoured, isUnicode) in [(true, true), (false, true), (false, false)] {
                let canvas = Canvas(columns: columns, rows: rows, isColoured: isColoured, isUnicode: isUnicode)
                var browser = BrowsedDevice.opened(name: name)
                let sent = Array(name.utf8) + [0, 0x1B, 0x9B, 0xFF]
                for handle in [3, 6, 22, 42] as [UInt16] {
                    for count in 0..<20 {
                        _ = browser.handle(
                            .notified(BrowsedDevice.handle(handle), [0, UInt8(count)]), of: Self.first, number: 1, at: 3
                        )
                    }
                    _ = browser.handle(.subscribed(BrowsedDevice.handle(handle)), of: Self.first, number: 1, at: 3)
                    _ = browser.handle(.value(BrowsedDevice.handle(handle), sent), of: Self.first, number: 1, at: 3)
                }
                try check(&browser, canvas)
                for keys in [
                    [Key.down], [.character("c")], [.end], [.character("?")], [.up], [.character("w")],
                    [.character("a"), .tab], [.escape], [.escape], [.character("?")], [.tab], [.character("d")],
                ] {
                    for key in keys { _ = browser.press(key, rows: rows, at: 10) }
                    try check(&browser, canvas)
                }
                _ = browser.handle(
                    .ended(String(repeating: "the link was lost ", count: 40)), of: Self.first, number: 1, at: 11)
                try check(&browser, canvas)
                _ = browser.ask(ScreenQuestion(id: 1, .replaceBond(Self.second), peer: Self.first))
                try check(&browser, canvas)
                _ = browser.press(.escape, rows: rows, at: 100)
                _ = browser.press(.escape, rows: rows, at: 100)
                try check(&browser, canvas)
            }
        }
    }

    private func check(_ browser: inout Browser, _ canvas: Canvas) throws {
        let lines = BrowsedDevice.lines(&browser, canvas)
        #expect(lines.count == canvas.rows)
        for line in lines {
            let plain = BrowsedDevice.plain(line)
            // The table has columns that it never leaves out.
            let most = browser.shown == nil ? max(canvas.columns, 37) : canvas.columns
            #expect(plain.displayWidth <= most, "\(plain)")
            #expect(!plain.unicodeScalars.contains { TextSieve.isHidden($0) && $0 != "\u{FE0F}" }, "\(plain)")
            if !canvas.isUnicode { #expect(plain.utf8.allSatisfy { $0 < 0x80 }, "\(plain)") }
            if !canvas.isColoured { #expect(!line.contains("\u{1B}[2m") && !line.contains("\u{1B}[3"), "\(line)") }
        }
    }
}
