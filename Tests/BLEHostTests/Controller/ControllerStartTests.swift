import BLEPackets
import Testing

@testable import BLEHost

@Suite("Controller session, alone")
struct ControllerStartTests {
    private let now = Instant(microseconds: 1_000_000)

    /// Answers each startup command with success and nothing else, as far as that is enough.
    private func start(
        _ session: inout ControllerSession, into commands: inout CommandQueue, isAddressBeingMade: Bool = false
    ) -> [StartupStep] {
        var steps: [StartupStep] = []
        var knowledge = ControllerKnowledge()
        var outbox = Outbox()
        for _ in 0..<50 {
            switch session.proceed(
                isAddressBeingMade: isAddressBeingMade, knowledge: &knowledge, at: now, into: &commands)
            {
            case .ready: return steps
            case .addressChosen: steps.append(.chooseAddress)
            case .waiting:
                commands.flush(into: &outbox, at: now)
                guard let command = commands.inFlight, case .startup(let step) = command.purpose else { return steps }
                steps.append(step)
                _ = commands.answered(command.opcode, credits: 1)
                if step == .readAddress {
                    let answer: [UInt8] = [0, 1, 2, 3, 4, 5, 6]
                    _ = try? session.answered(step, answer.span.bytes)
                }
            }
        }
        return steps
    }

    @Test("the steps come in their order, and the address is chosen once the available ones are known")
    func order() throws {
        var session = ControllerSession(configuration: SharedConfiguration(HostConfiguration()))
        var commands = CommandQueue()
        session.start()
        let steps = start(&session, into: &commands)
        #expect(steps.first == .reset)
        #expect(session.phase == .ready)
        let chosen = try #require(steps.firstIndex(of: .chooseAddress))
        let read = try #require(steps.firstIndex(of: .readAddress))
        let mask = try #require(steps.firstIndex(of: .setEventMask))
        #expect(read < chosen && chosen < mask)
        #expect(session.information.ownAddress == DeviceAddress(value: 0x0605_0403_0201, kind: .public))
    }

    @Test("a random address is not set before it is made")
    func addressInTheMaking() {
        let random = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
        let configuration = HostConfiguration(ownAddress: .random(random))
        var session = ControllerSession(configuration: SharedConfiguration(configuration))
        var commands = CommandQueue()
        session.start()
        #expect(!start(&session, into: &commands, isAddressBeingMade: true).contains(.setRandomAddress))
        #expect(session.isStarting)
        #expect(start(&session, into: &commands) == [.setRandomAddress])
        #expect(session.phase == .ready)
    }

    @Test("a shared controller is asked, never changed")
    func shared() {
        var session = ControllerSession(configuration: SharedConfiguration(HostConfiguration(ownership: .shared)))
        var commands = CommandQueue()
        session.start()
        #expect(!start(&session, into: &commands).contains { $0.changesController })
    }

    @Test("a refused required step asks for recovery; an optional one does not")
    func refusals() throws {
        var session = ControllerSession(configuration: SharedConfiguration(HostConfiguration()))
        session.start()
        let refusal: [UInt8] = [HCIStatus.unspecifiedError.rawValue]
        #expect(try session.answered(.readLEFeatures, refusal.span.bytes) == .recover)
        #expect(try session.answered(.readSupportedStates, refusal.span.bytes) == .goOn)
        // Masks with fewer events are tried, and in the end the one after a reset stays.
        #expect(try session.answered(.setLEEventMask, refusal.span.bytes) == .goOn)
        #expect(try session.answered(.setLEEventMask, refusal.span.bytes) == .learn(.knowsOldEventMaskOnly))
        #expect(try session.answered(.setLEEventMask, refusal.span.bytes) == .goOn)
        let unknown: [UInt8] = [HCIStatus.unknownCommand.rawValue]
        #expect(try session.answered(.readLEFeatures, unknown.span.bytes) == .giveUp(.noLowEnergy))
    }

    @Test("a controller that is not in use does not fall")
    func fall() {
        var session = ControllerSession(configuration: SharedConfiguration(HostConfiguration()))
        let fault = ControllerFault.hardwareError(1)
        #expect(session.fall(from: fault, lastReport: now, at: now) == nil)
        session.start()
        #expect(session.fall(from: fault, lastReport: now, at: now) == .reset)
        session.phase = .failed(.controllerUnresponsive)
        #expect(session.fall(from: fault, lastReport: now, at: now) == nil)
    }
}
