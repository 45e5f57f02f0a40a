/// The last events, numbered, so that one whose connection was lost goes on where it was. The memory is bounded.
public struct EventLog: Sendable {
    /// Distinguishes this run of the program from those before it.
    private let run: String
    private let countLimit: Int
    private let octetLimit: Int
    /// A ring: the event with number `n` is at `n % countLimit`.
    private var events: [GatewayEvent?]
    private var octets = 0
    /// The number of the oldest event that is kept.
    public private(set) var first: UInt64 = 1
    /// The number of the next event.
    public private(set) var next: UInt64 = 1

    /// - Parameter run: a text of letters and digits that no other run has.
    public init(run: String, countLimit: Int = 16_384, octetLimit: Int = 8 << 20) {
        self.run = run
        self.countLimit = countLimit
        self.octetLimit = octetLimit
        events = Array(repeating: nil, count: countLimit)
    }

    public mutating func append(_ event: GatewayEvent) {
        while next - first >= UInt64(countLimit) || next > first && octets + event.data.count > octetLimit { forget() }
        events[Int(next % UInt64(countLimit))] = event
        octets += event.data.count
        next += 1
    }

    private mutating func forget() {
        let index = Int(first % UInt64(countLimit))
        octets -= events[index]?.data.count ?? 0
        events[index] = nil
        first += 1
    }

    public subscript(number: UInt64) -> GatewayEvent? {
        guard first <= number, number < next else { return nil }
        return events[Int(number % UInt64(countLimit))]
    }

    /// The text by which a client names an event.
    public func id(_ number: UInt64) -> String { "\(run)-\(number)" }

    /// The number of the event behind the one that a client names; `nil` if that is of another run, or events behind it
    /// are no longer kept.
    public func number(behind id: String) -> UInt64? {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == run, let number = UInt64(parts[1]), number < next, number + 1 >= first
        else {
            return nil
        }
        return number + 1
    }
}
