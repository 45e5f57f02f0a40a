/// How registrations begin, whatever is registered, and how they end with their clients.
extension BlueZService {
    /// What a call of a manager is about.
    enum RegistrationCall {
        /// A place was taken for a new one, which begins now.
        case new(place: Int)
        /// One that is there is to end.
        case end(place: Int)
    }

    /// Takes a place for what a call registers, or finds what it ends; otherwise the call has been refused.
    /// - Parameter limit: how many there may be, where that depends on the adapter.
    mutating func registration<Kind: Registration>(
        _ call: BusCall, in list: WritableKeyPath<BlueZService, [Kind]>, at number: Int, limit: Int? = nil
    ) -> RegistrationCall? {
        let known = self[keyPath: list].place(call.sender, call.text(at: 0), number)
        guard call.member == Kind.method else {
            if let known { return .end(place: known) }
            refuse(call, .doesNotExist)
            return nil
        }
        guard known == nil else {
            refuse(call, .alreadyExists)
            return nil
        }
        let present = self[keyPath: list].filter { $0.number == number }
        let limits = Kind.limits
        let ofUser = present.count { clients.areOfOneUser($0.client, call.sender) }
        guard present.count < limit ?? limits.all, present.count(where: { $0.client == call.sender }) < limits.client,
            clients.isTrusted(call.sender) || ofUser < limits.user
        else {
            refuse(call, Kind.isFull)
            return nil
        }
        self[keyPath: list].append(Kind(number: number, call: call))
        beginWish(of: call.sender)
        return .new(place: self[keyPath: list].count - 1)
    }

    /// Asks a client for the objects at and below a path.
    mutating func askForObjects(_ client: String, _ path: String, _ purpose: OpenQuestion.Purpose) {
        ask(
            BusRequest(
                destination: client, path: path, interface: InterfaceName.objectManager,
                member: "GetManagedObjects", arguments: []), purpose)
    }

    /// The answer to a question is of no interest any more.
    mutating func dropQuestions(of client: String, _ purpose: OpenQuestion.Purpose) {
        for id in questions.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard let question = questions[id], question.client == client, question.purpose == purpose else { continue }
            questions[id] = nil
            emit(.dropQuestion(id))
        }
    }

    /// A registration has begun: its call is answered.
    mutating func registered<Kind: Registration>(_ place: Int, in list: WritableKeyPath<BlueZService, [Kind]>) {
        guard let call = self[keyPath: list][place].call else { return }
        self[keyPath: list][place].call = nil
        reply(to: call)
    }

    /// A registration could not begin, and has been removed: its call is refused.
    mutating func failed(_ registration: some Registration, _ error: BusError) {
        guard let call = registration.call else { return }
        endWish(of: registration.client)
        refuse(call, error)
    }

    /// Calls a method of a client's object, such as `Release`, and wants no answer.
    mutating func tell(
        _ member: String, _ arguments: [BusValue] = [], _ client: String, _ path: String, _ interface: String
    ) {
        emit(
            .tell(
                BusRequest(
                    destination: client, path: path, interface: interface, member: member, arguments: arguments)))
    }

    /// The service ends: `Release` is called on the objects of clients.
    public mutating func stop() {
        for agent in agents.all { tell("Release", [], agent.client, agent.path, InterfaceName.agent) }
        for number in adapters.keys.sorted() {
            endServing(at: number)
            endAdvertisements(at: number)
            endMonitors(at: number)
            saveRest(of: number)
        }
    }
}
