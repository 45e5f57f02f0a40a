import BLE

// How requests and settings look when they are printed or logged. Of what is sent there are only numbers of octets.

extension ScanRequest: CustomStringConvertible {
    /// Such as `active scan for 180D Heart Rate, at least -70 dBm`.
    public var description: String {
        var words = [isActive ? "active scan" : "passive scan"]
        if !serviceUUIDs.isEmpty { words[0] += " for " + list(serviceUUIDs) }
        if let name { words.append("name \(name)") }
        if let address { words.append("only \(address)") }
        if let minimumRSSI { words.append("at least \(minimumRSSI) dBm") }
        if scansCodedPHY { words.append("also on LE Coded") }
        if !acceptList.isEmpty { words.append("accept list of \(counted(acceptList.count, "device"))") }
        if allowsDuplicates { words.append("with duplicates") }
        if isInBackground { words.append("in the background") }
        return words.joined(separator: ", ")
    }
}

extension ConnectRequest: CustomStringConvertible {
    /// Such as `connection to C0:11:22:33:44:55/random`.
    public var description: String {
        "connection to \(peer)" + (parameters.map { ", \($0)" } ?? "") + (pace == nil ? "" : ", at its own pace")
            + (parameterPolicy.map { ", other parameters: \($0)" } ?? "")
    }
}

extension ParameterPolicy: CustomStringConvertible {
    /// Such as `interval 15.0 ms to 30.0 ms, latency to 4`.
    public var description: String {
        switch self {
        case .accept: "accept"
        case .reject: "reject"
        case .within(let intervals, let latency, let timeouts):
            "interval \(intervals.lowerBound) to \(intervals.upperBound), latency to \(latency)"
                + (timeouts.map { ", timeout \($0.lowerBound) to \($0.upperBound)" } ?? "")
        }
    }
}

extension ConnectionParameterRequest: CustomStringConvertible {
    /// Such as `interval 15.0 ms to 30.0 ms, latency 0, timeout 2000.0 ms`.
    public var description: String {
        let (low, high) = (interval.lowerBound, interval.upperBound)
        return "interval \(low == high ? "\(low)" : "\(low) to \(high)"), latency \(peripheralLatency), timeout "
            + "\(supervisionTimeout)"
    }
}

extension LinkPace: CustomStringConvertible {
    public var description: String { "busy: \(busy); idle: \(idle)" }
}

extension AdvertiseRequest: CustomStringConvertible {
    /// Such as `connectable advertising as ‘Lamp’ of 180F Battery Service`.
    public var description: String {
        let kind = isConnectable ? "connectable advertising" : "advertising"
        let target = target.map { " to \($0)" } ?? ""
        switch content {
        case .packed(let name, let services):
            return kind + target + (name.map { " as ‘\($0)’" } ?? "")
                + (services.isEmpty ? "" : " of " + list(services)) + (isInBackground ? ", in the background" : "")
        case .raw(let advertisement, let response):
            return kind + target + " of \(counted(advertisement.count, "octet"))"
                + (response.isEmpty ? "" : ", scan response of \(counted(response.count, "octet"))")
        }
    }
}

extension AdvertisingTarget: CustomStringConvertible {
    /// Such as `C0:11:22:33:44:55/random, high duty cycle`.
    public var description: String {
        switch form {
        case .highDutyCycle: "\(peer), high duty cycle"
        case .lowDutyCycle: "\(peer)"
        case .extended: "\(peer), extended"
        }
    }
}

extension AdvertisingSetRequest: CustomStringConvertible {
    /// Such as `advertising set, connectable, interval 100.0 ms on LE 1M, 12 octets`.
    public var description: String {
        var words = ["advertising set"]
        if usesLegacyPDUs { words.append("legacy") }
        if isConnectable { words.append("connectable") }
        if isScannable { words.append("scannable") }
        if isAnonymous { words.append("anonymous") }
        words.append(
            "interval \(interval.milliseconds) ms on \(primaryPHY)"
                + (primaryPHY == secondaryPHY ? "" : " and \(secondaryPHY)"))
        words.append(counted(data.count + scanResponse.count, "octet"))
        if let train { words.append("\(train)") }
        return words.joined(separator: ", ")
    }
}

extension AttributePermissions: CustomStringConvertible {
    /// Such as `readable, encrypted to write`.
    public var description: String {
        let names: [(AttributePermissions, String)] = [
            (.readable, "readable"), (.writeable, "writeable"), (.commandWriteable, "writeable without response"),
            (.signedWriteable, "writeable with a signature"), (.readEncryption, "encrypted to read"),
            (.writeEncryption, "encrypted to write"), (.readAuthentication, "authenticated to read"),
            (.writeAuthentication, "authenticated to write"), (.readAuthorization, "authorized to read"),
            (.writeAuthorization, "authorized to write"),
        ]
        let held = names.filter { contains($0.0) }.map(\.1)
        return held.isEmpty ? "no access" : held.joined(separator: ", ")
    }
}

extension SubscriptionModes: CustomStringConvertible {
    public var description: String {
        switch (contains(.notifications), contains(.indications)) {
        case (true, true): "notifications, indications"
        case (true, false): "notifications"
        case (false, true): "indications"
        case (false, false): "no subscription"
        }
    }
}

extension ChannelSettings: CustomStringConvertible {
    /// Such as `messages of 2048 octets in frames of 247, 16 credits`.
    public var description: String {
        "messages of \(maximumTransmissionUnit) octets in frames of \(maximumPayloadSize), \(counted(Int(credits), "credit"))"
    }
}

extension ChannelSecurity: CustomStringConvertible {
    /// Such as `authenticated, key of at least 16 octets`.
    public var description: String {
        (requiresAuthentication ? "authenticated" : "encrypted") + ", key of at least \(minimumKeySize) octets"
    }
}

extension PairingQuestion: CustomStringConvertible {
    public var description: String { PairingEvent.question(self).description }
}

extension AdapterActivity: CustomStringConvertible {
    /// Such as `connect failed after 0.5 seconds: …`.
    public var description: String {
        switch self {
        case .event(let event): "\(event)"
        case .ended(let operation, let span, let error):
            "\(operation.rawValue) \(error == nil ? "ended" : "failed") after \(span)" + (error.map { ": \($0)" } ?? "")
        case .closed(let error): "closed: \(error)"
        }
    }
}

extension GATTPublishError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .uuidNotAllowed(let uuid): "\(uuid) is a service of the stack or of the system"
        case .propertyNotAllowed(let uuid): "\(uuid) may not declare extended properties"
        case .descriptorNotAllowed(let uuid): "the server keeps the descriptor \(uuid) itself"
        case .cachedValueNotReadOnly(let uuid): "\(uuid) has a value that never changes, so it may only be read"
        case .valueTooLong(let uuid): "the value of \(uuid) is longer than 512 octets"
        case .includedServiceUnknown(let handle): "the included service at \(handle) is not published"
        case .outOfHandles: "no attribute handles are left"
        case .unknownService(let handle): "there is no service at \(handle) that can be removed"
        case .isIncluded(let handle, let other): "the service at \(other) includes the one at \(handle)"
        case .handlesOutOfOrder(let handle): "the handle \(handle) is zero or not in ascending order"
        }
    }
}

extension KernelAdapter: CustomStringConvertible {
    /// Such as `hci0, C0:11:22:33:44:55/public, usb, up`.
    public var description: String { "\(name), \(address), \(bus), \(isUp ? "up" : "down")" }
}

private func list(_ uuids: [BluetoothUUID]) -> String { uuids.map { "\($0)" }.joined(separator: ", ") }
