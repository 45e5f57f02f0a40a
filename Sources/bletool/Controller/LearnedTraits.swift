import BLE
import Synchronization

/// What is known about a controller from experience: kept from earlier, and learned while it is used.
final class LearnedTraits: Sendable {
    private let content = Mutex<ControllerExperience?>(nil)

    /// `nil` where nothing can be known, as of a daemon's controller.
    var experience: ControllerExperience? { content.withLock { $0 } }

    /// Reads what a configuration has, and follows what its engine learns.
    /// - Parameter carriesOn: whether it is for the same controller as before, whose engine then begins with all that was
    ///   learned.
    func follow(_ configuration: inout AdapterConfiguration, carriesOn: Bool = false) {
        let known = content.withLock { content in
            if !carriesOn || content?.isEmpty ?? true { content = configuration.experience }
            return content
        }
        if let known { configuration.experience = known }
        let keep = configuration.onExperience
        configuration.onExperience = { [self] experience in
            content.withLock { $0 = experience }
            keep?(experience)
        }
    }
}
