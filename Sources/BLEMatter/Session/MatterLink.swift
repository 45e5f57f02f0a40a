import BLEHost
import BLEPackets

/// A link of a session, and the commands for it: one after the other.
///
///     connecting ──▶ connected ──disconnect──▶ ending
struct MatterLink {
    enum Phase: Equatable {
        /// With the number of the command that is answered then.
        case connecting(Int)
        case connected(attMTU: Int)
        /// `nil`: the server has been told.
        case ending(Int?)
    }

    /// What is done for the first command.
    enum Step: Equatable {
        case discovering
        case reading
        case writing
        /// Values of this characteristic are to be received.
        case receiving(Subscription)
        case configuring(Subscription)
        case unsubscribing(AttributeHandle)
    }

    struct Command: Equatable {
        /// `nil`: it has no answer.
        let id: Int?
        let content: MatterCommand.LinkCommand
    }

    struct Subscription: Equatable {
        /// The handle of the value.
        let value: AttributeHandle
        /// The handle of its Client Characteristic Configuration.
        let configuration: AttributeHandle
        let mode: SubscriptionMode
        let uuid: BluetoothUUID
    }

    let handle: UInt16
    let peer: DeviceAddress
    var phase: Phase
    /// What was discovered.
    var services: [ServiceContents]?
    /// The first is carried out.
    var commands: [Command] = []
    /// What is done for the first, and the tag of its operation.
    var step: (content: Step, tag: UInt64)?
    /// Where frames of octets go: what was written last.
    var target: AttributeHandle?
    var subscriptions: [Subscription] = []
    /// The one whose values are frames of octets: the last one.
    var latest: AttributeHandle?

    init(handle: UInt16, peer: DeviceAddress, command id: Int) {
        self.handle = handle
        self.peer = peer
        phase = .connecting(id)
    }

    var isConnected: Bool { if case .connected = phase { true } else { false } }

    func characteristic(_ uuid: BluetoothUUID) throws(MatterFailure) -> ServiceContents.CharacteristicContents {
        for service in services ?? [] {
            if let found = service.characteristics.first(where: { $0.characteristic.uuid == uuid }) { return found }
        }
        throw MatterFailure(.characteristicNotFound, "the device has no characteristic \(uuid.matterText)")
    }

    func subscription(to uuid: BluetoothUUID) throws(MatterFailure) -> Subscription {
        let found = try characteristic(uuid)
        guard let mode = found.characteristic.properties.subscriptionMode else {
            throw MatterFailure(.notifyNotSupported, "\(uuid.matterText) has neither notifications nor indications")
        }
        guard let descriptor = found.descriptors.first(where: { $0.uuid == .clientCharacteristicConfiguration }) else {
            throw MatterFailure(.subscribeFailed, "\(uuid.matterText) has no Client Characteristic Configuration")
        }
        return Subscription(
            value: found.characteristic.valueHandle, configuration: descriptor.handle, mode: mode, uuid: uuid)
    }
}
