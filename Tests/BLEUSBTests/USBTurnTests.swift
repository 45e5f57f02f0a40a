import Testing

@testable import BLEUSB

@Suite("The order of what arrives in one turn")
struct USBTurnTests {
    @Test("events come before the data that overtook them (A49)")
    func eventsFirst() {
        var turn = USBTurn()
        turn.add(data: [2, 1])
        turn.add(event: [4, 0x3E, 1])
        turn.add(data: [2, 2])
        turn.add(event: [4, 0x08, 2])
        #expect(turn.take() == [[4, 0x3E, 1], [4, 0x08, 2], [2, 1], [2, 2]])
        #expect(turn.isEmpty && turn.take().isEmpty)
    }

    @Test("the end of a link, and what follows it, waits for the data that came before it")
    func disconnection() {
        var turn = USBTurn()
        turn.add(event: [4, 0x13])
        turn.add(event: [4, 0x05, 1])
        turn.add(event: [4, 0x3E, 2])
        turn.add(data: [2, 1])
        #expect(turn.take() == [[4, 0x13], [2, 1], [4, 0x05, 1], [4, 0x3E, 2]])
    }

    @Test("without data the events keep their order")
    func onlyEvents() {
        var turn = USBTurn()
        for number: UInt8 in 0..<5 { turn.add(event: [4, number == 2 ? 5 : 0x3E, number]) }
        #expect(turn.take().map { $0[2] } == [0, 1, 2, 3, 4])
    }
}
