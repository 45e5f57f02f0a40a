/// What a client registers with a manager of an adapter: an application, an advertisement, a root of monitors.
protocol Registration {
    /// The N of `hciN`.
    var number: Int { get }
    /// The unique name of the client.
    var client: String { get }
    /// The client's object.
    var path: String { get }
    /// The call that registers it, until it is answered.
    var call: BusCall? { get set }

    init(number: Int, call: BusCall)

    /// The method that registers one.
    static var method: String { get }
    static var limits: RegistrationLimits { get }
    /// Why there is no room for another one.
    static var isFull: BusError { get }
}

/// How many registrations of a kind an adapter may have.
struct RegistrationLimits {
    /// Of all clients together.
    var all: Int
    /// Of one client.
    var client: Int
    /// Of all clients of one user.
    var user: Int
}

extension Array where Element: Registration {
    func place(_ client: String, _ path: String, _ number: Int) -> Int? {
        firstIndex { $0.client == client && $0.path == path && $0.number == number }
    }
}
