import Testing

@testable import BLEUSB

@Suite("Taking a USB device and giving it back")
struct USBTakeoverTests {
    typealias Step = USBTakeover.Step

    static func function(_ octets: [UInt8] = SampleDescriptors.dongle) throws -> BluetoothFunction {
        try #require(try SampleDescriptors.function(octets))
    }

    /// The steps until the end or the first that stops it, with outcomes for those that are not simply done.
    static func run(
        _ takeover: inout USBTakeover, _ outcomes: [Step: USBTakeover.Outcome] = [:]
    ) -> (steps: [Step], isTaken: Bool) {
        var steps: [Step] = []
        while let step = takeover.next {
            steps.append(step)
            if !takeover.ended(outcomes[step] ?? .done) { return (steps, false) }
        }
        return (steps, true)
    }

    @Test("drivers go first, then both interfaces are claimed; what was done is undone")
    func usual() throws {
        var takeover = USBTakeover(try Self.function(), activeConfiguration: 1)
        let run = Self.run(&takeover)
        #expect(run.isTaken)
        #expect(
            run.steps == [
                .detachDriver(interface: 0), .detachDriver(interface: 1), .claim(interface: 0), .claim(interface: 1),
            ])
        #expect(
            takeover.undoing == [
                .release(interface: 1), .release(interface: 0), .attachDriver(interface: 0),
                .attachDriver(interface: 1),
            ])
    }

    @Test("a driver that was not there is not put there")
    func noDriver() throws {
        var takeover = USBTakeover(try Self.function(), activeConfiguration: 1)
        let run = Self.run(
            &takeover, [.detachDriver(interface: 0): .notNeeded, .detachDriver(interface: 1): .notNeeded])
        #expect(run.isTaken)
        #expect(takeover.undoing == [.release(interface: 1), .release(interface: 0)])
    }

    @Test("the configuration is set only if none is: that would reset all endpoints")
    func configuration() throws {
        var takeover = USBTakeover(try Self.function(), activeConfiguration: 0)
        #expect(Self.run(&takeover).steps.first == .setConfiguration(1))
    }

    @Test("an interface that another program has: the driver gets back what was taken from it")
    func busy() throws {
        var takeover = USBTakeover(try Self.function(), activeConfiguration: 1)
        #expect(!Self.run(&takeover, [.claim(interface: 0): .failed]).isTaken)
        #expect(takeover.undoing == [.attachDriver(interface: 0), .attachDriver(interface: 1)])
    }

    @Test("without the interface of voice the controller works")
    func noVoice() throws {
        var takeover = USBTakeover(try Self.function(), activeConfiguration: 1)
        #expect(Self.run(&takeover, [.detachDriver(interface: 1): .failed, .claim(interface: 1): .failed]).isTaken)
        #expect(takeover.undoing == [.release(interface: 0), .attachDriver(interface: 0)])
    }
}
