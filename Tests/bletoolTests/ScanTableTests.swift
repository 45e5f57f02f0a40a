import BLE
import Testing

@testable import BLEHost
@testable import bletool

@Suite("The table of a live scan")
struct ScanTableTests {
    private static func discovery(
        _ number: UInt64, name: String, rssi: Int8, isConnectable: Bool = true, at seconds: Double = 0,
        services: [UInt8] = []
    ) -> Discovery {
        let text = Array(name.utf8)
        return Discovery(
            scan: OperationID(rawValue: 1), client: .local,
            address: DeviceAddress(value: 0xC0DE_0000_0000 | number, kind: .random), rssi: rssi,
            isConnectable: isConnectable, isScannable: false,
            advertisement: [UInt8(text.count + 1), 9] + text + services, scanResponse: [], txPower: nil,
            isExtended: false, time: Instant(microseconds: Int64(seconds * 1_000_000)))
    }

    private static let canvas = Canvas(columns: 100, rows: 12, isColoured: false, isUnicode: true)
    private static let figures = ScanTable.Figures(now: 5, rate: 3)

    private func table(_ discoveries: [Discovery]) -> ScanTable {
        var table = ScanTable()
        for discovery in discoveries {
            table.add(discovery, at: Double(discovery.time.microseconds) / 1_000_000) {
                DiscoveryOutput($0, scanFor: [])
            }
        }
        return table
    }

    private var three: ScanTable {
        table([
            Self.discovery(1, name: "Beta", rssi: -90, services: [3, 3, 0x0D, 0x18]),
            Self.discovery(2, name: "alpha", rssi: -40),
            Self.discovery(3, name: "", rssi: -60, isConnectable: false, at: 1),
        ])
    }

    private func names(_ table: ScanTable) -> [UInt64] { table.visibleRows.map { $0.address.value & 0xFF } }

    @Test("keys sort by what they name, and the same key again reverses the order")
    func order() {
        var table = three
        #expect(names(table) == [2, 3, 1])
        for (key, order) in [
            ("n", [2, 1, 3]), ("n", [3, 1, 2]), ("a", [1, 2, 3]), ("s", [3, 1, 2]), ("r", [2, 3, 1]),
        ] {
            let goesOn1 = table.press(.character(Character(key)), page: 5)
            #expect(goesOn1)
            #expect(names(table) == order.map(UInt64.init), "\(key)")
        }
        let goesOn2 = table.press(.character("R"), page: 5)
        #expect(goesOn2)
        #expect(names(table) == [1, 3, 2])
        for key in [Key.character("q"), .control("c")] {
            let goesOn = table.press(key, page: 5)
            #expect(!goesOn)
        }
    }

    @Test("a filter is typed letter by letter, finds names, addresses and services, and is cleared with Esc")
    func filter() {
        var table = three
        for key in "/HEART" { _ = table.press(.character(key), page: 5) }
        #expect(names(table) == [1])
        #expect(table.screen(Self.canvas, Self.figures)[0].contains("1 of 3 devices"))
        _ = table.press(.enter, page: 5)
        #expect(!table.isTypingFilter)
        _ = table.press(.escape, page: 5)
        #expect(names(table).count == 3)
        for key in "/00:02" { _ = table.press(.character(key), page: 5) }
        #expect(names(table) == [2])
        // While it is typed, letters are no commands.
        let goesOn = table.press(.character("q"), page: 5)
        #expect(goesOn)
        _ = table.press(.backspace, page: 5)
        _ = table.press(.enter, page: 5)
        _ = table.press(.escape, page: 5)
        _ = table.press(.character("c"), page: 5)
        #expect(names(table) == [2, 1])
    }

    @Test(
        "a screen has the terminal's size at every width, with wide characters, too",
        arguments: [20, 40, 55, 70, 80, 120, 200])
    func widths(_ width: Int) {
        var table = table((0..<30).map { Self.discovery(UInt64($0), name: "名前 héé \($0)", rssi: -40 - Int8($0)) })
        var canvas = Self.canvas
        canvas.columns = width
        for keys in [[], [Key.down, .character("d")], [.character("?")], [.end]] {
            for key in keys { _ = table.press(key, page: 5) }
            let lines = table.screen(canvas, Self.figures)
            #expect(lines.count == canvas.rows)
            for line in lines {
                let plain = line.replacing(/\u{1B}\[[0-9;]*m/, with: "")
                #expect(plain.displayWidth <= max(width, 37), "\(plain)")
                #expect(!plain.contains("\u{1B}"))
            }
        }
    }

    @Test("colours are used only where they are wanted; the rest of the screen is the same")
    func colours() {
        var canvas = Self.canvas
        let plain = three.screen(canvas, Self.figures)
        canvas.isColoured = true
        let coloured = three.screen(canvas, Self.figures)
        #expect(plain != coloured)
        #expect(plain[2...].allSatisfy { !$0.contains("\u{1B}[3") })
        let escape = /\u{1B}\[[0-9;]*m/
        #expect(plain.map { $0.replacing(escape, with: "") } == coloured.map { $0.replacing(escape, with: "") })
        #expect(coloured[2].contains("\u{1B}[32m") && coloured[2].contains("alpha"))
    }

    @Test(
        "the interval is the middle of the distances, the trend that of the signal; a name from the air has no controls"
    )
    func measured() throws {
        var heard: [Discovery] = []
        for step in 0..<20 where step != 7 {
            heard.append(
                Self.discovery(1, name: "evil\u{1B}[2Jname", rssi: Int8(-80 + 2 * step), at: Double(step) / 10))
        }
        let table = table(heard)
        let row = try #require(table.visibleRows.first)
        #expect(row.reports == 19)
        #expect(abs((row.interval ?? 0) - 0.1) < 0.001)
        #expect(row.trend == 1)
        #expect(!table.screen(Self.canvas, Self.figures).joined().contains("\u{1B}[2J"))
        #expect(table.screen(Self.canvas, Self.figures)[2].contains("100 ms"))
    }

    @Test("a paused table does not change, an emptied one starts again, a crowd is limited")
    func pause() {
        var table = three
        _ = table.press(.character("p"), page: 5)
        table.add(Self.discovery(4, name: "new", rssi: -10), at: 2) { DiscoveryOutput($0, scanFor: []) }
        #expect(names(table) == [2, 3, 1])
        _ = table.press(.character("p"), page: 5)
        #expect(names(table) == [4, 2, 3, 1])
        _ = table.press(.character("x"), page: 5)
        #expect(table.visibleRows.isEmpty)
        #expect(table.screen(Self.canvas, Self.figures).contains { $0.contains("no device heard yet") })
        for number in 0..<UInt64(ScanTable.capacity + 10) {
            table.add(Self.discovery(number, name: "x", rssi: -50, at: Double(number)), at: Double(number)) {
                DiscoveryOutput($0, scanFor: [])
            }
        }
        #expect(table.rows.count == ScanTable.capacity)
    }
}
