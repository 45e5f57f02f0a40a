import BLEHost
import BLEPackets
import CJelling

/// What stands behind a `jelling_engine *`: the protocol engine, and the memory of what is lent. A class, so that it is
/// made where it stays and no call has it on its stack.
@safe final class Engine {
    var host: Host
    /// What is used where a caller leaves a number to the configuration.
    let configuration: HostConfiguration
    var client = ClientID.local

    private var framer = H4Framer()
    private var time = Instant.zero
    private var eventArena = Arena()
    private var questionArena = Arena()
    /// Outside this value, so that their addresses stay the same.
    private let event = UnsafeMutablePointer<jelling_event>.allocate(capacity: 1)
    private let question = UnsafeMutablePointer<jelling_question>.allocate(capacity: 1)

    init(configuration: HostConfiguration) {
        self.configuration = configuration
        host = Host(configuration: configuration)
        unsafe event.initialize(to: jelling_event())
        unsafe question.initialize(to: jelling_question())
    }

    deinit {
        unsafe event.deallocate()
        unsafe question.deallocate()
    }

    /// The moment of an input: time never goes back.
    func moment(_ microseconds: Int64) -> Instant {
        time = max(time, Instant(microseconds: microseconds))
        return time
    }

    func transportOpened(at now: Instant) {
        framer = H4Framer()
        host.transportOpened(at: now)
    }

    func receiveStream(_ bytes: RawSpan, at now: Instant) -> jelling_status {
        do throws(DecodingError) {
            try framer.receive(bytes) { host.receive($0, at: now) }
            return JELLING_OK
        } catch {
            return JELLING_ERROR_FRAMING
        }
    }

    func nextEvent() -> UnsafePointer<jelling_event>? {
        eventArena.reset()
        guard let next = host.nextEvent() else { return nil }
        unsafe event.pointee = jelling_event()
        unsafe event.pointee.size = UInt32(MemoryLayout<jelling_event>.size)
        unsafe fill(&event.pointee, with: next, &eventArena)
        return unsafe UnsafePointer(event)
    }

    func nextQuestion() -> UnsafePointer<jelling_question>? {
        questionArena.reset()
        guard Features.pairing, let next = host.nextCryptoRequest() else { return nil }
        unsafe question.pointee = jelling_question()
        unsafe question.pointee.size = UInt32(MemoryLayout<jelling_question>.size)
        unsafe fill(&question.pointee, with: next, &questionArena)
        return unsafe UnsafePointer(question)
    }
}
