import BLE

// How scans, attributes and the events of a server look when they are printed or logged.

extension Scan: CustomStringConvertible {
    public var description: String { "a scan" + (droppedCount == 0 ? "" : ", \(droppedCount) discoveries dropped") }
}

extension Notifications: CustomStringConvertible {
    public var description: String { "a subscription" + (droppedCount == 0 ? "" : ", \(droppedCount) values dropped") }
}

extension IncludedService: CustomStringConvertible {
    public var description: String { "included \(service)" }
}

extension ServiceContents.CharacteristicContents: CustomStringConvertible {
    public var description: String {
        ([characteristic.description] + descriptors.map { "  \($0)" }).joined(separator: "\n")
    }
}

extension ServiceContents: CustomStringConvertible {
    /// A tree, one line for each attribute.
    public var description: String {
        let inside = includedServices.map(\.description) + characteristics.map(\.description)
        let lines = inside.flatMap { $0.split(separator: "\n") }.map { "  \($0)" }
        return ([service.description] + lines).joined(separator: "\n")
    }
}

extension GATTPublishedCharacteristic: CustomStringConvertible {
    /// Such as `characteristic 2A37, value at 0x0012`.
    public var description: String { "characteristic \(uuid), value at \(handle(valueHandle))" }
}

extension GATTPublishedService: CustomStringConvertible {
    public var description: String {
        ([(isPrimary ? "service " : "secondary service ") + "\(uuid)"] + characteristics.map { "  \($0)" })
            .joined(separator: "\n")
    }
}

extension GATTReadRequest: CustomStringConvertible {
    /// Such as `link 3 reads 0x0012`.
    public var description: String {
        "\(link) reads \(BLEPresentation.handle(handle))" + (offset == 0 ? "" : " from offset \(offset)")
    }
}

extension GATTWriteRequest: CustomStringConvertible {
    /// Such as `link 3 writes 2 octets to 0x0012`.
    public var description: String {
        "\(link) writes "
            + writes.map { "\($0.value.count) octets to \(handle($0.handle))" }.joined(separator: ", ")
            + (needsAnswer ? "" : ", without a response")
    }
}

extension GATTSubscription: CustomStringConvertible {
    /// Such as `link 3 and 0x0012`.
    public var description: String { "\(link) and \(BLEPresentation.handle(handle))" }
}

extension GATTServerEvent: CustomStringConvertible {
    public var description: String {
        switch self {
        case .read(let request): request.description
        case .write(let request): request.description
        case .subscribed(let subscription): "subscribed: \(subscription)"
        case .unsubscribed(let subscription): "unsubscribed: \(subscription)"
        case .readyToUpdate: "there is room for updates again"
        case .stored(let link, let write): "\(link) stored \(write.value.count) octets in \(handle(write.handle))"
        case .confirmed(let link, let value): "\(link) confirmed \(handle(value))"
        case .fellBehind(let link): "\(link) is too slow; updates were dropped"
        case .requestExpired(_, let link): "\(link) waited too long for an answer"
        }
    }
}

extension AdvertisingRoom: CustomStringConvertible {
    public var description: String {
        var parts = hiddenServices.map { "\($0)" }
        if hidesName { parts.append("the name") }
        guard !parts.isEmpty else { return "everything that is advertised has room" }
        return "no room beside what others advertise for " + parts.joined(separator: ", ")
    }
}

extension ServerEvent: CustomStringConvertible {
    public var description: String {
        switch self {
        case .advertisingStarted: "advertising has started"
        case .advertisingStopped: "advertising has stopped"
        case .advertisingRoom(let room): "\(room)"
        case .connected(let link): "connected: \(link)"
        case .mtuChanged(let link, let mtu): "\(link): MTU \(mtu)"
        case .disconnected(let link, let reason): "\(link) ended: \(reason)"
        case .gatt(let event): event.description
        case .pairing(let link, let event): "\(link): \(event)"
        case .securityChanged(let link, let security): "\(link): \(security)"
        case .bondNotKept(let error): "a bond could not be saved: \(error)"
        }
    }
}

/// `0x` and four digits.
private func handle(_ handle: AttributeHandle) -> String { hexadecimal(handle.rawValue, digits: 4) }
