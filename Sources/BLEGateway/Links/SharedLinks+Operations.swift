import BLEHost
import BLEPackets

extension SharedLinks {
    mutating func perform(
        _ operation: LinkOperation, _ address: UInt64, _ tag: UInt64, _ requester: LinkRequester, _ now: Instant
    ) {
        let link = links.first { $0.address == address && $0.requester == requester }
        func failure() -> LinkFailure? {
            guard let link, case .connected = link.phase else { return .notConnected }
            if case .write(_, let value, _) = operation, value.count > limits.valueOctets {
                return .att(ATTError.invalidAttributeValueLength.rawValue)
            }
            return jobs.values.count { $0.token == link.token } >= limits.operations ? .tooManyOperations : nil
        }
        guard let link, failure() == nil else {
            let failure = failure() ?? .notConnected
            return actions.append(.report(.ended(tag: tag, address: address, .failure(failure)), to: requester))
        }
        let time = operation == .discoverServices ? limits.discoveryTime : limits.operationTime
        let job = add(address, tag, requester, link.token, now.advanced(by: time))
        actions.append(.perform(job, operation, on: link.token))
    }

    mutating func forgetBond(_ address: UInt64, _ tag: UInt64, _ requester: LinkRequester, _ now: Instant) {
        let link = links.first { $0.address == address }
        guard link == nil || link?.requester == requester,
            jobs.values.count(where: { $0.requester == requester && $0.token == nil }) < limits.operations
        else {
            let failure: LinkFailure = link == nil ? .tooManyOperations : .inUse
            return actions.append(.report(.ended(tag: tag, address: address, .failure(failure)), to: requester))
        }
        let job = add(address, tag, requester, nil, now.advanced(by: limits.operationTime))
        actions.append(.forgetBond(job, address))
    }

    private mutating func add(
        _ address: UInt64, _ tag: UInt64, _ requester: LinkRequester, _ token: LinkToken?, _ deadline: Instant
    ) -> LinkJob {
        let job = LinkJob(number: nextNumber())
        jobs[job] = Job(requester: requester, tag: tag, address: address, token: token, deadline: deadline)
        return job
    }

    /// An operation has ended. One that was ended here before, by its time or with its link, is not known any more.
    public mutating func finished(_ job: LinkJob, _ result: Result<LinkAnswer, LinkFailure>) {
        end(job, result)
        endPostponed()
    }

    mutating func end(_ job: LinkJob, _ result: Result<LinkAnswer, LinkFailure>) {
        guard let content = jobs.removeValue(forKey: job) else { return }
        actions.append(
            .report(.ended(tag: content.tag, address: content.address, result), to: content.requester))
    }

    /// The operations of a link that has ended.
    mutating func endJobs(of token: LinkToken, with failure: LinkFailure) {
        for job in jobs.filter({ $0.value.token == token }).map(\.key).sorted(by: { $0.number < $1.number }) {
            end(job, .failure(failure))
            actions.append(.cancel(job))
        }
    }

    /// The requester is gone: nobody gets the answer.
    mutating func forget(_ job: LinkJob) {
        guard jobs.removeValue(forKey: job) != nil else { return }
        actions.append(.cancel(job))
    }
}
