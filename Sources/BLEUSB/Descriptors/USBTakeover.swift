/// The order in which a device is taken from the kernel and given back.
///
///     configure, if it is not ──▶ take the drivers off ──▶ claim the interfaces ──▶ … ──▶ release ──▶ give the drivers back
///
/// Each step is tried by its owner, which says how it went. What has been done is undone, and nothing else: a driver
/// that was not there is not put there.
struct USBTakeover {
    /// What to do with the device.
    enum Step: Hashable {
        case setConfiguration(UInt8)
        case detachDriver(interface: UInt8)
        case claim(interface: UInt8)
        case release(interface: UInt8)
        case attachDriver(interface: UInt8)
    }

    /// How a step went.
    enum Outcome { case done, notNeeded, failed }

    private let function: BluetoothFunction
    private var remaining: ArraySlice<Step>
    private var done: [Step] = []

    /// - Parameter activeConfiguration: the value of the configuration that is set; 0: none is. Setting it again would
    ///   reset all endpoints.
    init(_ function: BluetoothFunction, activeConfiguration: UInt8) {
        self.function = function
        let interfaces = [function.interface] + (function.voiceInterface.map { [$0] } ?? [])
        var steps: [Step] = activeConfiguration == 0 ? [.setConfiguration(function.configuration)] : []
        steps += interfaces.map { .detachDriver(interface: $0) }
        steps += interfaces.map { .claim(interface: $0) }
        remaining = steps[...]
    }

    /// The next step; `nil`: the device is taken.
    var next: Step? { remaining.first }

    /// - Returns: whether the takeover goes on; otherwise undo it.
    mutating func ended(_ outcome: Outcome) -> Bool {
        guard let step = remaining.popFirst() else { return true }
        switch outcome {
        case .done: done.append(step)
        case .notNeeded: break
        case .failed:
            // Nothing is sent over the interface of voice.
            guard let voice = function.voiceInterface,
                step == .claim(interface: voice) || step == .detachDriver(interface: voice)
            else { return false }
        }
        return true
    }

    /// What gives the device back, in order: interfaces first, then drivers, the controller's own before that of voice,
    /// which it claims itself.
    var undoing: [Step] {
        let releases: [Step] = done.reversed().compactMap {
            if case .claim(let interface) = $0 { .release(interface: interface) } else { nil }
        }
        let attachments: [Step] = done.compactMap {
            if case .detachDriver(let interface) = $0 { .attachDriver(interface: interface) } else { nil }
        }
        return releases + attachments
    }
}
