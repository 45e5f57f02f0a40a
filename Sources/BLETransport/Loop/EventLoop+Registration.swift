import BLELinux
import Glibc

extension EventLoop {
    /// What a handler waits for.
    public struct Interest: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Data to read, or the end of the stream.
        public static let readable = Interest(rawValue: 1)
        /// Room to write.
        public static let writable = Interest(rawValue: 2)
        /// An exceptional condition, such as a pressure that the kernel reports.
        public static let urgent = Interest(rawValue: 4)

        var events: UInt32 {
            (contains(.readable) ? EpollReadiness.readable : 0) | (contains(.writable) ? EpollReadiness.writable : 0)
                | (contains(.urgent) ? EpollReadiness.urgent : 0)
        }
    }

    /// What a descriptor is ready for.
    public struct Readiness: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Reading does not block.
        public static let readable = Readiness(rawValue: 1)
        /// Writing does not block.
        public static let writable = Readiness(rawValue: 2)
        /// An error or a hang-up is pending; always reported. Reading shows which.
        public static let failed = Readiness(rawValue: 4)
        /// An exceptional condition has occurred.
        public static let urgent = Readiness(rawValue: 8)

        init(events: UInt32) {
            var readiness: Readiness = []
            if events & EpollReadiness.readable != 0 { readiness.insert(.readable) }
            if events & EpollReadiness.writable != 0 { readiness.insert(.writable) }
            if events & EpollReadiness.failed != 0 { readiness.insert(.failed) }
            if events & EpollReadiness.urgent != 0 { readiness.insert(.urgent) }
            self = readiness
        }
    }

    /// A descriptor that the loop watches. Used on the loop's thread only.
    public final class Registration {
        private let loop: EventLoop
        private let descriptor: Int32
        private var isActive = true
        private var isPaused = false
        fileprivate(set) var interest: Interest
        let token: UInt64
        private(set) var handler: (Readiness) -> Void

        init(
            loop: EventLoop, descriptor: Int32, interest: Interest, token: UInt64,
            handler: @escaping (Readiness) -> Void
        ) {
            self.loop = loop
            self.descriptor = descriptor
            self.interest = interest
            self.token = token
            self.handler = handler
        }

        /// Changes what the handler waits for.
        public func setInterest(_ interest: Interest) {
            loop.checkOnLoop()
            guard isActive, interest != self.interest else { return }
            self.interest = interest
            if isPaused {
                isPaused = false
                _ = clinux_epoll_add(loop.epoll, descriptor, interest.events, token)
            } else {
                _ = clinux_epoll_change(loop.epoll, descriptor, interest.events, token)
            }
        }

        /// Waits for nothing, not even for failures, which are reported otherwise whatever the interest is; until
        /// `setInterest(_:)` with something.
        func pause() {
            loop.checkOnLoop()
            guard isActive, !isPaused else { return }
            isPaused = true
            interest = []
            _ = clinux_epoll_remove(loop.epoll, descriptor)
        }

        /// Ends the watch and releases the handler, which is not called again. Call it before you close the descriptor.
        public func cancel() {
            loop.checkOnLoop()
            guard isActive else { return }
            isActive = false
            handler = { _ in }
            _ = clinux_epoll_remove(loop.epoll, descriptor)
            loop.confined.registrations[Int(UInt32(truncatingIfNeeded: token))] = nil
        }
    }

    /// Watches a descriptor; `handler` runs on the loop while the descriptor is ready (level-triggered).
    /// - Precondition: called on the loop's thread, or before `start()`.
    /// - Throws: `TransportError.system` when the kernel cannot watch this descriptor.
    public func register(
        _ descriptor: Int32, for interest: Interest, handler: @escaping (Readiness) -> Void
    ) throws(TransportError) -> Registration {
        checkOnLoop()
        let index: Int
        if let free = confined.registrations.firstIndex(where: { $0 == nil }) {
            index = free
        } else {
            index = confined.registrations.count
            confined.registrations.append(nil)
        }
        // 31 bits, so that no token equals those of the timer and the wake-up.
        confined.lastGeneration = (confined.lastGeneration &+ 1) & 0x7FFF_FFFF
        let token = UInt64(confined.lastGeneration) << 32 | UInt64(index)
        guard clinux_epoll_add(epoll, descriptor, interest.events, token) == 0 else {
            throw .system(call: "epoll_ctl", code: errno)
        }
        let registration = Registration(
            loop: self, descriptor: descriptor, interest: interest, token: token, handler: handler)
        confined.registrations[index] = registration
        return registration
    }
}
