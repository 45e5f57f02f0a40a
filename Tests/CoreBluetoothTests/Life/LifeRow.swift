import Testing

/// What happens to an app, and which calls it sees for it.
struct LifeRow: CustomTestStringConvertible, Sendable {
    /// What the app has and waits for at the beginning.
    enum Start: Sendable {
        /// Connected to a sensor, subscribed to what it measures.
        case subscribed
        /// The same; the system connects again by itself.
        case subscribedForGood
        /// Connected to it, and subscribed to nothing.
        case explored
        /// It waits for a connection to the sensor, which is out of range.
        case waiting
        /// It scans for a sensor that is out of range.
        case scanning
        /// It has published a service and advertises it.
        case serving
    }

    enum Act: Sendable {
        /// The process of the app ends at once.
        case kill
        /// A new process of the app.
        case launch
        /// The system restarts under the app: `bled`, or the controller of the app's own engine.
        case restart
        /// The user turns Bluetooth off or on.
        case off, on
        /// The app goes to the background and is suspended; comes to the foreground.
        case suspend, resume
        /// The sensor leaves; comes back, and whatever waits for it has it.
        case away, back
        /// The sensor measures something.
        case beat(UInt8)
        /// The sensor has other services from now on.
        case otherServices
        /// The app connects to the sensor; turns notifications on and off and reads, without waiting between.
        case connect, changeAndRead
        /// The app reads a value: requests wait until the system has confirmed and subscribed what was restored.
        case read
        /// The app publishes its service and advertises it, as at the beginning.
        case serve
    }

    struct Step: Sendable {
        let act: Act
        /// Exactly these calls follow, in this order.
        let ownCalls: [String]
        let daemonCalls: [String]

        /// The same calls whoever has the engine.
        static func then(_ act: Act, _ calls: String...) -> Step { Step(act: act, ownCalls: calls, daemonCalls: calls) }

        /// While the app does not run, `bled` goes on; an engine of its own ends with it.
        static func then(_ act: Act, own: [String], bled: [String]) -> Step {
            Step(act: act, ownCalls: own, daemonCalls: bled)
        }
    }

    let name: String
    let start: Start
    /// Whether the app has background modes and its manager a restore identifier.
    let isPreserved: Bool
    let steps: [Step]

    init(_ name: String, _ start: Start, isPreserved: Bool = true, _ steps: Step...) {
        self.name = name
        self.start = start
        self.isPreserved = isPreserved
        self.steps = steps
    }

    var testDescription: String { name }
}
