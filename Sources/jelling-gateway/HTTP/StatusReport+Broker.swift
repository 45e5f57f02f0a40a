import BLEJSON

/// What the broker does not allow, refuses and retains.
extension StatusReport {
    func broker(_ delivery: Delivery) -> JSONValue {
        var broker: JSONValue = ["connected": .boolean(delivery.isConnected)]
        if let problem = delivery.brokerProblem { broker = broker.adding("problem", .string(problem)) }
        let notices = delivery.limitNotices
        if !notices.isEmpty { broker = broker.adding("limits", .array(notices.map { .string($0) })) }
        if let refusal = delivery.refusal { broker = broker.adding("refuses", .string(refusal)) }
        return broker
    }

    func addRefusals(_ delivery: Delivery, to text: inout MetricsText) {
        text.add(
            "mqtt_postponed_total", "counter", "Refusals for the moment: the message was kept.",
            delivery.counters.postponed)
        text.add(
            "mqtt_refused_topics", "gauge", "Topics whose messages wait because the broker refused one.",
            Double(delivery.refusedTopics))
        let retained = core.retainedCounts
        text.add("retained_topics", "gauge", "Topics for which the broker retains something.", Double(retained.all))
        text.add(
            "retained_withdrawn_topics", "gauge", "Topics whose message the broker still has to remove.",
            Double(retained.withdrawn))
        text.add(
            "retained_removals_total", "counter", "Messages that removed what was retained.", core.counters.withdrawals)
    }
}
